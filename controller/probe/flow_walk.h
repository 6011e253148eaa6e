// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// WalkFlows: what the flows of a switch do with a packet, as far as that can be told from outside:
// the flow of each table that takes it, and where its actions lead.  `ofproto/trace` knows more,
// and only whoever is on the switch's machine has it.
//
// Flows of ours are left out: they copy packets, and forward them through those of others.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_PROBE_FLOW_WALK_H
#define TRUMPET_CONTROLLER_PROBE_FLOW_WALK_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "controller/openflow/openflow_message.h"

namespace trumpet {

struct WalkedPacket {
  std::string frame;     // Ethernet; as long as it was, with zeroes where nothing was captured
  uint32_t in_port = 0;  // 0: not known, and flows of a port do not take it
  uint8_t ttl = 64;      // as it came to the switch
};

struct FlowWalk {
  enum class End : uint8_t {
    kForwarded,  // out of `ports`, or to where NORMAL, a group or the like send it
    kDropped,    // `flow` says so, or does nothing with it
    kNoFlow,     // `table` has none for it
    kExpired,    // `flow` takes a hop from its TTL, and that was the last one
    kNotKnown,   // `flow` does something after which this cannot tell
  };
  End end = End::kNotKnown;
  uint8_t table = 0;
  std::string flow;              // the last one that took it, as ovs-ofctl prints it
  uint64_t packets = 0;          // that the flow has taken
  std::vector<uint32_t> meters;  // that it has to pass before it is forwarded
  std::vector<uint32_t> ports;
};

FlowWalk WalkFlows(const std::vector<OpenflowFlow>& flows, const WalkedPacket& packet);

// "a,b(c,d),e" -> "a", "b(c,d)", "e".
std::vector<std::string> SplitActions(const std::string& actions);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PROBE_FLOW_WALK_H
