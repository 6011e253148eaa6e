// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TraceRules: which packets every switch copies on their way (Everflow), so that one is copied
// wherever it passes, or nowhere.
//
// Copies say where they come from as those of slices do (slice_spec.h).  Their tags have the
// highest bit set, which tags of slices have not: seven bits for the rule and twelve for the port
// on which the packet came.
//
// Threads: values; no state.

#ifndef TRUMPET_LIB_MODEL_TRACE_RULE_H
#define TRUMPET_LIB_MODEL_TRACE_RULE_H

#include <cstdint>
#include <string>
#include <vector>

#include "lib/model/filter.h"
#include "lib/model/slice_spec.h"

namespace trumpet {

constexpr size_t kMaxTraceRules = 64;
constexpr size_t kMaxTraceMarks = 64;
constexpr uint32_t kFirstTraceTag = 1u << (kSliceTagBits - 1);
constexpr uint32_t kTracePortBits = 12;
constexpr uint32_t kTracePortMask = (1u << kTracePortBits) - 1;
// What copies of packets of the controller name: by them it tries whether copies come at all.
constexpr uint32_t kTraceTestPort = 0xffd;
constexpr int kMaxTraceSampleBits = 16;
constexpr uint16_t kLeastTraceBytes = 64;

// `port` is a number of OpenFlow, of which the lower bits are left.
constexpr uint32_t TraceTag(uint32_t rule, uint32_t port) {
  return kFirstTraceTag | rule << kTracePortBits | (port & kTracePortMask);
}
constexpr bool IsTraceTag(uint32_t tag) { return tag >= kFirstTraceTag && tag < kFirstProbeTag; }
constexpr uint32_t TraceTagRule(uint32_t tag) {
  return (tag & (kFirstTraceTag - 1)) >> kTracePortBits;
}
constexpr uint32_t TraceTagPort(uint32_t tag) { return tag & kTracePortMask; }

static_assert(TraceTag(kMaxTraceRules - 1, kTracePortMask) < kFirstProbeTag);

struct TraceRule {
  std::string name;
  FilterExpr filter;
  bool is_marked = false;          // only packets with the debug bit
  bool is_at_edge = false;         // which packets get where they come in, by this rule
  uint8_t sample_bits = 0;         // of connections one in 2^n, the same ones everywhere
  uint16_t snap_bytes = 0;         // copied of each packet; 0: all
  uint32_t copies_per_second = 0;  // of each switch; 0: as many as there are
  std::string place = {};  // "rules.yaml:4:13", if read from a text; rules are equal anywhere

  // A packet must have the bit.
  bool needs_bit() const { return is_marked || is_at_edge; }

  bool operator==(const TraceRule& other) const {
    return name == other.name && filter == other.filter && is_marked == other.is_marked &&
           is_at_edge == other.is_at_edge && sample_bits == other.sample_bits &&
           snap_bytes == other.snap_bytes && copies_per_second == other.copies_per_second;
  }
};

// Packets of hosts that get the debug bit where they come into the network.
struct TraceMark {
  std::string name;
  FilterExpr filter;
  std::vector<std::string> hosts;  // of the topology; none: all
  std::string place = {};          // as of rules

  bool operator==(const TraceMark& other) const {
    return name == other.name && filter == other.filter && hosts == other.hosts;
  }
};

// How errors of them begin: "rules.yaml:4:13: rule 'a'".
inline std::string PlaceAndName(const TraceRule& rule) {
  return (rule.place.empty() ? "" : rule.place + ": ") + "rule '" + rule.name + "'";
}
inline std::string PlaceAndName(const TraceMark& mark) {
  return (mark.place.empty() ? "" : mark.place + ": ") + "mark '" + mark.name + "'";
}

// A packet is copied once, for the first rule that it fits.
struct TraceRules {
  std::vector<TraceRule> rules;
  std::vector<TraceMark> marks;
  int debug_bit = -1;         // of the six bits of the DSCP, 0 the lowest; -1: there is none
  uint32_t switch_rate = 0;   // copies per second of a switch; 0: no limit
  uint32_t network_rate = 0;  // of all together, in equal shares

  bool operator==(const TraceRules& other) const {
    return rules == other.rules && marks == other.marks && debug_bit == other.debug_bit &&
           switch_rate == other.switch_rate && network_rate == other.network_rate;
  }
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MODEL_TRACE_RULE_H
