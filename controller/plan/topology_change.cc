// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/topology_change.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace trumpet {
namespace {

std::map<TopologyChange::LinkEnds, uint32_t> WeightsOf(const Topology& topology) {
  std::map<TopologyChange::LinkEnds, uint32_t> weights;
  for (const TopologyLink& link : topology.links) {
    const auto [at, is_new] =
        weights.emplace(TopologyChange::EndsOf(link.from, link.to), link.weight);
    if (!is_new) at->second = std::min(at->second, link.weight);
  }
  return weights;
}

std::map<std::string, uint64_t> SwitchesOf(const Topology& topology) {
  std::map<std::string, uint64_t> switches;
  for (const TopologySwitch& one : topology.switches) switches[one.name] = one.datapath_id;
  return switches;
}

// Keys that only one of the two has, or that differ in value.
template <typename Key, typename Value>
std::set<Key> Differences(const std::map<Key, Value>& before, const std::map<Key, Value>& after) {
  std::set<Key> keys;
  for (const auto& [key, value] : before) {
    const auto now = after.find(key);
    if (now == after.end() || now->second != value) keys.insert(key);
  }
  for (const auto& [key, value] : after) {
    if (before.count(key) == 0) keys.insert(key);
  }
  return keys;
}

}  // namespace

TopologyChange CompareTopologies(const Topology& before, const Topology& after) {
  TopologyChange change;
  change.switches = Differences(SwitchesOf(before), SwitchesOf(after));
  change.links = Differences(WeightsOf(before), WeightsOf(after));
  return change;
}

}  // namespace trumpet
