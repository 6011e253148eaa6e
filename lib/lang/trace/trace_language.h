// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The language of trace rules: YAML or JSON whose filters are those of events
// (docs/trace-rules.md).
//
//   debug_bit: 5
//   base: true
//   rules:
//     - {name: web, filter: "Protocol=TCP and dstPort=80", sample: 1/1024, truncate: 192, rate:
//     1000}
//   marks:
//     - {name: slow, hosts: [web1], filter: "Protocol=TCP and dstPort=443"}
//
// Threads: no state; any thread.  Errors: returned, with their place: `rules.yaml:3:5: ...`.

#ifndef TRUMPET_LIB_LANG_TRACE_TRACE_LANGUAGE_H
#define TRUMPET_LIB_LANG_TRACE_TRACE_LANGUAGE_H

#include <string>
#include <string_view>

#include "lib/base/status.h"
#include "lib/model/trace_rule.h"

namespace trumpet {

constexpr uint32_t kMaxTraceRate = 10'000'000;  // copies per second

Result<TraceRules> ParseTraceRulesYaml(std::string_view text, std::string_view source_name);
Result<TraceRules> ParseTraceRulesJson(std::string_view text, std::string_view source_name);

// Reads back as equal rules; the base set is written out.
std::string PrintTraceRules(const TraceRules& rules);

// A mark of that name: a map of `filter` and `hosts`, both of which may be left out.
Result<TraceMark> ParseTraceMarkYaml(std::string_view text, std::string_view source_name,
                                     const std::string& name);
Result<TraceMark> ParseTraceMarkJson(std::string_view text, std::string_view source_name,
                                     const std::string& name);

// Why packets that such rules mark would not be copied.
Status CheckTraceMarks(const TraceRules& rules);
// Why what a rule of the edge takes would not be copied behind it, whatever changes.
Status CheckTraceEdges(const TraceRules& rules);

// What `base: true` stands for: connections that begin and end, BGP, PFC, congestion notifications
// of RoCEv2, and what bears the debug bit if there is one.
std::vector<TraceRule> BaseTraceRules(bool has_debug_bit);

}  // namespace trumpet

#endif  // TRUMPET_LIB_LANG_TRACE_TRACE_LANGUAGE_H
