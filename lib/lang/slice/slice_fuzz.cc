// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

// Fuzzes the slice language: no crash, every error with its place, and what was read prints and
// reads back as the same.

#include <cstdint>
#include <string>

#include "lib/base/fuzz_require.h"
#include "lib/lang/slice/slice_language.h"

using trumpet::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto campaign = trumpet::ParseSlices(text, "fuzz");
  if (!campaign.ok()) {
    Require(campaign.message().rfind("fuzz:", 0) == 0, "error without a place", campaign.message());
    return 0;
  }
  Require(trumpet::CheckSliceGrammar(text, "fuzz").ok(), "campaign without a grammar", text);
  const std::string printed = trumpet::PrintSlices(*campaign);
  // The canonical form is wordier; beyond the limit it need not be readable.
  if (printed.size() > trumpet::kMaxSliceTextBytes) return 0;
  const auto again = trumpet::ParseSlices(printed, "printed");
  Require(again.ok(), "canonical form is no campaign", printed);
  Require(trumpet::PrintSlices(*again) == printed, "canonical form is not stable", printed);
  return 0;
}
