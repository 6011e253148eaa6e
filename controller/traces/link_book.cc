// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/link_book.h"

#include <algorithm>

namespace trumpet {
namespace {

LinkValue LatencyValue(Nanos latency) {
  if (latency < 10 * kNanosPerMicro) return kLinkBelow10us;
  if (latency < 100 * kNanosPerMicro) return kLinkBelow100us;
  return latency < kNanosPerMilli ? kLinkBelow1ms : kLinkLonger;
}

}  // namespace

LinkCounters& LinkBook::Row(uint16_t from, uint16_t to, Nanos time) {
  const Nanos begin = CellOf(time, kNanosPerSecond) * kNanosPerSecond;
  LinkCounters& row = rows_[{from, to, begin}];
  row.from = from;
  row.to = to;
  row.time = begin;
  return row;
}

void LinkBook::Add(const TraceReport& report) {
  if (report.trace->revision > 0) return;
  const TracePass& pass = *report.pass;
  const TracePacket& packet = report.trace->packet;
  const bool is_looped = pass.fault == TraceFault::kLoop;
  for (size_t i = 1; i < pass.hops.size(); ++i) {
    const TraceHop& from = pass.hops[i - 1];
    const TraceHop& to = pass.hops[i];
    if (from.switch_number == to.switch_number) continue;
    auto& values = Row(from.switch_number, to.switch_number, from.time).values;
    ++values[kLinkPackets];
    values[kLinkBytes] += packet.wire_bytes;
    values[kLinkConnections] += (packet.marks & kMarkSyn) != 0 ? 1 : 0;
    values[kLinkLooped] += is_looped ? 1 : 0;
    ++values[LatencyValue(std::max<Nanos>(to.time - from.time, 0))];
  }
  const auto last = std::find_if(pass.hops.rbegin(), pass.hops.rend(), [&](const TraceHop& hop) {
    return hop.switch_number == pass.last_switch;
  });
  if (pass.expected_next.size() != 1 || last == pass.hops.rend()) return;
  auto& values = Row(pass.last_switch, pass.expected_next[0], last->time).values;
  ++values[pass.fault == TraceFault::kDropped ? kLinkDropped : kLinkCopiesLost];
}

std::vector<LinkCounters> LinkBook::TakeAll() {
  std::vector<LinkCounters> all;
  for (const auto& [key, row] : rows_) all.push_back(row);
  rows_.clear();
  return all;
}

}  // namespace trumpet
