// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/topology/live_topology.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

namespace trumpet {
namespace {

std::string NameOf(uint64_t datapath_id) {
  char name[17];
  std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(datapath_id));
  return name;
}

// As seen from `from`, which is an end of it.
TopologyLink LinkOf(const DiscoveredLink& link, const std::string& a, const std::string& b) {
  TopologyLink one;
  one.from = a;
  one.to = b;
  one.source = LinkSource::kLldp;
  one.from_port = link.a.port;
  one.to_port = link.b.port;
  return one;
}

void TakePorts(const TopologyLink& seen, TopologyLink* link) {
  const bool is_turned = seen.from != link->from;
  link->source = LinkSource::kBoth;
  link->from_port = is_turned ? seen.to_port : seen.from_port;
  link->to_port = is_turned ? seen.from_port : seen.to_port;
}

}  // namespace

void LiveTopology::RemoveObserver(TopologyObserver* observer) {
  observers_.erase(std::remove(observers_.begin(), observers_.end(), observer), observers_.end());
}

void LiveTopology::SetFile(Topology file) {
  file_ = std::move(file);
  most_seen_.clear();
  Merge();
}

void LiveTopology::SetSwitches(std::set<uint64_t> connected) {
  connected_ = std::move(connected);
  Merge();
}

void LiveTopology::SetLinks(std::vector<DiscoveredLink> links) {
  links_ = std::move(links);
  Merge();
}

std::set<SwitchPortId> LiveTopology::EdgePorts() const {
  std::set<SwitchPortId> ports;
  for (const TopologySwitch& one : file_.switches) {
    if (one.datapath_id == 0) continue;
    for (const uint32_t port : one.edge_ports) ports.insert({one.datapath_id, port});
  }
  return ports;
}

Topology LiveTopology::WithAges(const std::vector<DiscoveredLink>& links, Nanos now) const {
  std::map<std::string, uint64_t> ids;
  for (const TopologySwitch& one : merged_.switches) ids[one.name] = one.datapath_id;
  std::map<SwitchPortId, Nanos> seen;  // by both ends
  for (const DiscoveredLink& link : links) seen[link.a] = seen[link.b] = link.seen;
  Topology topology = merged_;
  for (TopologyLink& link : topology.links) {
    const auto found = seen.find({ids[link.from], link.from_port});
    if (link.source != LinkSource::kFile && found != seen.end()) link.age = now - found->second;
  }
  return topology;
}

// --- merging ---

void LiveTopology::Merge() {
  Topology merged;
  merged.hosts = file_.hosts;
  const std::map<uint64_t, std::string> names = MergeSwitches(&merged);
  MergeLinks(names, &merged);
  const TopologyChange change = CompareTopologies(merged_, merged);
  merged_ = std::move(merged);
  if (change.is_empty()) return;
  for (TopologyObserver* const observer : observers_) observer->OnTopologyChange(merged_, change);
}

// Names by datapath id.
std::map<uint64_t, std::string> LiveTopology::MergeSwitches(Topology* merged) const {
  std::map<uint64_t, std::string> names;
  std::set<std::string> taken;
  for (const TopologySwitch& one : file_.switches) {
    if (one.datapath_id != 0) names.emplace(one.datapath_id, one.name);
    taken.insert(one.name);
  }
  for (const TopologyHost& host : file_.hosts) taken.insert(host.name);
  merged->switches = file_.switches;
  for (const uint64_t id : connected_) {
    const auto [at, is_new] = names.emplace(id, NameOf(id));
    if (!is_new) continue;
    while (taken.count(at->second) != 0) at->second += '\'';
    TopologySwitch& one = merged->switches.emplace_back();
    one.name = at->second;
    one.datapath_id = id;
    one.is_in_file = false;
  }
  return names;
}

bool LiveTopology::IsConnected(const std::string& name) const {
  for (const TopologySwitch& one : file_.switches) {
    if (one.name == name) return connected_.count(one.datapath_id) != 0;
  }
  return false;
}

void LiveTopology::MergeLinks(const std::map<uint64_t, std::string>& names, Topology* merged) {
  std::map<Ends, std::vector<TopologyLink>> seen;
  for (const DiscoveredLink& link : links_) {
    const auto a = names.find(link.a.datapath_id);
    const auto b = names.find(link.b.datapath_id);
    if (a == names.end() || b == names.end() || a == b) continue;
    seen[TopologyChange::EndsOf(a->second, b->second)].push_back(
        LinkOf(link, a->second, b->second));
  }
  std::map<Ends, size_t> used;
  std::map<Ends, uint32_t> weights;
  for (TopologyLink link : file_.links) {
    const Ends ends = TopologyChange::EndsOf(link.from, link.to);
    weights.emplace(ends, link.weight);
    const auto found = seen.find(ends);
    const size_t count = found == seen.end() ? 0 : found->second.size();
    const size_t index = used[ends]++;
    size_t& most = most_seen_[ends];
    if (index < count) {
      TakePorts(found->second[index], &link);
      most = std::max(most, index + 1);
    } else if (index < most && IsConnected(link.from) && IsConnected(link.to)) {
      merged->lost_links.push_back(link);
      continue;
    }
    merged->links.push_back(std::move(link));
  }
  for (const auto& [ends, links] : seen) {
    const auto weight = weights.find(ends);
    for (size_t i = used.count(ends) == 0 ? 0 : used[ends]; i < links.size(); ++i) {
      TopologyLink link = links[i];
      if (weight != weights.end()) link.weight = weight->second;
      merged->links.push_back(std::move(link));
    }
  }
}

}  // namespace trumpet
