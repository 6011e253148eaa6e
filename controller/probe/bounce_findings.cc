// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/probe/bounce_findings.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "lib/packet/probe_frame.h"

namespace trumpet {
namespace {

// Of our own packets: Ethernet, IPv4 without options, UDP.
constexpr size_t kTtlAt = 14 + 8;
constexpr size_t kPayloadAt = 14 + 20 + 8;

// Longer than any bounce waits: whatever an analyzer says of times, they can be added and doubled.
constexpr Nanos kLongestTrip = 3600 * kNanosPerSecond;

struct Passages {
  std::optional<Nanos> out;
  std::optional<Nanos> back;
};

// Of one packet, by analyzer.
class Trip {
 public:
  void Add(const BounceCopy& copy) {
    Passages& passages = at_[copy.analyzer];
    std::optional<Nanos>* const time = copy.is_back ? &passages.back : &passages.out;
    if (!*time || copy.time < **time) *time = copy.time;
  }
  bool went_out() const {
    return std::any_of(at_.begin(), at_.end(), [](const auto& one) { return one.second.out; });
  }
  bool came_back() const {
    return std::any_of(at_.begin(), at_.end(), [](const auto& one) { return one.second.back; });
  }
  // As the first analyzer by name has it that has both copies.  Copies that it took at once may
  // have the same time, and none comes too early.
  std::optional<Nanos> time() const {
    for (const auto& [analyzer, passages] : at_) {
      if (!passages.out || !passages.back) continue;
      return std::clamp<Nanos>(*passages.back - *passages.out, 0, kLongestTrip);
    }
    return std::nullopt;
  }

 private:
  std::map<std::string, Passages> at_;
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

std::optional<BounceCopy> ReadCopy(const PacketRecord& record, uint64_t id,
                                   const std::string& analyzer) {
  if (!record.is_ethernet || record.bytes.size() < kPayloadAt + kProbeMarkBytes) {
    return std::nullopt;
  }
  const auto* const bytes = reinterpret_cast<const uint8_t*>(record.bytes.data());
  const auto mark = ReadProbeMark(bytes + kPayloadAt, record.bytes.size() - kPayloadAt);
  const uint8_t ttl = bytes[kTtlAt];
  if (!mark || mark->probe != id || (ttl != kBounceTtl && ttl != kBounceTtl - 1)) {
    return std::nullopt;
  }
  return BounceCopy{mark->packet, ttl != kBounceTtl, record.time, analyzer};
}

}  // namespace

std::vector<BounceCopy> ReadBounceCopies(const BounceRecords& records, uint64_t id,
                                         const std::string& switch_name) {
  std::vector<BounceCopy> copies;
  for (const auto& [analyzer, list] : records) {
    for (const PacketRecord& record : list) {
      if (record.switch_name != switch_name) continue;
      const auto copy = ReadCopy(record, id, analyzer);
      if (copy) copies.push_back(*copy);
    }
  }
  return copies;
}

BounceFindings ConcludeBounce(const std::vector<BounceCopy>& copies, uint32_t sent) {
  std::vector<Trip> packets(sent);
  for (const BounceCopy& copy : copies) {
    if (copy.packet < sent) packets[copy.packet].Add(copy);
  }
  BounceFindings findings;
  std::vector<Nanos> trips;
  for (const Trip& packet : packets) {
    if (!packet.went_out()) {
      ++findings.not_copied;
    } else if (!packet.came_back()) {
      ++findings.lost;
    } else if (const auto time = packet.time()) {
      trips.push_back(*time);
    } else {
      ++findings.apart;
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
