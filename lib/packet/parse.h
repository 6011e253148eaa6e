// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ParsePacket: bytes of an Ethernet frame -> ParsedPacket.
//
// Threads: pure function.  Cost: no allocation, bounded by 8 VLAN tags, 16
// extension headers and 8 tunnel levels.  Never reads beyond `captured_length`.

#ifndef TRUMPET_LIB_PACKET_PARSE_H
#define TRUMPET_LIB_PACKET_PARSE_H

#include <array>
#include <cstdint>

#include "lib/packet/parsed_packet.h"

namespace trumpet {

constexpr int kMaxTunnelDepth = 8;
constexpr int kMaxTunnelPorts = 4;

// UDP destination ports at which tunnels are looked for; 0 = unused slot.
struct ParseOptions {
  std::array<uint16_t, kMaxTunnelPorts> vxlan_ports{4789, 0, 0, 0};
  std::array<uint16_t, kMaxTunnelPorts> geneve_ports{6081, 0, 0, 0};
};

// A frame as a driver or a capture file hands it over.
struct Frame {
  const uint8_t* data = nullptr;
  uint32_t captured_length = 0;  // bytes readable at data
  uint32_t wire_length = 0;      // bytes on the wire without FCS, >= captured_length
};

// Overwrites all of `packet` except in_port and has_in_port.
void ParsePacket(const Frame& frame, const ParseOptions& options, ParsedPacket* packet);

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_PARSE_H
