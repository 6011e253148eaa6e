// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/packet_identity.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "lib/base/byte_order.h"
#include "lib/base/hash.h"

namespace trumpet {
namespace {

constexpr uint32_t kEthernetBytes = 14;
constexpr uint32_t kTagBytes = 4;
constexpr int kMaxTags = 4;
constexpr uint32_t kPortBytes = 4;
constexpr uint8_t kTcp = 6;
constexpr uint8_t kUdp = 17;
constexpr uint32_t kIpv4MinBytes = 20;
constexpr uint32_t kIpv6Bytes = 40;
constexpr std::array<uint32_t, 3> kKept = {64, 24, 8};  // of the payload
constexpr size_t kMaxInvariant = kIpv6Bytes + 64;

// Bytes on the stack: a packet costs no allocation.
struct Invariant {
  std::array<uint8_t, kMaxInvariant> bytes;
  size_t size = 0;
  uint8_t ttl = 0;
  // What names the flow: protocol, addresses, ports.
  std::array<uint8_t, 1 + 32 + 4> flow;
  size_t flow_size = 0;

  // Of a payload, `counted` bytes of which are taken.  Most have more than is taken: then the size
  // is known here, and the copy is a few instructions.
  void AddPayload(const uint8_t* payload, size_t counted, uint32_t captured) {
    if (captured >= kKept[0]) {
      std::memcpy(bytes.data() + size, payload, kKept[0]);
    } else {
      std::memcpy(bytes.data() + size, payload, counted);
    }
    size += counted;
  }
  void AddToFlow(const uint8_t* more, size_t count) {
    std::memcpy(flow.data() + flow_size, more, count);
    flow_size += count;
  }
  void Add(const uint8_t* more, size_t count) {
    std::memcpy(bytes.data() + size, more, count);
    size += count;
  }
};

// How much of a payload of `stated` bytes, `captured` of which are there, counts.
size_t CountedBytes(uint32_t stated, uint32_t captured) {
  if (captured >= stated) return std::min(stated, kKept[0]);
  for (const uint32_t kept : kKept) {
    if (captured >= kept) return kept;
  }
  return 0;
}

bool ReadIpv4(const uint8_t* ip, uint32_t captured, Invariant* invariant) {
  const uint32_t header_bytes = (ip[0] & 15u) * 4;
  const uint32_t total_bytes = LoadBe16(ip + 2);
  if (header_bytes < kIpv4MinBytes || captured < header_bytes) return false;
  invariant->ttl = ip[8];
  invariant->Add(ip + 2, 6);   // length, ID, fragment
  invariant->Add(ip + 9, 1);   // protocol
  invariant->Add(ip + 12, 8);  // addresses
  const uint32_t stated = total_bytes > header_bytes ? total_bytes - header_bytes : 0;
  const size_t counted = CountedBytes(stated, captured - header_bytes);
  invariant->AddPayload(ip + header_bytes, counted, captured - header_bytes);
  invariant->AddToFlow(ip + 9, 1);
  invariant->AddToFlow(ip + 12, 8);
  const bool has_ports = (LoadBe16(ip + 6) & 0x3fff) == 0 && counted >= kPortBytes;
  if (has_ports) invariant->AddToFlow(ip + header_bytes, kPortBytes);
  return true;
}

// Extension headers count as payload.
bool ReadIpv6(const uint8_t* ip, uint32_t captured, Invariant* invariant) {
  if (captured < kIpv6Bytes) return false;
  invariant->ttl = ip[7];
  invariant->Add(ip + 4, 3);   // length, next header
  invariant->Add(ip + 8, 32);  // addresses
  const size_t counted = CountedBytes(LoadBe16(ip + 4), captured - kIpv6Bytes);
  invariant->AddPayload(ip + kIpv6Bytes, counted, captured - kIpv6Bytes);
  invariant->AddToFlow(ip + 6, 1);
  invariant->AddToFlow(ip + 8, 32);
  const bool has_ports = (ip[6] == kTcp || ip[6] == kUdp) && counted >= kPortBytes;
  if (has_ports) invariant->AddToFlow(ip + kIpv6Bytes, kPortBytes);
  return true;
}

bool Read(const uint8_t* packet, uint32_t captured, bool is_ethernet, Invariant* invariant) {
  uint32_t at = 0;
  if (is_ethernet) {
    if (captured < kEthernetBytes) return false;
    at = kEthernetBytes;
    uint16_t type = LoadBe16(packet + 12);
    for (int tags = 0; tags < kMaxTags && (type == 0x8100 || type == 0x88a8); ++tags) {
      if (captured - at < kTagBytes) return false;
      type = LoadBe16(packet + at + 2);
      at += kTagBytes;
    }
    if (type != 0x0800 && type != 0x86dd) return false;
  }
  if (captured - at < kIpv4MinBytes) return false;
  const uint8_t* ip = packet + at;
  switch (ip[0] >> 4) {
    case 4:
      return ReadIpv4(ip, captured - at, invariant);
    case 6:
      return ReadIpv6(ip, captured - at, invariant);
    default:
      return false;
  }
}

// Not inlined: GCC takes xxhash's branches for longer inputs to be reached.
[[gnu::noinline]] Uint128 Hash128(const uint8_t* bytes, size_t size, uint64_t seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes, size, seed);
  return Uint128{hash.high64} << 64 | hash.low64;
}

[[gnu::noinline]] uint64_t Hash64(const uint8_t* bytes, size_t size, uint64_t seed) {
  return HashBytes(bytes, size, seed);
}

}  // namespace

std::optional<InvariantBytes> ReadInvariant(const uint8_t* packet, uint32_t captured,
                                            bool is_ethernet) {
  Invariant invariant;
  if (!Read(packet, captured, is_ethernet, &invariant)) return std::nullopt;
  const uint8_t* const begin = invariant.bytes.data();
  return InvariantBytes{{begin, begin + invariant.size}, invariant.ttl};
}

std::optional<PacketIdentity> IdentifyPacket(const uint8_t* packet, uint32_t captured,
                                             bool is_ethernet, uint64_t seed) {
  Invariant invariant;
  if (!Read(packet, captured, is_ethernet, &invariant)) return std::nullopt;
  PacketIdentity identity;
  identity.hash = Hash128(invariant.bytes.data(), invariant.size, seed);
  identity.flow = Hash64(invariant.flow.data(), invariant.flow_size, seed);
  identity.ttl = invariant.ttl;
  return identity;
}

}  // namespace trumpet
