// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/path_statistics.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace trumpet {
namespace {

// Where the packet stands in the order of packets at the ingress: its first copy, put back by how
// long packets usually take to that location.
std::vector<Nanos> PlacesInTime(const MatchedPackets& matched) {
  const size_t width = matched.location_count;
  std::vector<Nanos> usual(width);
  for (size_t location = 1; location < width; ++location) {
    std::vector<Nanos> delays;
    for (size_t i = 0; i < matched.packets.size(); ++i) {
      const MatchedPacket& packet = matched.packets[i];
      if (!packet.IsSeenAt(0) || !packet.IsSeenAt(location)) continue;
      delays.push_back(matched.TimeAt(i, location) - matched.TimeAt(i, 0));
    }
    if (delays.empty()) continue;
    const auto middle = delays.begin() + static_cast<long>(delays.size() / 2);
    std::nth_element(delays.begin(), middle, delays.end());
    usual[location] = *middle;
  }
  std::vector<Nanos> places(matched.packets.size());
  for (size_t i = 0; i < places.size(); ++i) {
    const uint64_t seen = matched.packets[i].seen;
    const auto location = static_cast<size_t>(__builtin_ctzll(seen));  // never 0
    places[i] = matched.TimeAt(i, location) - usual[location];
  }
  return places;
}

bool IsSeenAnyWay(const MatchedPacket& packet, size_t location) {
  return packet.IsSeenAt(location) || packet.IsStrayAt(location);
}

class PathCounter {
 public:
  PathCounter(const MatchedPackets& matched, const HasLeft& has_left)
      : matched_(matched), has_left_(has_left), last_(matched.location_count - 1) {}

  PathCounts Count() {
    for (const MatchedPacket& packet : matched_.packets) CountAny(packet);
    const std::vector<size_t> sample = PacketsBetweenEnds();
    for (const size_t i : sample) CountEnds(matched_.packets[i]);
    for (size_t location = 1; location < last_; ++location) CountFlows(sample, location);
    return counts_;
  }

 private:
  void CountAny(const MatchedPacket& packet) {
    ++counts_.packets;
    const uint64_t all = last_ == 63 ? ~uint64_t{0} : (uint64_t{2} << last_) - 1;
    if (packet.seen == all && packet.detour == 0) ++counts_.followed;
    if (IsStray(packet)) ++counts_.strayed;
  }

  bool IsStray(const MatchedPacket& packet) const {
    return packet.detour != 0 || (has_left_ && has_left_(packet.identity));
  }

  // In order.  The first and the last packet that was seen at both ends mark where the slot was
  // surely on for both; what lies between them is a fair sample, which they themselves are not.
  // If none was seen at both ends, all are taken: the path may be cut.
  std::vector<size_t> PacketsBetweenEnds() {
    const std::vector<Nanos> places = PlacesInTime(matched_);
    std::vector<size_t> order(places.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return places[a] < places[b]; });
    const auto is_end = [&](size_t i) {
      const MatchedPacket& packet = matched_.packets[i];
      return IsSeenAnyWay(packet, 0) && IsSeenAnyWay(packet, last_);
    };
    const auto first = std::find_if(order.begin(), order.end(), is_end);
    if (first == order.end()) return order;
    counts_.has_ends = true;
    const auto last = std::find_if(order.rbegin(), order.rend(), is_end).base();
    if (last - first < 2) return {};
    return {first + 1, last - 1};
  }

  void CountEnds(const MatchedPacket& packet) {
    const bool is_at_last = packet.IsSeenAt(last_);
    if (IsSeenAnyWay(packet, 0) && IsSeenAnyWay(packet, last_)) ++counts_.both_any_way;
    if (is_at_last) {
      ++counts_.copy_trials;
      if (!packet.IsSeenAt(0)) ++counts_.copies_missing;
    }
    if (!packet.IsSeenAt(0)) return;
    const uint64_t inner = ((uint64_t{1} << last_) - 1) & ~uint64_t{1};
    if (is_at_last) {
      ++counts_.ingress;
      ++counts_.both;
      if ((packet.seen & inner) == inner) ++counts_.on_path;
    } else if (!IsStray(packet)) {
      ++counts_.ingress;
    }
  }

  // A packet seen at both ends but not between them may have taken another path of equal length.
  // Paths are chosen by flow: once a flow was seen at a router, its later packets pass there, too,
  // and what is missing then are copies.  Here, too, only between the first and the last packet
  // seen there was the slice surely on.
  void CountFlows(const std::vector<size_t>& sample, size_t location) {
    const auto is_seen = [&](size_t i) { return matched_.packets[i].IsSeenAt(location); };
    const auto first = std::find_if(sample.begin(), sample.end(), is_seen);
    if (first == sample.end()) return;
    const auto last = std::find_if(sample.rbegin(), sample.rend(), is_seen).base() - 1;
    std::unordered_set<uint64_t> flows;
    for (auto at = first; at < last; ++at) {
      const MatchedPacket& packet = matched_.packets[*at];
      if (!packet.IsSeenAt(last_) || packet.detour != 0) continue;
      if (flows.count(packet.flow) != 0) {
        ++counts_.copy_trials;
        if (!is_seen(*at)) ++counts_.copies_missing;
      } else if (is_seen(*at)) {
        flows.insert(packet.flow);
      }
    }
  }

  const MatchedPackets& matched_;
  const HasLeft& has_left_;
  const size_t last_;
  PathCounts counts_;
};

}  // namespace

void PathCounts::Add(const PathCounts& other) {
  packets += other.packets;
  followed += other.followed;
  strayed += other.strayed;
  // A slot without ends counts for loss only as long as no slot has them.
  if (has_ends && !other.has_ends) return;
  if (!has_ends && other.has_ends) {
    ingress = both = both_any_way = on_path = copy_trials = copies_missing = 0;
    has_ends = true;
  }
  ingress += other.ingress;
  both += other.both;
  both_any_way += other.both_any_way;
  on_path += other.on_path;
  copy_trials += other.copy_trials;
  copies_missing += other.copies_missing;
}

PathCounts CountPath(const MatchedPackets& matched, const HasLeft& has_left) {
  if (matched.location_count < 2 || matched.location_count > kMaxMatchedLocations) {
    PathCounts counts;
    counts.packets = counts.followed = matched.packets.size();
    return counts;
  }
  return PathCounter(matched, has_left).Count();
}

PathEstimates EstimatePath(const PathCounts& counts, size_t location_count, double reach) {
  PathEstimates estimates;
  if (location_count < 2) return estimates;
  estimates.copy_loss = Proportion(counts.copies_missing, counts.copy_trials, reach);
  const Estimate arrival = Complement(estimates.copy_loss);
  const Estimate seen_again = Proportion(counts.both, counts.ingress, reach);
  estimates.loss = Complement(Quotient(seen_again, arrival));
  estimates.loss.is_known = seen_again.is_known;
  if (location_count > 2) {
    const Estimate seen_between = Proportion(counts.on_path, counts.both_any_way, reach);
    estimates.share =
        Quotient(seen_between, Power(arrival, static_cast<unsigned>(location_count - 2)));
  }
  return estimates;
}

void AddDelays(const MatchedPackets& matched, std::vector<Nanos>* delays) {
  if (matched.location_count < 2) return;
  const size_t last = matched.location_count - 1;
  for (size_t i = 0; i < matched.packets.size(); ++i) {
    const MatchedPacket& packet = matched.packets[i];
    if (!packet.IsSeenAt(0) || !packet.IsSeenAt(last)) continue;
    delays->push_back(matched.TimeAt(i, last) - matched.TimeAt(i, 0));
  }
}

DelayStatistics DescribeDelays(std::vector<Nanos> delays, const CopyLatency& from,
                               const CopyLatency& to) {
  DelayStatistics statistics;
  statistics.packets = delays.size();
  statistics.error = from.error + to.error;
  if (delays.empty()) return statistics;
  std::sort(delays.begin(), delays.end());
  const Nanos shift = from.latency - to.latency;
  statistics.lowest = delays.front() + shift;
  statistics.median = delays[delays.size() / 2] + shift;
  statistics.high = delays[delays.size() - 1 - delays.size() / 20] + shift;
  return statistics;
}

}  // namespace trumpet
