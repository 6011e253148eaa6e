// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// LinkDiscovery: finds the links between switches by LLDP frames that it sends out of their ports
// and has handed back where they arrive.
//
// A link is there when frames come through it both ways, and gone when none has come one way for
// `forget_after`, or when one of its ports or switches is gone.  A frame counts once, and only for
// `frame_life` after it was sent, so an old one cannot be played back.  Edge ports, behind which
// are hosts, are sent nothing, and what comes from them is counted and dropped.
//
// Threads: one.  Time is what the caller says; monotonic.
// Lifetime: the port and the listener must outlive it; they are called from within the calls below,
// and must not call back.
// Memory: bounded by max_ports; ports beyond are not probed, and are counted.

#ifndef TRUMPET_CONTROLLER_TOPOLOGY_LINK_DISCOVERY_H
#define TRUMPET_CONTROLLER_TOPOLOGY_LINK_DISCOVERY_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "controller/topology/lldp.h"
#include "lib/base/units.h"

namespace trumpet {

// How frames come to switches.  What cannot be sent is lost.
class PacketPort {
 public:
  virtual ~PacketPort() = default;
  virtual void SendPacketOut(uint64_t datapath_id, uint32_t port,
                             const std::vector<uint8_t>& frame) = 0;
};

struct DiscoveredLink {
  SwitchPortId a;  // the lesser
  SwitchPortId b;
  Nanos seen = 0;  // when a frame last came; of the two ways the one longer ago
};

class LinkListener {
 public:
  virtual ~LinkListener() = default;
  // Links() are others now, not only seen again.
  virtual void OnLinks() = 0;
};

struct LinkDiscoveryOptions {
  Nanos interval = kNanosPerSecond;            // between frames out of one port
  Nanos forget_after = 3500 * kNanosPerMilli;  // more than three intervals
  Nanos frame_life = 2 * kNanosPerSecond;      // longer than any way through a controller
  size_t max_ports = 65536;
  size_t max_burst = 8192;  // frames of one Tick(); the rest goes with the next one
};

struct LinkDiscoveryCounters {
  uint64_t sent = 0;
  uint64_t accepted = 0;
  uint64_t from_edge_ports = 0;
  uint64_t from_unknown_ports = 0;  // that are down, say
  uint64_t foreign = 0;
  uint64_t malformed = 0;
  uint64_t forged = 0;
  uint64_t stale = 0;  // ours, but late or heard before
  uint64_t ports_left_out = 0;
  uint64_t links_found = 0;
  uint64_t links_lost = 0;
};

class LinkDiscovery {
 public:
  // `random` draws 64 bits that nobody can foresee.
  LinkDiscovery(const LinkDiscoveryOptions& options, const LldpIdentity& identity,
                std::function<uint64_t()> random, PacketPort* port, LinkListener* listener);

  // The ports of a switch that are up now; more or fewer than before, or a new switch.
  void SetPorts(uint64_t datapath_id, const std::set<uint32_t>& ports, Nanos now);
  void RemoveSwitch(uint64_t datapath_id) { SetPorts(datapath_id, {}, 0); }
  void SetEdgePorts(std::set<SwitchPortId> edge_ports);

  // Any frame that a switch has handed to the controller.
  void OnPacketIn(const SwitchPortId& at, const uint8_t* frame, size_t size, Nanos now);
  // A few times per interval: sends what is due and forgets what is not heard any more.
  void Tick(Nanos now);

  std::vector<DiscoveredLink> Links() const;
  const LinkDiscoveryCounters& counters() const { return counters_; }

 private:
  struct Sent {
    uint64_t nonce = 0;
    Nanos at = 0;
    bool may_come = false;
  };
  struct Port {
    std::array<Sent, 4> sent;  // the last ones
    size_t next_sent = 0;
    uint64_t queued = 0;                // its place in the queue that counts
    std::optional<SwitchPortId> heard;  // where the last frame that came was sent
    Nanos heard_at = 0;
  };
  struct Due {
    Nanos at = 0;
    SwitchPortId id;
    uint64_t queued = 0;
  };
  using Ends = std::pair<SwitchPortId, SwitchPortId>;

  static Ends EndsOf(const SwitchPortId& a, const SwitchPortId& b);
  Port* Find(const SwitchPortId& id);
  void AddPort(const SwitchPortId& id, Nanos now);
  void RemovePort(const SwitchPortId& id);
  void Enqueue(const SwitchPortId& id, Port* port, Nanos at, bool is_first);
  void Send(const SwitchPortId& id, Port* port, Nanos now);
  // Whether it was sent out of there lately and has not come yet.
  bool Redeem(const LldpProbe& probe, Nanos now);
  void Hear(const SwitchPortId& at, Port* port, const SwitchPortId& from, Nanos now);
  void Unlink(const SwitchPortId& id, Port* port);
  void TellChanges();

  const LinkDiscoveryOptions options_;
  const LldpIdentity identity_;
  const std::function<uint64_t()> random_;
  PacketPort* const port_;
  LinkListener* const listener_;
  std::map<SwitchPortId, Port> ports_;
  std::set<SwitchPortId> edge_ports_;
  std::deque<Due> due_;  // by time
  std::set<Ends> links_;
  uint64_t queued_ = 0;
  Nanos next_forgetting_ = 0;
  bool has_changed_ = false;  // links_, since the listener was told
  LinkDiscoveryCounters counters_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TOPOLOGY_LINK_DISCOVERY_H
