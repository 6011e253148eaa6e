// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The event language: text to checked events and back.
//
// `source_name` stands at the front of errors, which look like
// `events.yaml:7:17: 'bytez' is not a packet variable; did you mean 'bytes'?`: name, line, and
// column in characters, both from 1.  A file with several wrong events gives one such line for
// each. Nothing is returned of a text with an error.
//
// Threads: no state; any thread.  Errors: returned, nothing is thrown.

#ifndef TRUMPET_LIB_LANG_EVENT_EVENT_LANGUAGE_H
#define TRUMPET_LIB_LANG_EVENT_EVENT_LANGUAGE_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/status.h"
#include "lib/model/event_spec.h"

namespace trumpet {

// What is wrong with a state that an event of that interval reads; empty: nothing.  The error
// stands at its place.
using MeasuredCheck = std::function<std::string(const MeasuredState& state, uint32_t interval_ms)>;
// For monitors of one host, which read no measurements.
std::string RefuseMeasured(const MeasuredState& state, uint32_t interval_ms);

constexpr size_t kMaxEventFileBytes = 1024 * 1024;

// In all of these, without a `check` events may read any state.
//
// `filter, predicate, granularity, interval`, at most 64 KiB.  The event has no name.
Result<EventSpec> ParseEventLine(std::string_view text, std::string_view source_name,
                                 const MeasuredCheck& check = nullptr);

// A list of events under the key `events`, or by itself; at most 1 MiB.  An event without name is
// `event-N`, N its place in the file from 1.  Names are unique.
Result<std::vector<EventSpec>> ParseEventsYaml(std::string_view text, std::string_view source_name,
                                               const MeasuredCheck& check = nullptr);
Result<std::vector<EventSpec>> ParseEventsJson(std::string_view text, std::string_view source_name,
                                               const MeasuredCheck& check = nullptr);

// A file of either kind: JSON if its name ends in .json, else YAML; at most `max_bytes`.
Result<std::vector<EventSpec>> ParseEventsFile(std::string_view text, std::string_view path,
                                               const MeasuredCheck& check = nullptr,
                                               size_t max_bytes = kMaxEventFileBytes);

// The canonical spelling: parsing it gives an equal event, and printing that the same text.
// Only for events that the parsers above made.  The line holds the four parts, not the name and
// options.
std::string PrintEventLine(const EventSpec& event);
std::string PrintEventsYaml(const std::vector<EventSpec>& events);
// One event as a JSON object without newline; `[` and `]` around it make a document.
std::string PrintEventJson(const EventSpec& event);

}  // namespace trumpet

#endif  // TRUMPET_LIB_LANG_EVENT_EVENT_LANGUAGE_H
