// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

// Fuzzes the language of trace rules: no crash, every error with its place, and what was read
// prints and reads back as the same.

#include <cstdint>
#include <string>

#include "lib/base/fuzz_require.h"
#include "lib/lang/event/document.h"
#include "lib/lang/trace/trace_language.h"

using trumpet::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const bool is_json = size > 0 && data[0] == '{';
  const auto rules = is_json ? trumpet::ParseTraceRulesJson(text, "fuzz")
                             : trumpet::ParseTraceRulesYaml(text, "fuzz");
  if (!rules.ok()) {
    Require(rules.message().rfind("fuzz:", 0) == 0, "error without a place", rules.message());
    return 0;
  }
  const std::string printed = trumpet::PrintTraceRules(*rules);
  // The canonical form is wordier; beyond the limit it need not be readable.
  if (printed.size() > trumpet::event_lang::kMaxDocumentBytes) return 0;
  const auto again = trumpet::ParseTraceRulesYaml(printed, "printed");
  Require(again.ok(), "canonical form cannot be read", printed);
  Require(*again == *rules, "canonical form says something else", printed);
  return 0;
}
