// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// AddressPairs: addresses that a middlebox (NAT, a load balancer) puts in the place of others, as
// an administrator declares them; and what a packet is when none has been replaced yet.
//
//   AddressPairs pairs;
//   pairs.Add("10.9.0.2=10.3.0.1");   // the address outside, and what it becomes inside
//
// A packet with the one or the other has the identity of the packet inside: its checksum is
// corrected as a middlebox would, so that what lies behind its first bytes still counts.
//
// Threads: constant once it is made.

#ifndef TRUMPET_CONTROLLER_ANALYZER_ADDRESS_PAIRS_H
#define TRUMPET_CONTROLLER_ANALYZER_ADDRESS_PAIRS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "controller/analyzer/packet_identity.h"
#include "lib/base/status.h"

namespace trumpet {

class AddressPairs {
 public:
  static constexpr size_t kMaxPairs = 4096;

  // The error says what is wrong with it.
  Status Add(std::string_view outside_and_inside);
  bool empty() const { return inside_of_.empty(); }
  size_t size() const { return pairs_; }

  // Of an IP packet; none as IdentifyPacket() has it.
  std::optional<PacketIdentity> Identify(const uint8_t* ip, uint32_t captured,
                                         uint64_t seed) const {
    return empty() ? IdentifyPacket(ip, captured, false, seed) : IdentifyInside(ip, captured, seed);
  }

 private:
  using Address = std::array<uint8_t, 17>;  // the family, then its bytes; zeroes behind IPv4

  std::optional<PacketIdentity> IdentifyInside(const uint8_t* ip, uint32_t captured,
                                               uint64_t seed) const;
  const Address* InsideOf(uint8_t family, size_t size, const uint8_t* address) const;

  std::map<Address, Address> inside_of_;  // of those inside, too: themselves
  size_t pairs_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_ADDRESS_PAIRS_H
