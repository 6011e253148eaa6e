// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/passed_lengths.h"

#include <algorithm>
#include <cstring>

#include "lib/base/hash.h"

namespace trumpet {
namespace {

uint64_t KeyOf(uint16_t from, uint16_t to, const FlowKey& flow) {
  uint64_t first = 0, last = 0;
  std::memcpy(&first, flow.dst_ip.data(), sizeof first);
  std::memcpy(&last, flow.dst_ip.data() + sizeof first, sizeof last);
  const uint64_t link = uint64_t{from} << 16 | to;
  return HashNumber(first ^ MixBits(last), link) | 1;  // 0 is a free cell
}

}  // namespace

void PassedLengths::Add(const TraceReport& report) {
  const TracePass& pass = *report.pass;
  if (report.trace->revision > 0 || pass.fault == TraceFault::kLoop) return;
  const TracePacket& packet = report.trace->packet;
  for (size_t i = 1; i < pass.hops.size(); ++i) {
    const TraceHop& from = pass.hops[i - 1];
    const TraceHop& to = pass.hops[i];
    if (from.switch_number == to.switch_number) continue;
    const uint64_t key = KeyOf(from.switch_number, to.switch_number, packet.flow);
    Cell& cell = cells_[key % kCells];
    const Nanos begin = CellOf(to.time, kSpan) * kSpan;
    if (cell.key != key || begin > cell.begin + kSpan) {
      cell = {key, begin, 0, 0};
    } else if (begin > cell.begin) {
      cell = {key, begin, 0, cell.now};
    }
    cell.now = std::max(cell.now, packet.wire_bytes);
  }
}

uint32_t PassedLengths::LongestLike(const TraceReport& report) const {
  const TracePass& pass = *report.pass;
  if (pass.fault != TraceFault::kDropped || pass.hops.empty()) return 0;
  uint32_t longest = 0;
  for (const uint16_t next : pass.expected_next) {
    const uint64_t key = KeyOf(pass.last_switch, next, report.trace->packet.flow);
    const Cell& cell = cells_[key % kCells];
    const Nanos span = CellOf(pass.hops.back().time, kSpan) * kSpan;
    if (cell.key != key || span > cell.begin + kSpan) continue;
    longest = std::max({longest, cell.now, span > cell.begin ? 0 : cell.before});
  }
  return longest;
}

}  // namespace trumpet
