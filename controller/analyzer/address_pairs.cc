// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/address_pairs.h"

#include <algorithm>
#include <cstring>

#include "lib/base/byte_order.h"
#include "lib/packet/checksum.h"
#include "lib/packet/prefix.h"

namespace trumpet {
namespace {

constexpr uint32_t kIpv4MinBytes = 20;
constexpr uint32_t kIpv6Bytes = 40;
constexpr uint8_t kTcp = 6;
constexpr uint8_t kUdp = 17;
constexpr uint8_t kIcmpv6 = 58;
// The longest header and what IdentifyPacket() reads behind it.
constexpr size_t kBytesRead = 60 + 64;

// Of the checksum behind the header: it covers the addresses.
std::optional<uint32_t> ChecksumAt(uint8_t protocol, bool is_ipv6) {
  if (protocol == kTcp) return 16;
  if (protocol == kUdp) return 6;
  if (protocol == kIcmpv6 && is_ipv6) return 2;
  return std::nullopt;
}

// The two zeroes of this arithmetic are one here, for middleboxes write the one or the
// other; a datagram without a checksum has none behind them either.
void Correct(uint8_t* checksum, uint8_t protocol, uint32_t before, uint32_t after) {
  const uint16_t old = LoadBe16(checksum);
  if (protocol == kUdp && old == 0) return;
  const uint16_t repaired = RepairedChecksum(old, before, after);
  StoreBe16(checksum, repaired == 0 ? 0xffff : repaired);
}

}  // namespace

Status AddressPairs::Add(std::string_view outside_and_inside) {
  const std::string text(outside_and_inside);
  const size_t equals = text.find('=');
  const auto read = [&](const std::string& word, Address* address) {
    const auto prefix = ParsePrefix(word);
    const uint8_t bits = prefix.ok() && prefix->is_ipv6 ? 128 : 32;
    if (!prefix.ok() || prefix->length != bits || word.find('/') != word.npos) return false;
    const size_t size = bits / 8;
    const auto bytes = FirstOf(*prefix);
    (*address)[0] = prefix->is_ipv6 ? 6 : 4;
    for (size_t i = 0; i < size; ++i) {
      (*address)[1 + i] = static_cast<uint8_t>(bytes >> (8 * (size - 1 - i)));
    }
    return true;
  };
  Address outside{}, inside{};
  const bool is_pair = equals != text.npos && read(text.substr(0, equals), &outside) &&
                       read(text.substr(equals + 1), &inside) && outside[0] == inside[0] &&
                       outside != inside;
  if (!is_pair) {
    return Status::Error("'" + text + "' is no OUTSIDE=INSIDE, two addresses of one family");
  }
  const auto of_outside = inside_of_.find(outside);
  const auto of_inside = inside_of_.find(inside);
  const bool is_inside = of_outside != inside_of_.end() && of_outside->second == outside;
  const bool is_outside = of_inside != inside_of_.end() && of_inside->second != inside;
  if (is_inside || is_outside) {
    return Status::Error("'" + text + "': an address is outside and inside");
  }
  if (pairs_ == kMaxPairs) {
    return Status::Error("there are more than " + std::to_string(kMaxPairs) + " pairs");
  }
  if (of_outside != inside_of_.end()) {
    return Status::Error("'" + text + "': that address outside has another inside");
  }
  inside_of_.emplace(outside, inside);
  inside_of_.emplace(inside, inside);
  ++pairs_;
  return Status::Ok();
}

// What stands for the address inside: that of its pair, or itself; null if it is of no pair.
const AddressPairs::Address* AddressPairs::InsideOf(uint8_t family, size_t size,
                                                    const uint8_t* address) const {
  Address key{};
  key[0] = family;
  std::memcpy(key.data() + 1, address, size);
  const auto found = inside_of_.find(key);
  return found == inside_of_.end() ? nullptr : &found->second;
}

// Nothing is copied of a packet with neither address.
std::optional<PacketIdentity> AddressPairs::IdentifyInside(const uint8_t* ip, uint32_t captured,
                                                           uint64_t seed) const {
  const bool is_ipv6 = captured != 0 && ip[0] >> 4 == 6;
  const size_t size = is_ipv6 ? 16 : 4;
  const size_t source = is_ipv6 ? 8 : 12;
  if (captured < (is_ipv6 ? kIpv6Bytes : kIpv4MinBytes)) {
    return IdentifyPacket(ip, captured, false, seed);
  }
  const auto family = static_cast<uint8_t>(is_ipv6 ? 6 : 4);
  const Address* const inside[] = {InsideOf(family, size, ip + source),
                                   InsideOf(family, size, ip + source + size)};
  if (inside[0] == nullptr && inside[1] == nullptr) {
    return IdentifyPacket(ip, captured, false, seed);
  }
  std::array<uint8_t, kBytesRead> bytes{};
  const size_t taken = std::min<size_t>(captured, bytes.size());
  std::memcpy(bytes.data(), ip, taken);
  uint32_t before = 0, after = 0;
  for (size_t which = 0; which < 2; ++which) {
    if (inside[which] == nullptr) continue;
    uint8_t* const address = bytes.data() + source + which * size;
    before += SumOfWords(address, size);
    std::memcpy(address, inside[which]->data() + 1, size);
    after += SumOfWords(address, size);
  }
  const uint32_t header = is_ipv6 ? kIpv6Bytes : (ip[0] & 15u) * 4;
  const uint8_t protocol = ip[is_ipv6 ? 6 : 9];
  const bool is_first = is_ipv6 || (LoadBe16(ip + 6) & 0x1fff) == 0;
  const auto at = ChecksumAt(protocol, is_ipv6);
  if (is_first && at && header + *at + 2 <= taken) {
    Correct(bytes.data() + header + *at, protocol, before, after);
  }
  return IdentifyPacket(bytes.data(), captured, false, seed);
}

}  // namespace trumpet
