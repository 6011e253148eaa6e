// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/passed_lengths.h"

#include <algorithm>
#include <cstring>

#include "lib/base/hash.h"

namespace trumpet {
namespace {

// 0 is a free cell.
uint64_t KeyOf(uint16_t from, uint16_t to) { return HashNumber(0, uint64_t{from} << 16 | to) | 1; }

uint64_t KeyOf(uint16_t from, uint16_t to, const FlowKey& flow) {
  uint64_t first = 0, last = 0;
  std::memcpy(&first, flow.dst_ip.data(), sizeof first);
  std::memcpy(&last, flow.dst_ip.data() + sizeof first, sizeof last);
  const uint64_t link = uint64_t{from} << 16 | to;
  return HashNumber(first ^ MixBits(last), link) | 1;
}

}  // namespace

void PassedLengths::Note(uint64_t key, Nanos time, uint32_t bytes) {
  Cell& cell = cells_[key % kCells];
  const Nanos begin = CellOf(time, kSpan) * kSpan;
  if (cell.key != key || begin > cell.begin + kSpan) {
    cell = {key, begin, 0, 0};
  } else if (begin > cell.begin) {
    cell = {key, begin, 0, cell.now};
  }
  cell.now = std::max(cell.now, bytes);
}

uint32_t PassedLengths::Find(uint64_t key, Nanos time) const {
  const Cell& cell = cells_[key % kCells];
  const Nanos span = CellOf(time, kSpan) * kSpan;
  if (cell.key != key || span > cell.begin + kSpan) return 0;
  return std::max(cell.now, span > cell.begin ? 0 : cell.before);
}

void PassedLengths::Add(const TraceReport& report) {
  const TracePass& pass = *report.pass;
  if (report.trace->revision > 0 || pass.fault == TraceFault::kLoop) return;
  const TracePacket& packet = report.trace->packet;
  for (size_t i = 1; i < pass.hops.size(); ++i) {
    const uint16_t from = pass.hops[i - 1].switch_number;
    const TraceHop& to = pass.hops[i];
    if (from == to.switch_number) continue;
    Note(KeyOf(from, to.switch_number, packet.flow), to.time, packet.wire_bytes);
    Note(KeyOf(from, to.switch_number), to.time, packet.wire_bytes);
  }
}

PassedLengths::Longest PassedLengths::Before(const TraceReport& report) const {
  const TracePass& pass = *report.pass;
  Longest longest;
  if (pass.fault != TraceFault::kDropped || pass.hops.empty()) return longest;
  const Nanos time = pass.hops.back().time;
  for (const uint16_t next : pass.expected_next) {
    const uint64_t key = KeyOf(pass.last_switch, next, report.trace->packet.flow);
    longest.to_address = std::max(longest.to_address, Find(key, time));
    longest.on_link = std::max(longest.on_link, Find(KeyOf(pass.last_switch, next), time));
  }
  return longest;
}

}  // namespace trumpet
