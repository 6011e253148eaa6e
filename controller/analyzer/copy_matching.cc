// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/copy_matching.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace trumpet {
namespace {

struct IdentityHash {
  size_t operator()(Uint128 identity) const { return static_cast<size_t>(identity); }
};

// Packets of one identity whose TTLs say that they are equally far from their source.
struct Group {
  int start_ttl = 0;              // at the first router of the path
  std::vector<uint32_t> packets;  // by time
  // Of each location: the first packet that it may still have copied.  Those before it have a copy
  // from there or are too old, so that finding the oldest without one needs no search.
  std::vector<uint32_t> next;
};

class Matcher {
 public:
  Matcher(const std::vector<uint16_t>& hops, Nanos window) : hops_(hops), window_(window) {
    matched_.location_count = hops.size();
  }

  void Add(const SeenCopy& copy) {
    Group* const group = FindGroup(copy);
    uint32_t& next = group->next[copy.location];
    while (next < group->packets.size() && IsTooOld(group->packets[next], copy.time)) ++next;
    if (next == group->packets.size()) group->packets.push_back(NewPacket(copy));
    const uint32_t packet = group->packets[next++];
    matched_.packets[packet].seen |= uint64_t{1} << copy.location;
    matched_.times[packet * hops_.size() + copy.location] = copy.time;
  }

  MatchedPackets Finish() {
    for (auto& [identity, groups] : groups_) {
      if (groups.size() > 1) JoinDetours(&groups);
    }
    RemoveJoined();
    return std::move(matched_);
  }

 private:
  Group* FindGroup(const SeenCopy& copy) {
    const int start_ttl = copy.ttl + hops_[copy.location];
    std::vector<Group>& groups = groups_[copy.identity];
    for (Group& group : groups) {  // at most one for each TTL
      if (group.start_ttl == start_ttl) return &group;
    }
    groups.push_back({start_ttl, {}, std::vector<uint32_t>(hops_.size())});
    return &groups.back();
  }

  bool IsTooOld(uint32_t packet, Nanos now) const {
    return now - matched_.packets[packet].time > window_;
  }

  uint32_t NewPacket(const SeenCopy& copy) {
    matched_.packets.push_back({copy.identity, copy.flow, copy.time, 0, 0});
    matched_.times.resize(matched_.times.size() + hops_.size());
    return static_cast<uint32_t>(matched_.packets.size() - 1);
  }

  uint64_t SeenBy(const Group& group) const {
    uint64_t seen = 0;
    for (const uint32_t packet : group.packets) seen |= matched_.packets[packet].seen;
    return seen;
  }

  // The path that was taken begins closest to the ingress; what has other TTLs is its detour.  Each
  // packet takes at most one of each group, in order.
  void JoinDetours(std::vector<Group>* groups) {
    const auto rank = [this](const Group& group) {
      const uint64_t seen = SeenBy(group);
      return std::make_tuple(seen & (~seen + 1), -group.start_ttl);
    };
    const auto first =
        std::min_element(groups->begin(), groups->end(),
                         [&](const Group& a, const Group& b) { return rank(a) < rank(b); });
    std::iter_swap(groups->begin(), first);
    const Group& main = groups->front();
    for (size_t i = 1; i < groups->size(); ++i) {
      size_t next = 0;
      for (const uint32_t stray : (*groups)[i].packets) {
        const MatchedPacket& from = matched_.packets[stray];
        while (next < main.packets.size() && IsTooOld(main.packets[next], from.time)) ++next;
        if (next == main.packets.size()) break;
        MatchedPacket& into = matched_.packets[main.packets[next]];
        if (into.time - from.time > window_) continue;
        into.detour |= from.seen;
        joined_.push_back(stray);
        ++next;
      }
    }
  }

  void RemoveJoined() {
    std::vector<bool> is_gone(matched_.packets.size());
    for (const uint32_t packet : joined_) is_gone[packet] = true;
    size_t kept = 0;
    const size_t width = hops_.size();
    for (size_t i = 0; i < matched_.packets.size(); ++i) {
      if (is_gone[i]) continue;
      matched_.packets[kept] = matched_.packets[i];
      std::copy_n(matched_.times.begin() + static_cast<long>(i * width), width,
                  matched_.times.begin() + static_cast<long>(kept * width));
      ++kept;
    }
    matched_.packets.resize(kept);
    matched_.times.resize(kept * width);
  }

  const std::vector<uint16_t>& hops_;
  const Nanos window_;
  std::unordered_map<Uint128, std::vector<Group>, IdentityHash> groups_;
  MatchedPackets matched_;
  std::vector<uint32_t> joined_;
};

}  // namespace

MatchedPackets MatchCopies(std::vector<SeenCopy> copies, const std::vector<uint16_t>& hops,
                           Nanos window) {
  std::stable_sort(copies.begin(), copies.end(),
                   [](const SeenCopy& a, const SeenCopy& b) { return a.time < b.time; });
  Matcher matcher(hops, window);
  for (const SeenCopy& copy : copies) matcher.Add(copy);
  return matcher.Finish();
}

}  // namespace trumpet
