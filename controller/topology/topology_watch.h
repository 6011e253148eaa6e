// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TopologyWatch: keeps a LiveTopology up to date with what OpenFlow switches and LLDP over them
// tell.
//
// Each switch is given one flow that hands our LLDP, and nobody else's, to the controller.
//
// Threads: that of the libevent loop.
// Lifetime: loop, clock, net and topology must outlive it.  Its end leaves the flows, which are
// removed as all that is ours is.

#ifndef TRUMPET_CONTROLLER_TOPOLOGY_TOPOLOGY_WATCH_H
#define TRUMPET_CONTROLLER_TOPOLOGY_TOPOLOGY_WATCH_H

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/openflow/openflow_net.h"
#include "controller/topology/live_topology.h"
#include "lib/base/loop_event.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {

class TopologyWatch final : private OpenflowObserver, private PacketPort, private LinkListener {
 public:
  using Log = std::function<void(const char* level, const std::string& text)>;
  using IsPort = std::function<bool(const OpenflowSwitch& which, uint32_t port)>;

  TopologyWatch(event_base* base, const WireClock& clock, const LinkDiscoveryOptions& options,
                OpenflowNet* net, LiveTopology* topology, Log log);
  ~TopologyWatch() override;
  TopologyWatch(const TopologyWatch&) = delete;
  TopologyWatch& operator=(const TopologyWatch&) = delete;

  // Nothing is sent out of ports of which it is true: what goes into a tunnel to an analyzer takes
  // a number of its copies, and would look like a copy that was lost.
  void SetQuietPorts(IsPort is_quiet) { is_quiet_ = std::move(is_quiet); }

  // The file of the topology is another one.
  void OnFile() { discovery_.SetEdgePorts(topology_->EdgePorts()); }

  // With the ages of links.
  Topology Now() const { return topology_->WithAges(discovery_.Links(), clock_.MonotonicNow()); }
  const LinkDiscoveryCounters& counters() const { return discovery_.counters(); }

 private:
  void OnSwitch(OpenflowSwitch* which) override;
  void OnPorts(OpenflowSwitch* which) override;
  void OnPacketIn(OpenflowSwitch* which, const OpenflowMessage& packet_in) override;
  void SendPacketOut(uint64_t datapath_id, uint32_t port,
                     const std::vector<uint8_t>& frame) override;
  void OnLinks() override { topology_->SetLinks(discovery_.Links()); }

  const WireClock& clock_;
  OpenflowNet* const net_;
  LiveTopology* const topology_;
  const Log log_;
  IsPort is_quiet_;  // may be null
  LinkDiscovery discovery_;
  std::set<uint64_t> connected_;
  std::set<uint64_t> asked_;  // whose switch has, or is being given, our flow
  const std::shared_ptr<int> life_ = std::make_shared<int>();  // ours, for answers that come later
  LoopEvent ticker_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TOPOLOGY_TOPOLOGY_WATCH_H
