// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Any line is an event or an error with its place; an event prints as text that reads back as
// the same event and prints the same.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/fuzz_require.h"
#include "lib/lang/event/event_language.h"
#include "lib/lang/event/lower.h"

namespace {

using trumpet::EventSpec;
using trumpet::Require;

bool SameParts(const EventSpec& a, const EventSpec& b) {
  return a.filter == b.filter && a.predicate == b.predicate && a.granularity == b.granularity &&
         a.interval_ms == b.interval_ms;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto event = trumpet::ParseEventLine(text, "fuzz");
  if (!event.ok()) {
    Require(event.message().rfind("fuzz:", 0) == 0, "error without a place", event.message());
    return 0;
  }
  Require(trumpet::event_lang::IsFlat(event->filter), "filter is not flat", std::string(text));
  Require(trumpet::event_lang::IsBinary(event->predicate), "predicate is not binary",
          std::string(text));
  const std::string printed = trumpet::PrintEventLine(*event);
  // The canonical form is wordier; beyond the limit it need not be readable.
  if (printed.size() > 64 * 1024) return 0;
  const auto again = trumpet::ParseEventLine(printed, "printed");
  Require(again.ok(), "canonical form is not an event", printed);
  Require(SameParts(*event, *again), "canonical form is another event", printed);
  Require(trumpet::PrintEventLine(*again) == printed, "canonical form is not stable", printed);
  return 0;
}
