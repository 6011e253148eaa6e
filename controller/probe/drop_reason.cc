// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/probe/drop_reason.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "controller/probe/probe_findings.h"
#include "lib/model/trace_rule.h"

namespace trumpet {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxFrame = 65535 + 18;
constexpr uint32_t kLastPort = 0xffffff00;  // above are LOCAL and the like

template <typename T>
T Get(const Json& json, const char* key, T otherwise) {
  const auto found = json.find(key);
  if (found == json.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>) {
    return found->is_string() ? found->get<std::string>() : otherwise;
  } else {
    return found->is_number_unsigned() ? found->get<T>() : otherwise;
  }
}

// Copies in some tunnels are of IP only.
std::string WithEthernet(const std::string& ip) {
  std::string frame(12, '\0');
  const bool is_ipv6 = !ip.empty() && (static_cast<uint8_t>(ip[0]) >> 4) == 6;
  frame += is_ipv6 ? std::string("\x86\xdd", 2) : std::string("\x08\x00", 2);
  return frame + ip;
}

std::string PortText(const SwitchState& state, uint32_t number) {
  const auto found = state.ports.find(number);
  const std::string name = found == state.ports.end() ? "" : " (" + found->second.name + ")";
  return "port " + std::to_string(number) + name;
}

std::optional<DropReason> BlameMeters(const SwitchState& state, const FlowWalk& walk) {
  for (const uint32_t number : walk.meters) {
    const auto meter = state.meters.find(number);
    if (meter == state.meters.end() || meter->second.dropped == 0) continue;
    return DropReason{"meter", "meter " + std::to_string(number) + " of flow '" + walk.flow +
                                   "' has dropped " + std::to_string(meter->second.dropped) +
                                   " of " + std::to_string(meter->second.packets) + " packets"};
  }
  return std::nullopt;
}

std::optional<DropReason> BlamePorts(const SwitchState& state, const FlowWalk& walk) {
  for (const uint32_t number : walk.ports) {
    if (number > kLastPort) continue;
    const auto port = state.ports.find(number);
    if (port == state.ports.end()) {
      return DropReason{"no_port", "flow '" + walk.flow + "' sends it to port " +
                                       std::to_string(number) + ", which is not there"};
    }
    if (!port->second.is_up) return DropReason{"port_down", PortText(state, number) + " is down"};
  }
  return std::nullopt;
}

std::optional<DropReason> BlameQueues(const SwitchState& state, const FlowWalk& walk) {
  for (const uint32_t number : walk.ports) {
    const auto count = state.port_counts.find(number);
    if (count == state.port_counts.end()) continue;
    const uint64_t dropped = count->second.tx_dropped;
    if (dropped == 0 || dropped == kUnknownCount) continue;
    return DropReason{"queue", PortText(state, number) + " has dropped " + std::to_string(dropped) +
                                   " packets that it was to send"};
  }
  return std::nullopt;
}

std::string Out(const SwitchState& state, const FlowWalk& walk) {
  std::string text;
  for (const uint32_t number : walk.ports) {
    text += (text.empty() ? " out of " : ", ") + PortText(state, number);
  }
  return text;
}

}  // namespace

std::optional<WalkedPacket> ReadWalkedPacket(const std::string& trace, const std::string& at) {
  const Json told = Json::parse(trace, nullptr, false);
  if (!told.is_object() || !told.contains("frame") || !told["frame"].is_object()) {
    return std::nullopt;
  }
  if (!told.contains("path") || !told["path"].is_array()) return std::nullopt;
  const Json* last = nullptr;
  for (const Json& hop : told["path"]) {
    if (hop.is_object() && Get<std::string>(hop, "switch", "") == at) last = &hop;
  }
  if (last == nullptr) return std::nullopt;
  WalkedPacket packet;
  packet.frame = FromHex(Get<std::string>(told["frame"], "hex", ""));
  if (Get<std::string>(told["frame"], "link", "") == "ip") {
    packet.frame = WithEthernet(packet.frame);
  }
  if (packet.frame.size() < 14) return std::nullopt;
  const size_t bytes = Get<uint64_t>(told, "bytes", 0);
  packet.frame.resize(std::max(packet.frame.size(), std::min(bytes, kMaxFrame)));
  packet.ttl = static_cast<uint8_t>(Get<uint64_t>(*last, "ttl", 64));
  const auto tag = static_cast<uint32_t>(Get<uint64_t>(*last, "tag", 0));
  if (IsTraceTag(tag)) packet.in_port = TraceTagPort(tag);
  return packet;
}

DropReason ConcludeReason(const SwitchState& state, const WalkedPacket& packet, bool is_long) {
  const FlowWalk walk = WalkFlows(state.flows, packet);
  switch (walk.end) {
    case FlowWalk::End::kDropped:
      return {"flow", "flow '" + walk.flow + "' drops it, as it did " +
                          std::to_string(walk.packets) + " packets"};
    case FlowWalk::End::kNoFlow:
      return {"no_flow", "table " + std::to_string(walk.table) + " has no flow that takes it"};
    case FlowWalk::End::kExpired:
      return {"ttl", "its TTL is used up there: flow '" + walk.flow + "'"};
    case FlowWalk::End::kForwarded:
    case FlowWalk::End::kNotKnown:
      break;
  }
  // What was passed and forwarded until the walk could not go on is known all the same.
  if (auto meter = BlameMeters(state, walk)) return *meter;
  if (auto port = BlamePorts(state, walk)) return *port;
  if (is_long) return {"mtu", "only shorter packets pass" + Out(state, walk)};
  if (auto queue = BlameQueues(state, walk)) return *queue;
  if (walk.end == FlowWalk::End::kForwarded) {
    return {"not_known", "its flows send it on" + Out(state, walk) +
                             ", and no counter of the switch tells of it: look at the link"};
  }
  return {"not_known", "flow '" + walk.flow + "' does what cannot be followed from here"};
}

}  // namespace trumpet
