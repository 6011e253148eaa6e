// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// LiveTopology: the network as the file and LLDP together tell it, and who hears when it changes.
//
// The file wins on names, weights and edge ports.  A link of the file that LLDP has never seen is
// believed, for it may lead over what drops LLDP; one that LLDP has seen is lost when it is seen no
// more, as long as the switches at both ends are connected.  A switch that the file does not know
// is named by its datapath id.
//
// Threads: one.  Observers are called from within the calls that change it, must outlive it or be
// removed, and must not call back.

#ifndef TRUMPET_CONTROLLER_TOPOLOGY_LIVE_TOPOLOGY_H
#define TRUMPET_CONTROLLER_TOPOLOGY_LIVE_TOPOLOGY_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "controller/plan/topology_change.h"
#include "controller/topology/link_discovery.h"

namespace trumpet {

class LiveTopology {
 public:
  void AddObserver(TopologyObserver* observer) { observers_.push_back(observer); }
  void RemoveObserver(TopologyObserver* observer);

  void SetFile(Topology file);
  // Datapath ids of the switches that are connected.
  void SetSwitches(std::set<uint64_t> connected);
  void SetLinks(std::vector<DiscoveredLink> links);

  const Topology& file() const { return file_; }
  const Topology& topology() const { return merged_; }
  // With the ages of links, of which `links` tell the latest.
  Topology WithAges(const std::vector<DiscoveredLink>& links, Nanos now) const;
  // Of the file's switches whose datapath id is known.
  std::set<SwitchPortId> EdgePorts() const;

 private:
  using Ends = TopologyChange::LinkEnds;

  void Merge();
  std::map<uint64_t, std::string> MergeSwitches(Topology* merged) const;
  void MergeLinks(const std::map<uint64_t, std::string>& names, Topology* merged);
  bool IsConnected(const std::string& name) const;

  Topology file_;
  Topology merged_;
  std::set<uint64_t> connected_;
  std::vector<DiscoveredLink> links_;
  std::map<Ends, size_t> most_seen_;  // parallel links of the file that LLDP has seen at once
  std::vector<TopologyObserver*> observers_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TOPOLOGY_LIVE_TOPOLOGY_H
