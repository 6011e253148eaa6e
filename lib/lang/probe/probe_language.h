// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The language of probes: which packets to send into the network, where and how many
// (docs/probes.md).  A packet is a line of fields, by the names that events have for them:
//
//   udp srcIP=10.0.1.1 dstIP=10.0.2.2 dstPort=80 dstMAC=02:00:00:00:00:02
//
// or a map of them; a request has one, and where it is to be sent:
//
//   {"switch": "leaf1", "port": 3, "packet": "udp srcIP=...", "count": 5, "rate": 10,
//    "via": ["spine2", "leaf4"]}
//
// Threads: no state; any thread.  Errors: returned, with their place: `packet:1:5: ...`.

#ifndef TRUMPET_LIB_LANG_PROBE_PROBE_LANGUAGE_H
#define TRUMPET_LIB_LANG_PROBE_PROBE_LANGUAGE_H

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/status.h"
#include "lib/packet/probe_frame.h"

namespace trumpet {

constexpr uint32_t kMaxProbePackets = 100;  // of one probe
constexpr uint32_t kMaxProbeRate = 10'000;  // packets per second
constexpr uint32_t kMaxProbeWait = 60;
constexpr size_t kMaxProbeVia = 16;  // switches

struct ProbeRequest {
  std::string switch_name;
  std::string port;  // by name or number
  ProbePacket packet;
  std::vector<std::string> via;  // switches that it has to pass next, in this order
  uint32_t count = 3;            // packets
  uint32_t rate = 10;            // of them per second
  uint32_t wait_seconds = 5;     // for traces, behind the last packet
};

Result<ProbePacket> ParseProbePacket(std::string_view text, std::string_view source_name);
// All of its fields, by name, as they are written.
std::vector<std::pair<std::string, std::string>> ProbePacketFields(const ProbePacket& packet);
// A line that reads back as an equal packet.
std::string PrintProbePacket(const ProbePacket& packet);

Result<ProbeRequest> ParseProbeRequestYaml(std::string_view text, std::string_view source_name);
Result<ProbeRequest> ParseProbeRequestJson(std::string_view text, std::string_view source_name);

}  // namespace trumpet

#endif  // TRUMPET_LIB_LANG_PROBE_PROBE_LANGUAGE_H
