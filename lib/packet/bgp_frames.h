// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Messages of BGP for tests, put together part by part:
//
//     Open(65001, 9, 0x0a000001, Capability(65, Be32(65001)))
//     Update({}, Join({Attribute(1, {0}), ...}), Prefixes({{0x0a010000, 16}}))

#ifndef TRUMPET_LIB_PACKET_BGP_FRAMES_H
#define TRUMPET_LIB_PACKET_BGP_FRAMES_H

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "lib/packet/bgp.h"
#include "lib/packet/test_frames.h"

namespace trumpet {
namespace bgp_frames {

using test_frames::Be16;
using test_frames::Be32;
using test_frames::Bytes;
using test_frames::Join;

inline Bytes Byte(size_t value) { return {static_cast<uint8_t>(value)}; }

inline Bytes Message(uint8_t type, const Bytes& body) {
  return Join({Bytes(16, 0xff), Be16(kBgpHeaderBytes + body.size()), {type}, body});
}
inline Bytes Keepalive() { return Message(4, {}); }
inline Bytes Notification(uint8_t code, uint8_t subcode, const Bytes& data = {}) {
  return Message(3, Join({{code, subcode}, data}));
}
inline Bytes Capability(uint8_t code, const Bytes& value) {
  return Join({{code}, Byte(value.size()), value});
}
// `capabilities` are in one parameter, unless there are none.
inline Bytes Open(uint16_t as, uint16_t hold, uint32_t id, const Bytes& capabilities = {}) {
  const Bytes parameter =
      capabilities.empty() ? Bytes() : Join({{2}, Byte(capabilities.size()), capabilities});
  return Message(1, Join({{4}, Be16(as), Be16(hold), Be32(id), Byte(parameter.size()), parameter}));
}
inline Bytes Attribute(uint8_t type, const Bytes& value) {
  if (value.size() < 256) return Join({{0x40, type}, Byte(value.size()), value});
  return Join({{0x50, type}, Be16(value.size()), value});
}
inline Bytes Update(const Bytes& withdrawn, const Bytes& attributes, const Bytes& announced) {
  return Message(
      2, Join({Be16(withdrawn.size()), withdrawn, Be16(attributes.size()), attributes, announced}));
}
// Of IPv4; addresses and lengths.
inline Bytes Prefixes(const std::vector<std::pair<uint32_t, uint8_t>>& list) {
  Bytes all;
  for (const auto& [address, length] : list) {
    const Bytes four = Be32(address);
    all.push_back(length);
    all.insert(all.end(), four.begin(), four.begin() + (length + 7) / 8);
  }
  return all;
}
// `count` of them, of random lengths, none of 0: where that comes twice, tshark guesses at
// ADD-PATH.
inline Bytes RandomPrefixes(std::mt19937_64* random, size_t count) {
  std::vector<std::pair<uint32_t, uint8_t>> list;
  for (size_t i = 0; i < count; ++i) {
    const auto length = static_cast<uint8_t>(1 + (*random)() % 32);
    const auto address = static_cast<uint32_t>((*random)());
    list.emplace_back(address & ~uint32_t{0} << (32 - length), length);
  }
  return Prefixes(list);
}
// ORIGIN, AS_PATH and NEXT_HOP.
inline Bytes PathAttributes(uint32_t next_hop = 0x0a000001) {
  return Join({Attribute(1, {0}), Attribute(2, {}), Attribute(3, Be32(next_hop))});
}

}  // namespace bgp_frames
}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_BGP_FRAMES_H
