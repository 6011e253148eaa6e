// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Prefix: a block of addresses.

#ifndef TRUMPET_LIB_PACKET_PREFIX_H
#define TRUMPET_LIB_PACKET_PREFIX_H

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/status.h"
#include "lib/base/units.h"

namespace trumpet {

// An address with the bits that count.
struct Prefix {
  bool is_ipv6 = false;
  Uint128 address = 0;  // its most significant byte is the first one; IPv4 in the lowest 32 bits
  uint8_t length = 0;   // bits; at most 32 or 128

  bool operator==(const Prefix& other) const {
    return is_ipv6 == other.is_ipv6 && address == other.address && length == other.length;
  }
};

// First and last address of the block, whatever bits of `address` do not count.
Uint128 FirstOf(const Prefix& prefix);
Uint128 LastOf(const Prefix& prefix);

// "10.1.0.0/16", "2001:db8::/32"; an address alone is a prefix of full length.  Bits behind the
// length must be 0.
Result<Prefix> ParsePrefix(std::string_view text);
std::string PrintPrefix(const Prefix& prefix);

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_PREFIX_H
