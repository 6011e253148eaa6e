// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FlowKey: the innermost 5-tuple and its zone.  Absent ports are 0.

#ifndef TRUMPET_LIB_PACKET_FLOW_KEY_H
#define TRUMPET_LIB_PACKET_FLOW_KEY_H

#include <emmintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "lib/packet/parsed_packet.h"

namespace trumpet {

// Compared and hashed as bytes, so every byte is always set.
struct FlowKey {
  IpBytes src_ip{};
  IpBytes dst_ip{};
  uint16_t src_port = 0;
  uint16_t dst_port = 0;
  uint8_t protocol = 0;
  uint8_t ip_family = 0;  // 4, 6, or 0: not IP, all else 0
  uint16_t zone = 0;

  bool operator==(const FlowKey& other) const {
    const auto* a = reinterpret_cast<const __m128i*>(this);
    const auto* b = reinterpret_cast<const __m128i*>(&other);
    const __m128i ips =
        _mm_and_si128(_mm_cmpeq_epi8(_mm_loadu_si128(a), _mm_loadu_si128(b)),
                      _mm_cmpeq_epi8(_mm_loadu_si128(a + 1), _mm_loadu_si128(b + 1)));
    uint64_t rest_a;
    uint64_t rest_b;
    std::memcpy(&rest_a, a + 2, sizeof rest_a);
    std::memcpy(&rest_b, b + 2, sizeof rest_b);
    return _mm_movemask_epi8(ips) == 0xffff && rest_a == rest_b;
  }
  bool operator!=(const FlowKey& other) const { return !(*this == other); }
};
static_assert(sizeof(FlowKey) == 40 && std::has_unique_object_representations_v<FlowKey>);

// The ports and all after them are written as one word: what is stored in pieces cannot be read
// back as a whole without a stall, and keys are hashed and compared in whole words right away.
inline FlowKey MakeFlowKey(const Headers& headers, uint16_t zone, uint8_t family) {
  FlowKey key;
  const bool has_ports = headers.Has(Field::kSrcPort);
  const uint64_t ports =
      has_ports ? headers.src_port | static_cast<uint64_t>(headers.dst_port) << 16 : 0;
  const uint64_t rest = ports | static_cast<uint64_t>(headers.protocol) << 32 |
                        static_cast<uint64_t>(family) << 40 | static_cast<uint64_t>(zone) << 48;
  static_assert(offsetof(FlowKey, src_port) == 32 && offsetof(FlowKey, dst_port) == 34 &&
                offsetof(FlowKey, protocol) == 36 && offsetof(FlowKey, ip_family) == 37 &&
                offsetof(FlowKey, zone) == 38 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  key.src_ip = headers.src_ip;
  key.dst_ip = headers.dst_ip;
  std::memcpy(reinterpret_cast<uint8_t*>(&key) + 32, &rest, sizeof rest);
  return key;
}

inline FlowKey FlowKeyOf(const ParsedPacket& packet, uint16_t zone) {
  const Headers& headers = packet.innermost;
  if (headers.ip_family == 0) {
    FlowKey key;
    key.zone = zone;
    return key;
  }
  return MakeFlowKey(headers, zone, headers.ip_family);
}

// The same conversation seen from the other side.
inline FlowKey Reversed(const FlowKey& key) {
  FlowKey reversed = key;
  reversed.src_ip = key.dst_ip;
  reversed.dst_ip = key.src_ip;
  reversed.src_port = key.dst_port;
  reversed.dst_port = key.src_port;
  return reversed;
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_FLOW_KEY_H
