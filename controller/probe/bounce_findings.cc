// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/probe/bounce_findings.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "lib/packet/probe_frame.h"

namespace trumpet {
namespace {

// Of our own packets: Ethernet, IPv4 without options, UDP.
constexpr size_t kTtlAt = 14 + 8;
constexpr size_t kPayloadAt = 14 + 20 + 8;

struct Passages {
  std::optional<Nanos> out;
  std::optional<Nanos> back;
};

Nanos PowerAbove(Nanos time) {
  Nanos power = 1;
  while (power <= time) power *= 2;
  return power;
}

// The least that so many percent do not exceed; of at least one.
Nanos Percentile(const std::vector<Nanos>& sorted, size_t percent) {
  const size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<size_t>(rank, 1) - 1];
}

std::vector<BounceBucket> HistogramOf(const std::vector<Nanos>& sorted) {
  std::vector<BounceBucket> buckets;
  for (const Nanos time : sorted) {
    if (buckets.empty()) buckets.push_back({PowerAbove(time), 0});
    while (time >= buckets.back().below) buckets.push_back({buckets.back().below * 2, 0});
    ++buckets.back().count;
  }
  return buckets;
}

void Earliest(Nanos time, std::optional<Nanos>* at) {
  if (!*at || time < **at) *at = time;
}

}  // namespace

std::vector<BounceCopy> ReadBounceCopies(const std::vector<PacketRecord>& records, uint64_t id,
                                         const std::string& switch_name) {
  std::vector<BounceCopy> copies;
  for (const PacketRecord& record : records) {
    if (record.switch_name != switch_name || !record.is_ethernet) continue;
    if (record.bytes.size() < kPayloadAt + kProbeMarkBytes) continue;
    const auto* const bytes = reinterpret_cast<const uint8_t*>(record.bytes.data());
    const auto mark = ReadProbeMark(bytes + kPayloadAt, record.bytes.size() - kPayloadAt);
    const uint8_t ttl = bytes[kTtlAt];
    if (!mark || mark->probe != id || (ttl != kBounceTtl && ttl != kBounceTtl - 1)) continue;
    copies.push_back({mark->packet, ttl != kBounceTtl, record.time});
  }
  return copies;
}

BounceFindings ConcludeBounce(const std::vector<BounceCopy>& copies, uint32_t sent) {
  std::vector<Passages> packets(sent);
  for (const BounceCopy& copy : copies) {
    if (copy.packet >= sent) continue;
    Passages& packet = packets[copy.packet];
    Earliest(copy.time, copy.is_back ? &packet.back : &packet.out);
  }
  BounceFindings findings;
  std::vector<Nanos> trips;
  for (const Passages& packet : packets) {
    if (!packet.out) {
      ++findings.not_copied;
    } else if (!packet.back) {
      ++findings.lost;
    } else {
      // Copies that an analyzer took at once may have the same time, and none comes too early.
      trips.push_back(std::max<Nanos>(*packet.back - *packet.out, 0));
    }
  }
  findings.returned = static_cast<uint32_t>(trips.size());
  if (trips.empty()) return findings;
  std::sort(trips.begin(), trips.end());
  findings.min = trips.front();
  findings.p50 = Percentile(trips, 50);
  findings.p99 = Percentile(trips, 99);
  findings.max = trips.back();
  findings.mean =
      std::accumulate(trips.begin(), trips.end(), Nanos{0}) / static_cast<Nanos>(trips.size());
  findings.histogram = HistogramOf(trips);
  return findings;
}

}  // namespace trumpet
