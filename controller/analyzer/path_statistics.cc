// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/path_statistics.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace trumpet {
namespace {

constexpr size_t kTellingPackets = 3;  // of a flow, at least, to say that it is not seen elsewhere

bool IsSeenAnyWay(const MatchedPacket& packet, size_t location) {
  return packet.IsSeenAt(location) || packet.IsStrayAt(location);
}

// Switches turn a slice on and off flow by flow, and each of them at its own time.  A packet is
// judged only if that cannot matter: between two others of its flow that show that the location
// copied the flow then.  Which packets these are does not depend on what became of the one between
// them, so what is judged is a fair sample; the two themselves are not.
class PathCounter {
 public:
  PathCounter(const MatchedPackets& matched, const HasLeft& has_left)
      : matched_(matched),
        has_left_(has_left),
        last_(matched.location_count - 1),
        inner_(((uint64_t{1} << last_) - 1) & ~uint64_t{1}) {}

  PathCounts Count() {
    std::unordered_map<uint64_t, Indices> flows;
    for (size_t i = 0; i < matched_.packets.size(); ++i) {
      CountAny(PacketAt(i));
      flows[PacketAt(i).flow].push_back(i);
    }
    for (const auto& [flow, packets] : flows) {
      CountLoss(packets);
      for (size_t location = 0; location < last_; ++location) CountCopies(packets, location);
    }
    if (last_ > 1) CountShare(flows);
    return counts_;
  }

 private:
  using Indices = std::vector<size_t>;

  const MatchedPacket& PacketAt(size_t i) const { return matched_.packets[i]; }

  void CountAny(const MatchedPacket& packet) {
    ++counts_.packets;
    const uint64_t all = last_ == 63 ? ~uint64_t{0} : (uint64_t{2} << last_) - 1;
    if (packet.seen == all && packet.detour == 0) ++counts_.followed;
    if (IsStray(packet)) ++counts_.strayed;
    if (packet.IsSeenAt(0)) ++counts_.entered;
    counts_.has_ends |= IsSeenAtEnds(packet);
  }

  bool IsStray(const MatchedPacket& packet) const {
    return packet.detour != 0 || (has_left_ && has_left_(packet.identity));
  }

  bool IsSeenAtEnds(const MatchedPacket& packet) const {
    return IsSeenAnyWay(packet, 0) && IsSeenAnyWay(packet, last_);
  }

  // Of packets that all have a copy from `here`, in the order of these, what lies strictly between
  // the first and the last that fulfils `is_bound`: `there` had then begun to copy, and had not
  // ended.  As far as packets pass each other between the two, more is left out.
  template <typename IsBound>
  Indices Between(Indices packets, size_t here, size_t there, IsBound is_bound) const {
    std::stable_sort(packets.begin(), packets.end(), [&](size_t a, size_t b) {
      return matched_.TimeAt(a, here) < matched_.TimeAt(b, here);
    });
    const auto first = std::find_if(packets.begin(), packets.end(), is_bound);
    if (first == packets.end()) return {};
    const size_t last = *std::find_if(packets.rbegin(), packets.rend(), is_bound);
    const Nanos margin = LongestOvertaking(packets, here, there);
    const Nanos from = matched_.TimeAt(*first, here) + margin;
    const Nanos to = matched_.TimeAt(last, here) - margin;
    const auto is_outside = [&](size_t i) {
      return matched_.TimeAt(i, here) <= from || matched_.TimeAt(i, here) >= to;
    };
    packets.erase(std::remove_if(packets.begin(), packets.end(), is_outside), packets.end());
    return packets;
  }

  // How much later than another packet one came `here` that came `there` before it.
  Nanos LongestOvertaking(const Indices& packets, size_t here, size_t there) const {
    Nanos longest = 0;
    std::vector<std::pair<Nanos, Nanos>> latest;  // times there and here, both rising
    for (const size_t i : packets) {
      if (!PacketAt(i).IsSeenAt(there)) continue;
      const std::pair<Nanos, Nanos> times{matched_.TimeAt(i, there), matched_.TimeAt(i, here)};
      const auto passed = std::upper_bound(latest.begin(), latest.end(), times);
      if (passed == latest.end()) {
        latest.push_back(times);
      } else {
        longest = std::max(longest, times.second - passed->second);
      }
    }
    return longest;
  }

  // Of a flow.  If no packet at all was seen at both ends, all count: the path may be cut.
  void CountLoss(const Indices& flow) {
    Indices entered;
    for (const size_t i : flow) {
      if (PacketAt(i).IsSeenAt(0)) entered.push_back(i);
    }
    if (counts_.has_ends) {
      const auto is_at_ends = [this](size_t i) { return IsSeenAtEnds(PacketAt(i)); };
      const bool has_any = std::any_of(entered.begin(), entered.end(), is_at_ends);
      if (!has_any && entered.size() >= kTellingPackets) ++counts_.silent_flows;
      entered = Between(std::move(entered), 0, last_, is_at_ends);
    }
    for (const size_t i : entered) {
      const bool is_at_last = PacketAt(i).IsSeenAt(last_);
      if (is_at_last) ++counts_.both;
      if (is_at_last || !IsStray(PacketAt(i))) ++counts_.ingress;
    }
  }

  // What was seen at the last location has passed the first one.  At one between them it may have
  // taken another path of equal length instead; but paths are chosen by flow, so where a flow was
  // seen before and after, what is missing are copies.
  void CountCopies(const Indices& flow, size_t location) {
    Indices passed;
    for (const size_t i : flow) {
      if (PacketAt(i).IsSeenAt(last_) && PacketAt(i).detour == 0) passed.push_back(i);
    }
    const auto is_seen = [&](size_t i) { return PacketAt(i).IsSeenAt(location); };
    const Indices judged = Between(std::move(passed), last_, location, is_seen);
    counts_.copy_trials += judged.size();
    counts_.copies_missing +=
        judged.size() - static_cast<size_t>(std::count_if(judged.begin(), judged.end(), is_seen));
  }

  // Of a flow that takes another path nothing shows when the inner locations would have copied it,
  // so here the packets of all flows bound each other.
  void CountShare(const std::unordered_map<uint64_t, Indices>& flows) {
    std::unordered_set<uint64_t> single;
    std::unordered_set<uint64_t> on_path;
    Indices sample;
    for (const auto& [flow, packets] : flows) {
      uint64_t seen = 0;
      size_t count = 0;
      for (const size_t i : packets) {
        const MatchedPacket& packet = PacketAt(i);
        if (!packet.IsSeenAt(0) || !IsSeenAnyWay(packet, last_)) continue;
        ++count;
        seen |= packet.seen;
        sample.push_back(i);
      }
      if ((seen & inner_) == inner_) on_path.insert(flow);
      if (count == 1) single.insert(flow);
    }
    const auto is_on_path = [&](size_t i) { return (PacketAt(i).seen & inner_) == inner_; };
    counts_.has_inner = std::any_of(sample.begin(), sample.end(), is_on_path);
    if (counts_.has_inner) sample = Between(std::move(sample), 0, 1, is_on_path);
    for (const size_t i : sample) {
      ++counts_.at_ends;
      if (on_path.count(PacketAt(i).flow) == 0) continue;
      ++counts_.on_path;
      if (single.count(PacketAt(i).flow) != 0) ++counts_.on_path_single;
    }
  }

  const MatchedPackets& matched_;
  const HasLeft& has_left_;
  const size_t last_;
  const uint64_t inner_;  // bits of the locations between the ends
  PathCounts counts_;
};

// `small` of `parts`, and 1 else.
Estimate Blend(const Estimate& small, double part) {
  const auto blend = [part](double x) { return x <= 0 ? 0 : 1 / (1 - part + part / x); };
  return {small.is_known, blend(small.value), blend(small.low), blend(small.high)};
}

}  // namespace

void PathCounts::Add(const PathCounts& other) {
  packets += other.packets;
  followed += other.followed;
  strayed += other.strayed;
  entered += other.entered;
  silent_flows += other.silent_flows;
  copy_trials += other.copy_trials;
  copies_missing += other.copies_missing;
  // A slot without ends counts for loss only as long as no slot has them.
  if (!has_ends && other.has_ends) ingress = both = 0;
  if (has_ends <= other.has_ends) {
    ingress += other.ingress;
    both += other.both;
  }
  has_ends |= other.has_ends;
  // And one without a packet on the path likewise for the share.
  if (!has_inner && other.has_inner) at_ends = on_path = on_path_single = 0;
  if (has_inner <= other.has_inner) {
    at_ends += other.at_ends;
    on_path += other.on_path;
    on_path_single += other.on_path_single;
  }
  has_inner |= other.has_inner;
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
    const Estimate seen_between = Proportion(counts.on_path, counts.at_ends, reach);
    // A flow of several packets is hardly ever missed where it passes.
    const double single = counts.on_path == 0 ? 1
                                              : static_cast<double>(counts.on_path_single) /
                                                    static_cast<double>(counts.on_path);
    const Estimate all_arrive = Power(arrival, static_cast<unsigned>(location_count - 2));
    estimates.share = Quotient(seen_between, Blend(all_arrive, single));
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
  statistics.low = delays[delays.size() / 20] + shift;
  statistics.median = delays[delays.size() / 2] + shift;
  statistics.high = delays[delays.size() - 1 - delays.size() / 20] + shift;
  return statistics;
}

}  // namespace trumpet
