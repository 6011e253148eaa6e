// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Traces by chance for tests of stores, questions by chance, and a slow twin that answers them.

#ifndef TRUMPET_CONTROLLER_STORE_TRACE_STORE_KIT_TEST_H
#define TRUMPET_CONTROLLER_STORE_TRACE_STORE_KIT_TEST_H

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "controller/store/trace_store.h"

namespace trumpet {

constexpr Nanos kBegin = 1700000000 * kNanosPerSecond;

inline std::string Describe(const StoredTrace& trace) {
  std::string text;
  for (const uint64_t value :
       {trace.id, uint64_t{trace.revision}, static_cast<uint64_t>(trace.start),
        uint64_t{trace.flow.protocol}, uint64_t{trace.flow.src_port}, uint64_t{trace.flow.dst_port},
        uint64_t{trace.flow.ip_family}, uint64_t{trace.marks}, uint64_t{trace.wire_bytes},
        uint64_t{trace.fault}, uint64_t{trace.drop_ppm}, uint64_t{trace.last_switch}}) {
    text += std::to_string(value) + " ";
  }
  text += StoredAddress(trace.flow.src_ip, trace.flow.ip_family) + " > " +
          StoredAddress(trace.flow.dst_ip, trace.flow.ip_family) + " " + trace.evidence + " " +
          trace.packet;
  for (const StoredHop& hop : trace.hops) {
    text += " (" + std::to_string(hop.switch_number) + " " + std::to_string(hop.tag) + " " +
            std::to_string(hop.ttl) + " " + std::to_string(hop.time) + ")";
  }
  return text;
}

inline std::string Describe(const std::vector<StoredTrace>& traces) {
  std::string text;
  for (const StoredTrace& trace : traces) text += Describe(trace) + "\n";
  return text;
}

// Bit by bit.
inline bool IsWithin(const std::optional<Prefix>& prefix, const IpBytes& address,
                     uint8_t ip_family) {
  if (!prefix) return true;
  if (ip_family != (prefix->is_ipv6 ? 6 : 4)) return false;
  const int width = prefix->is_ipv6 ? 128 : 32;
  for (int i = 0; i < prefix->length; ++i) {
    const auto asked = static_cast<unsigned>(prefix->address >> (width - 1 - i)) & 1;
    if (asked != (address[static_cast<size_t>(i / 8)] >> (7 - i % 8) & 1u)) return false;
  }
  return true;
}

inline bool IsWithinOneOf(const std::vector<Prefix>& prefixes, const FlowKey& flow) {
  return prefixes.empty() ||
         std::any_of(prefixes.begin(), prefixes.end(), [&](const Prefix& prefix) {
           return IsWithin(prefix, flow.src_ip, flow.ip_family) ||
                  IsWithin(prefix, flow.dst_ip, flow.ip_family);
         });
}

inline bool Matches(const StoredTrace& trace, const TraceQuery& query) {
  const FlowKey& flow = trace.flow;
  const bool is_through =
      !query.through || std::any_of(trace.hops.begin(), trace.hops.end(), [&](const auto& hop) {
        return hop.switch_number == *query.through;
      });
  const auto place = std::make_pair(trace.start, static_cast<int64_t>(trace.id));
  const bool is_behind =
      !query.behind ||
      place > std::make_pair(query.behind->first, static_cast<int64_t>(query.behind->second));
  return trace.start >= query.from && trace.start < query.until &&
         IsWithin(query.src, flow.src_ip, flow.ip_family) &&
         IsWithin(query.dst, flow.dst_ip, flow.ip_family) && IsWithinOneOf(query.within, flow) &&
         query.protocol.value_or(flow.protocol) == flow.protocol &&
         query.src_port.value_or(flow.src_port) == flow.src_port &&
         query.dst_port.value_or(flow.dst_port) == flow.dst_port &&
         (query.marks == 0 || (query.marks & trace.marks) != 0) &&
         query.fault.value_or(trace.fault) == trace.fault && trace.hops.size() >= query.min_hops &&
         is_through && is_behind;
}

inline std::vector<StoredTrace> SlowFind(const std::map<uint64_t, StoredTrace>& all,
                                         const TraceQuery& query) {
  std::vector<StoredTrace> found;
  for (const auto& [id, trace] : all) {
    if (Matches(trace, query)) found.push_back(trace);
  }
  std::sort(found.begin(), found.end(), [](const StoredTrace& a, const StoredTrace& b) {
    return std::make_pair(a.start, static_cast<int64_t>(a.id)) <
           std::make_pair(b.start, static_cast<int64_t>(b.id));
  });
  if (found.size() > query.limit) found.resize(query.limit);
  return found;
}

class TracesByChance {
 public:
  uint64_t Below(uint64_t bound) { return random_() % bound; }

  StoredTrace Some(uint64_t id, Nanos start) {
    StoredTrace trace;
    trace.id = id;
    trace.start = start;
    FlowKey& flow = trace.flow;
    flow.ip_family = Below(2) == 0 ? 4 : 6;
    flow.src_ip[0] = flow.dst_ip[0] = 10;
    flow.src_ip[3] = static_cast<uint8_t>(Below(4));
    flow.dst_ip[3] = static_cast<uint8_t>(Below(4));
    if (flow.ip_family == 6) flow.dst_ip[15] = static_cast<uint8_t>(Below(4));
    flow.protocol = Below(2) == 0 ? 6 : 17;
    flow.src_port = static_cast<uint16_t>(Below(3));
    flow.dst_port = static_cast<uint16_t>(65535 - Below(3));
    if (Below(10) == 0) flow = FlowKey();
    trace.marks = static_cast<uint8_t>(Below(8));
    trace.wire_bytes = static_cast<uint32_t>(Below(9000));
    trace.evidence = "{'\"" + std::to_string(Below(9)) + "}";
    trace.packet = std::string(1, '\0') + std::string(Below(3), '\xff') + "'\\\n\t";
    trace.fault = static_cast<uint8_t>(Below(4));
    trace.drop_ppm = static_cast<uint32_t>(Below(1000001));
    trace.last_switch = static_cast<uint16_t>(Below(5));
    const uint64_t hops = Below(6);
    for (uint64_t i = 0; i < hops; ++i) {
      trace.hops.push_back({start + static_cast<Nanos>(i), static_cast<uint32_t>(Below(1 << 20)),
                            static_cast<uint16_t>(Below(5)), static_cast<uint8_t>(Below(256))});
    }
    return trace;
  }

  Prefix SomePrefix() {
    const char* const texts[] = {"10.0.0.0/30", "10.0.0.2/31", "10.0.0.1/32", "0.0.0.0/0",
                                 "a00::/16",    "a00:2::/127", "::/0",        "10.0.0.0/9"};
    return *ParsePrefix(texts[Below(std::size(texts))]);
  }

  TraceQuery SomeQuery(Nanos until) {
    TraceQuery query;
    const auto instant = [&] {
      return kBegin + static_cast<Nanos>(Below(static_cast<uint64_t>(until - kBegin)));
    };
    if (Below(2) == 0) query.from = instant();
    if (Below(2) == 0) query.until = instant();
    if (Below(3) == 0) query.src = SomePrefix();
    if (Below(3) == 0) query.dst = SomePrefix();
    for (uint64_t i = Below(4); i > 1; --i) query.within.push_back(SomePrefix());
    if (Below(4) == 0) query.marks = static_cast<uint8_t>(Below(8));
    if (Below(4) == 0) query.protocol = 6;
    if (Below(4) == 0) query.src_port = static_cast<uint16_t>(Below(3));
    if (Below(4) == 0) query.dst_port = static_cast<uint16_t>(65535 - Below(3));
    if (Below(4) == 0) query.fault = static_cast<uint8_t>(Below(4));
    if (Below(4) == 0) query.through = static_cast<uint16_t>(Below(5));
    if (Below(4) == 0) query.min_hops = Below(5);
    if (Below(4) == 0) query.behind = {instant(), Below(1000)};
    query.limit = 1 + Below(60);
    return query;
  }

 private:
  std::mt19937_64 random_{20261122};
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_TRACE_STORE_KIT_TEST_H
