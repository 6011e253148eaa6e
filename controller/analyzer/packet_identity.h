// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PacketIdentity: by what two copies are known to be of one packet.
//
// Hashed are the fields that no router changes: addresses, protocol, length, fragment and IP ID (or
// IPv6's extension headers), and the first bytes of what IP carries, among them its checksum, which
// stands for the rest.  Left out is what routers change: Ethernet and VLAN, TTL, DSCP and ECN, flow
// label, IPv4's options and checksum.  Retransmissions differ by their IP ID or, where that is
// always 0, not at all: then they are one identity, and copies are matched in the order of their
// arrival (copy_matching.h).
//
// Copies of a slice are cut alike, so what is hashed is 64 bytes of the payload, or 24 or 8 if less
// was kept; all of a shorter payload.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_ANALYZER_PACKET_IDENTITY_H
#define TRUMPET_CONTROLLER_ANALYZER_PACKET_IDENTITY_H

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/base/units.h"

namespace trumpet {

struct PacketIdentity {
  Uint128 hash = 0;
  uint64_t flow = 0;  // of addresses, protocol and ports
  uint8_t ttl = 0;
};

// What is hashed, byte after byte; and the TTL.  None if the packet is not IP.
struct InvariantBytes {
  std::vector<uint8_t> bytes;
  uint8_t ttl = 0;
};
std::optional<InvariantBytes> ReadInvariant(const uint8_t* packet, uint32_t captured,
                                            bool is_ethernet);

// `seed` from the machine's random source: nobody outside can make identities equal.
std::optional<PacketIdentity> IdentifyPacket(const uint8_t* packet, uint32_t captured,
                                             bool is_ethernet, uint64_t seed);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_PACKET_IDENTITY_H
