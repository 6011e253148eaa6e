// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Any file, read as YAML and as JSON, is a list of events or errors with their places; events
// print as YAML that reads back as the same events.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/fuzz_require.h"
#include "lib/base/status.h"
#include "lib/lang/event/event_language.h"

namespace {

using trumpet::EventSpec;
using trumpet::Require;
using trumpet::Result;

bool Same(const EventSpec& a, const EventSpec& b) {
  return a.name == b.name && a.filter == b.filter && a.predicate == b.predicate &&
         a.granularity == b.granularity && a.interval_ms == b.interval_ms &&
         a.for_count == b.for_count && a.scope == b.scope && a.observe == b.observe &&
         a.severity == b.severity && a.max_buckets == b.max_buckets &&
         a.deadline_ms == b.deadline_ms && a.report_rate == b.report_rate;
}

void CheckResult(const Result<std::vector<EventSpec>>& events) {
  if (!events.ok()) {
    Require(events.message().rfind("fuzz:", 0) == 0, "error without a place", events.message());
    return;
  }
  const std::string printed = trumpet::PrintEventsYaml(*events);
  constexpr size_t kLongest = 32 * 1024;  // well within every limit
  if (printed.size() > kLongest) return;
  const auto again = trumpet::ParseEventsYaml(printed, "printed");
  Require(again.ok(), "canonical form is not YAML of events", printed);
  Require(again->size() == events->size(), "events are lost in print", printed);
  for (size_t i = 0; i < events->size(); ++i) {
    Require(Same((*events)[i], (*again)[i]), "canonical form is another event", printed);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckResult(trumpet::ParseEventsYaml(text, "fuzz"));
  CheckResult(trumpet::ParseEventsJson(text, "fuzz"));
  return 0;
}
