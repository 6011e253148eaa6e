// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// OpenFlow messages as values; the bytes are Open vSwitch's business (of_codec.h).
//
// Flows, groups and meters are texts as ovs-ofctl takes them, with ports and tables by number.
//
// Threads: values and pure functions.

#ifndef TRUMPET_CONTROLLER_OPENFLOW_OPENFLOW_MESSAGE_H
#define TRUMPET_CONTROLLER_OPENFLOW_OPENFLOW_MESSAGE_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "controller/openflow/of_codec.h"
#include "lib/base/status.h"
#include "lib/base/units.h"

namespace trumpet {

constexpr uint64_t kUnknownCount = UINT64_MAX;

// What a switch says of one of its flows.
struct OpenflowFlow {
  uint64_t cookie = 0;
  uint8_t table = 0;
  uint16_t priority = 0;
  uint64_t packets = 0;  // or kUnknownCount
  uint64_t bytes = 0;    // or kUnknownCount
  Nanos duration = 0;
  std::string match;  // with the priority, always spelled alike
  std::string timeouts;
  std::string actions;

  // What makes it another flow if it differs: table, priority, match.
  std::string Place() const { return "table=" + std::to_string(table) + "," + match; }
  // As ovs-ofctl takes it.
  std::string Text() const {
    return Place() + (match.empty() ? "" : ",") + timeouts + "actions=" + actions;
  }
};

struct OpenflowPort {
  uint32_t number = 0;
  std::string name;
  std::array<uint8_t, 6> mac{};
  bool is_up = false;
  // Of a PORT_COUNTS message, which has numbers only besides; or kUnknownCount.
  uint64_t rx_packets = 0, tx_packets = 0, rx_bytes = 0, tx_bytes = 0, rx_dropped = 0,
           tx_dropped = 0;
};

// A table, a meter or a group.
struct OpenflowNumbered {
  uint32_t number = 0;
  uint64_t packets = 0;
  uint64_t bytes = 0;
  uint64_t dropped = 0;
  std::string text;
};

struct OpenflowMessage {
  trumpet_of_message head{};  // its packet pointer is null; see below
  std::string packet;
  std::vector<OpenflowFlow> flows;
  std::vector<OpenflowPort> ports;
  std::vector<OpenflowNumbered> numbered;
};

// One whole message.
Result<OpenflowMessage> DecodeOpenflow(std::string_view bytes);
// As `ovs-ofctl ofp-print` shows it.
std::string PrintOpenflow(std::string_view bytes);

struct OpenflowRule {
  enum class Kind : uint8_t { kFlow, kGroup, kMeter };

  Kind kind = Kind::kFlow;
  std::string text;     // "table=1,priority=5,ip,actions=output:2", "meter=1,pktps,band=..."
  uint64_t cookie = 0;  // of a flow
  bool lasts = true;    // false: it ends by itself, and is not brought back
};

std::string EncodeHello();
std::string EncodeHelloFailed(uint8_t version, const std::string& text);
std::string EncodeSimple(uint8_t version, trumpet_of_ask what, uint32_t xid);
std::string EncodeEchoReply(std::string_view request);
std::string EncodeRoleRequest(uint8_t version, uint32_t role, uint64_t generation, uint32_t xid);
// Of a deletion, too, the text is the whole rule.
Result<std::string> EncodeRule(uint8_t version, trumpet_of_change change, const OpenflowRule& rule,
                               uint32_t xid);
Result<std::string> EncodePacketOut(uint8_t version, uint32_t in_port, std::string_view packet,
                                    const std::string& actions, uint32_t xid);
// A frame that a match takes ("tcp,tp_dst=80"), with these bits of the IP header's second byte set,
// and known by `mark`, which is one of its MAC addresses.
using FrameMark = std::array<uint8_t, 6>;
Result<std::string> ComposeFrame(const std::string& match, uint8_t tos, const FrameMark& mark);
std::string EncodeFlowPurge(uint8_t version, uint64_t cookie, uint64_t cookie_mask, uint32_t xid);
std::string EncodeFlowStatsRequest(uint8_t version, bool is_sum, uint8_t table, uint64_t cookie,
                                   uint64_t cookie_mask, uint32_t xid);
constexpr uint8_t kAllTables = 0xff;
// Of the flows that lie within the match of `rule`, a flow.
Result<std::string> EncodeFlowLook(uint8_t version, bool is_sum, const OpenflowRule& rule,
                                   uint32_t xid);
std::string EncodeBundleControl(uint8_t version, uint32_t id, trumpet_of_bundle what, uint32_t xid);
std::string EncodeBundleAdd(uint8_t version, uint32_t id, std::string_view message);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_OPENFLOW_OPENFLOW_MESSAGE_H
