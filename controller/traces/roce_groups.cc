// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/roce_groups.h"

#include <algorithm>

namespace trumpet {
namespace {

template <typename T>
void KeepSome(const std::vector<T>& from, std::vector<T>* to) {
  for (const T& one : from) {
    if (to->size() < kRoceEvidence) to->push_back(one);
  }
}

uint64_t DataOf(const RocePlaceCounts& place) {
  const auto of = [&place](RoceKind kind) { return place.kinds[static_cast<size_t>(kind)]; };
  return of(RoceKind::kSend) + of(RoceKind::kWrite) + of(RoceKind::kReadRequest) +
         of(RoceKind::kReadResponse) + of(RoceKind::kAtomic);
}

RoceGroup PartOf(const RoceFlowKey& key, const RocePlaceCounts& place, uint64_t packets,
                 uint64_t of) {
  RoceGroup part;
  part.packets = packets;
  part.of = of;
  part.flows = 1;
  part.first = place.first;
  part.last = place.last;
  part.flow_evidence = {key};
  return part;
}

}  // namespace

RoceFlowKey KeyOf(const RoceSight& sight) {
  return {sight.flow.src_ip, sight.flow.dst_ip, sight.flow.ip_family, sight.roce->queue_pair};
}

void RoceGroups::Add(const RoceGroupKey& key, const RoceGroup& part) {
  const auto found = groups_.find(key);
  if (found == groups_.end()) {
    if (groups_.size() >= kMaxGroups) {
      not_kept_ += part.packets;
      return;
    }
    groups_.emplace(key, part);
    return;
  }
  RoceGroup& group = found->second;
  group.packets += part.packets;
  group.of += part.of;
  group.flows += part.flows;
  group.peak = std::max(group.peak, part.peak);
  group.longest = std::max(group.longest, part.longest);
  group.first = std::min(group.first, part.first);
  group.last = std::max(group.last, part.last);
  KeepSome(part.evidence, &group.evidence);
  KeepSome(part.flow_evidence, &group.flow_evidence);
}

void RoceGroups::AddAll(const RoceGroups& other) {
  for (const auto& [key, group] : other.groups_) Add(key, group);
  for (size_t i = 0; i < kRoceKinds; ++i) kinds_[i] += other.kinds_[i];
  packets_ += other.packets_;
  copies_ += other.copies_;
  naks_ += other.naks_;
  copies_missing_ += other.copies_missing_;
  undecided_ += other.undecided_;
  not_kept_ += other.not_kept_;
}

void RoceGroups::Add(const RoceFlowKey& key, const RoceFlowCounts& counts) {
  const RocePlaceCounts* const main = counts.Main();
  if (main == nullptr) return;
  packets_ += main->packets;
  for (size_t i = 0; i < kRoceKinds; ++i) kinds_[i] += main->kinds[i];
  for (const RocePlaceCounts& place : counts.places) {
    copies_ += place.packets;
    if (place.corrupt == 0) continue;
    Add({RoceFinding::kCorrupt, place.switch_number, kNoPlace, {}, 0, 0},
        PartOf(key, place, place.corrupt, place.packets));
  }
  copies_missing_ += counts.copies_missing;
  undecided_ += counts.undecided;
  AddLosses(key, counts);
  AddCongestion(key, counts);
  AddAnswers(key, *main);
}

void RoceGroups::AddLosses(const RoceFlowKey& key, const RoceFlowCounts& counts) {
  const auto number = [&counts](int i) {
    return i == kNoPlace ? kNoPlace : int32_t{counts.places[static_cast<size_t>(i)].switch_number};
  };
  const RocePlaceCounts& main = *counts.Main();
  for (const auto& [ends, loss] : counts.losses) {
    RoceGroup part = PartOf(key, main, loss.packets, DataOf(main));
    part.evidence = loss.evidence;
    Add({RoceFinding::kLoss, number(ends.first), number(ends.second), {}, 0, 0}, part);
  }
  // Where no NAK names them, late packets have been overtaken.
  if (!counts.losses.empty() || !counts.nak_evidence.empty()) return;
  for (const RocePlaceCounts& place : counts.places) {
    if (place.late == 0) continue;
    RoceGroup part = PartOf(key, place, place.late, DataOf(place));
    part.evidence = counts.gap_evidence;
    Add({RoceFinding::kReordered, place.switch_number, kNoPlace, {}, 0, 0}, part);
    break;
  }
}

// A mark that is there at one switch and was not at the one before was set where it left that one.
void RoceGroups::AddCongestion(const RoceFlowKey& key, const RoceFlowCounts& counts) {
  uint64_t marked = 0;
  int32_t before = kNoPlace;
  for (const RocePlaceCounts& place : counts.places) {
    if (place.marked > marked) {
      RoceGroup part = PartOf(key, place, place.marked - marked, DataOf(place));
      part.evidence = {{place.first, place.switch_number, place.port, 0}};
      Add({RoceFinding::kCongestion, before, place.switch_number, {}, 0, 0}, part);
      marked = place.marked;
    }
    before = place.switch_number;
  }
}

// Packets to a sender that say why its packets were not taken, or to send less.
void RoceGroups::AddAnswers(const RoceFlowKey& key, const RocePlaceCounts& main) {
  const auto add = [&](RoceFinding finding, uint8_t code, uint64_t packets) {
    if (packets == 0) return;
    RoceGroup part = PartOf(key, main, packets, main.packets);
    part.longest = main.longest_wait;
    part.peak = main.cnp_peak;
    part.evidence = {{main.first, main.switch_number, main.port, 0}};
    Add({finding, kNoPlace, kNoPlace, key.src, key.ip_family, code}, part);
  };
  for (uint8_t code = 0; code <= kNakCodes; ++code) {
    naks_ += main.naks[code];
    add(code == kNakSequence ? RoceFinding::kLossUnknown : RoceFinding::kRefused, code,
        main.naks[code]);
  }
  add(RoceFinding::kNotReady, 0, main.not_ready);
  add(RoceFinding::kNotified, 0, main.kinds[static_cast<size_t>(RoceKind::kCnp)]);
}

}  // namespace trumpet
