// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Why a switch dropped packets, by its flows, meters and ports (docs/traces.md).
//
// Threads: values and pure functions.

#ifndef TRUMPET_CONTROLLER_PROBE_DROP_REASON_H
#define TRUMPET_CONTROLLER_PROBE_DROP_REASON_H

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/openflow/openflow_message.h"
#include "controller/probe/flow_walk.h"

namespace trumpet {

// Where packets were lost, as an application over traces tells it.
struct SwitchOfDrops {
  std::string switch_name;        // behind which
  std::string trace;              // the id of one of them
  bool is_long = false;           // only long packets are lost there
  std::vector<std::string> next;  // where it ought to have come; one of them
};

struct DropReason {
  std::string word;  // "flow", "no_flow", "ttl", "meter", "no_port", "port_down", "mtu", "queue";
                     // "not_known"
  std::string why;   // for people, about the switch
  std::string at = {};  // the switch that is to blame; empty: that behind which they were lost
};

// Whoever can ask switches.
class DropReasons {
 public:
  using Answer = std::function<void(const std::vector<DropReason>& reasons)>;

  virtual ~DropReasons() = default;
  // One for each, in their order; from the loop, or at once.
  virtual void Explain(std::vector<SwitchOfDrops> places, Answer answer) = 0;
};

// What a switch says of itself.
struct SwitchState {
  std::vector<OpenflowFlow> flows;
  std::map<uint32_t, OpenflowPort> ports;
  std::map<uint32_t, OpenflowPort> port_counts;
  std::map<uint32_t, OpenflowNumbered> meters;
};

// The packet of a trace, as controller/traces writes it with its headers, where it came to the
// switch for the last time; none: it never did, or its headers are not there.
std::optional<WalkedPacket> ReadWalkedPacket(const std::string& trace, const std::string& at);

DropReason ConcludeReason(const SwitchState& state, const WalkedPacket& packet, bool is_long);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PROBE_DROP_REASON_H
