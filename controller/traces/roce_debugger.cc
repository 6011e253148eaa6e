// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/roce_debugger.h"

#include <iterator>
#include <utility>

#include "controller/analyzer/trace_packet.h"
#include "controller/traces/roce_text.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

RoceFlowKey Lowest(const RoceFlowKey& key) {
  RoceFlowKey lowest = key;
  lowest.queue_pair = 0;
  return lowest;
}

}  // namespace

RoceDebugger::Entry& RoceDebugger::FindFlow(const RoceFlowKey& key) {
  const auto found = flows_.find(key);
  if (found != flows_.end()) {
    ages_.splice(ages_.end(), ages_, found->second.age);
    return found->second;
  }
  if (flows_.size() >= options_.max_flows) {
    const auto oldest = flows_.find(ages_.front());
    evicted_.Add(oldest->first, oldest->second.flow.Finish());
    flows_.erase(oldest);
    ages_.pop_front();
    ++evicted_count_;
  }
  ages_.push_back(key);
  Entry entry{RoceFlow(options_.has_all_packets), std::prev(ages_.end())};
  return flows_.emplace(key, std::move(entry)).first->second;
}

void RoceDebugger::Take(const RoceSight& sight) {
  ++sights_;
  if (sight.control) {
    pauses_.Take(sight);
    return;
  }
  FindFlow(KeyOf(sight)).flow.Take(sight);
  const auto& ack = sight.roce->ack;
  const bool names_missing = ack && ack->kind == RoceAckKind::kNak && ack->value == kNakSequence;
  if (names_missing && options_.has_all_packets) PassNak(sight);
}

// The sender's queue pair does not say which one of the receiver it goes with: that is the one
// between the same hosts whose packets have such numbers now, if there is one alone.
void RoceDebugger::PassNak(const RoceSight& sight) {
  RoceFlowKey key = KeyOf(sight);
  std::swap(key.src, key.dst);
  RoceFlow* found = nullptr;
  uint64_t count = 0;
  for (auto it = flows_.lower_bound(Lowest(key)); it != flows_.end(); ++it) {
    const bool is_between_them = it->first.src == key.src && it->first.dst == key.dst &&
                                 it->first.ip_family == key.ip_family;
    if (!is_between_them) break;
    if (!it->second.flow.IsNear(sight.roce->sequence)) continue;
    found = &it->second.flow;
    ++count;
  }
  if (count == 1) {
    found->NoteNak(sight.roce->sequence, sight);
  } else {
    ++naks_without_flow_;
  }
}

void RoceDebugger::TakeDrop(const RoceSight& sight) {
  RoceGroup part;
  part.packets = 1;
  part.first = part.last = sight.time;
  part.evidence = {{sight.time, sight.switch_number, sight.port, sight.roce->sequence}};
  const bool is_first = dropped_flows_.size() < options_.max_flows &&
                        dropped_flows_.emplace(sight.switch_number, KeyOf(sight)).second;
  if (is_first) {
    part.flows = 1;
    part.flow_evidence = {KeyOf(sight)};
  }
  drops_.Add({RoceFinding::kLoss, sight.switch_number, kNoPlace, {}, 0, 0}, part);
}

void RoceDebugger::TakeStored(const StoredTrace& trace, bool is_drop) {
  const bool is_ip = (trace.marks & kMarkIp) != 0;
  auto sight = ReadRoceSight(reinterpret_cast<const uint8_t*>(trace.packet.data()),
                             static_cast<uint32_t>(trace.packet.size()),
                             is_ip ? LayerKind::kIpv4 : LayerKind::kEthernet);
  if (!sight || (is_drop && !sight->roce)) return;
  for (const StoredHop& hop : trace.hops) {
    sight->time = hop.time;
    sight->switch_number = hop.switch_number;
    sight->port = PortOfTag(hop.tag);
    if (!is_drop) {
      Take(*sight);
    } else if (hop.switch_number == trace.last_switch) {
      return TakeDrop(*sight);
    }
  }
}

Json RoceDebugger::Findings(const SwitchBook& switches) const {
  RoceGroups groups = evicted_;
  for (const auto& [key, entry] : flows_) groups.Add(key, entry.flow.Finish());
  groups.AddAll(drops_);
  Json findings = Json::array();
  for (Json& storm : PauseFindings(pauses_.Finish(), options_.pauses, switches)) {
    findings.push_back(std::move(storm));
  }
  for (Json& one : GroupFindings(groups, options_.has_all_packets, switches)) {
    findings.push_back(std::move(one));
  }
  bool is_abnormal = false;
  for (const Json& one : findings) is_abnormal |= one["verdict"] != "paused";
  if (!is_abnormal) findings.push_back(NothingFound(groups, pauses_));
  return findings;
}

Json RoceDebugger::Flows(const SwitchBook& switches) const {
  Json list = Json::array();
  for (const auto& [key, entry] : flows_) {
    list.push_back(FlowJson(key, entry.flow.Finish(), switches));
  }
  return list;
}

Json RoceDebugger::Sums() const {
  RoceGroups groups = evicted_;
  for (const auto& [key, entry] : flows_) groups.Add(key, entry.flow.Finish());
  return {{"copies", sights_},
          {"packets", groups.packets()},
          {"kinds", KindsJson(groups.kinds())},
          {"naks", groups.naks()},
          {"pause_frames", pauses_.frames()},
          {"queue_pairs", flows_.size() + evicted_count_},
          {"evicted", evicted_count_},
          {"copies_missing", groups.copies_missing()},
          {"undecided", groups.undecided()},
          {"naks_without_queue_pair", naks_without_flow_},
          {"not_kept", groups.not_kept() + pauses_.not_kept()}};
}

}  // namespace trumpet
