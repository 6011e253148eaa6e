// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RoceGroups: what many queue pairs have in common: packets lost behind one switch, congestion at
// one, a receiver that is not ready.
//
// Threads: one.  Memory: kMaxGroups of each kind; what belongs to further ones is counted.

#ifndef TRUMPET_CONTROLLER_TRACES_ROCE_GROUPS_H
#define TRUMPET_CONTROLLER_TRACES_ROCE_GROUPS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "controller/traces/roce_flow.h"

namespace trumpet {

struct RoceFlowKey {
  IpBytes src{};
  IpBytes dst{};
  uint8_t ip_family = 0;
  uint32_t queue_pair = 0;  // of the destination

  bool operator<(const RoceFlowKey& other) const {
    return std::tie(ip_family, src, dst, queue_pair) <
           std::tie(other.ip_family, other.src, other.dst, other.queue_pair);
  }
};

RoceFlowKey KeyOf(const RoceSight& sight);

enum class RoceFinding : uint8_t {
  kLoss,         // between two switches
  kLossUnknown,  // NAKs say so, and nothing where
  kCongestion,   // behind a switch
  kNotified,     // hosts were told of congestion, of which no copy has the mark
  kNotReady,
  kRefused,  // with another NAK
  kReordered,
  kCorrupt,
};

// Of what a group is.
struct RoceGroupKey {
  RoceFinding finding = RoceFinding::kLoss;
  int32_t at = kNoPlace;    // switch
  int32_t next = kNoPlace;  // the next one
  IpBytes host{};           // whose fault it is
  uint8_t ip_family = 0;
  uint8_t code = 0;  // of a NAK

  bool operator<(const RoceGroupKey& other) const {
    return std::tie(finding, at, next, ip_family, host, code) <
           std::tie(other.finding, other.at, other.next, other.ip_family, other.host, other.code);
  }
};

struct RoceGroup {
  uint64_t packets = 0;
  uint64_t of = 0;  // of so many
  uint64_t flows = 0;
  uint64_t peak = 0;  // in a second, of one flow
  Nanos longest = 0;
  Nanos first = 0;
  Nanos last = 0;
  std::vector<RoceEvidence> evidence;
  std::vector<RoceFlowKey> flow_evidence;  // some of the flows
};

class RoceGroups {
 public:
  static constexpr size_t kMaxGroups = 1000;

  void Add(const RoceFlowKey& key, const RoceFlowCounts& counts);
  void Add(const RoceGroupKey& key, const RoceGroup& part);
  void AddAll(const RoceGroups& other);

  const std::map<RoceGroupKey, RoceGroup>& groups() const { return groups_; }
  const std::array<uint64_t, kRoceKinds>& kinds() const { return kinds_; }
  uint64_t packets() const { return packets_; }
  uint64_t copies() const { return copies_; }
  uint64_t naks() const { return naks_; }
  uint64_t copies_missing() const { return copies_missing_; }
  uint64_t undecided() const { return undecided_; }
  uint64_t not_kept() const { return not_kept_; }

 private:
  void AddLosses(const RoceFlowKey& key, const RoceFlowCounts& counts);
  void AddCongestion(const RoceFlowKey& key, const RoceFlowCounts& counts);
  void AddAnswers(const RoceFlowKey& key, const RocePlaceCounts& main);

  std::map<RoceGroupKey, RoceGroup> groups_;
  std::array<uint64_t, kRoceKinds> kinds_{};
  uint64_t packets_ = 0;
  uint64_t copies_ = 0;
  uint64_t naks_ = 0;
  uint64_t copies_missing_ = 0;
  uint64_t undecided_ = 0;
  uint64_t not_kept_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_ROCE_GROUPS_H
