// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FlowKey: the innermost 5-tuple and its zone.  Absent ports are 0.

#ifndef TRUMPET_LIB_PACKET_FLOW_KEY_H
#define TRUMPET_LIB_PACKET_FLOW_KEY_H

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
    return std::memcmp(this, &other, sizeof *this) == 0;
  }
  bool operator!=(const FlowKey& other) const { return !(*this == other); }
};
static_assert(sizeof(FlowKey) == 40 && std::has_unique_object_representations_v<FlowKey>);

inline FlowKey FlowKeyOf(const ParsedPacket& packet, uint16_t zone) {
  FlowKey key;
  const Headers& headers = packet.innermost;
  key.zone = zone;
  key.ip_family = headers.ip_family;
  if (headers.ip_family == 0) return key;
  key.src_ip = headers.src_ip;
  key.dst_ip = headers.dst_ip;
  key.protocol = headers.protocol;
  if (headers.Has(Field::kSrcPort)) {
    key.src_port = headers.src_port;
    key.dst_port = headers.dst_port;
  }
  return key;
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
