// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Frames for tests, put together header by header from the inside out:
//
//     Ethernet(0x0800, Ipv4({}, Udp(1, 4789, Vxlan(7, Ethernet(0x0806, {})))))

#ifndef TRUMPET_LIB_PACKET_TEST_FRAMES_H
#define TRUMPET_LIB_PACKET_TEST_FRAMES_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "lib/packet/parse.h"

namespace trumpet {
namespace test_frames {

using Bytes = std::vector<uint8_t>;

inline Bytes Join(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

inline Bytes Be16(size_t value) {
  return {static_cast<uint8_t>(value >> 8), static_cast<uint8_t>(value)};
}

inline Bytes Be32(uint32_t value) { return Join({Be16(value >> 16), Be16(value & 0xffff)}); }

inline Bytes Zeros(size_t count) { return Bytes(count, 0); }

// From 02:00:00:00:00:01 to 02:00:00:00:00:02.
inline Bytes Ethernet(uint16_t type, const Bytes& payload) {
  return Join({{2, 0, 0, 0, 0, 2}, {2, 0, 0, 0, 0, 1}, Be16(type), payload});
}

// What follows a TPID: Ethernet(0x8100, Tag(5, 0x0800, ...)).
inline Bytes Tag(uint16_t tci, uint16_t type, const Bytes& payload) {
  return Join({Be16(tci), Be16(type), payload});
}

struct Ipv4Header {
  uint8_t protocol = kProtocolTcp;
  std::optional<uint16_t> total_length{};  // if not the true one
  uint16_t fragment = 0;                   // flags and offset
  Bytes options{};                         // a multiple of 4 bytes
  uint8_t tos = 0;
  uint8_t ttl = 64;
  uint32_t src = 0x0a000001;  // 10.0.0.1
  uint32_t dst = 0x0a000002;  // 10.0.0.2
};

inline Bytes Ipv4(const Ipv4Header& header, const Bytes& payload) {
  const size_t header_bytes = 20 + header.options.size();
  const size_t total = header.total_length.value_or(header_bytes + payload.size());
  const uint8_t version = static_cast<uint8_t>(0x40 + header_bytes / 4);
  return Join({{version, header.tos},
               Be16(total),
               {0, 0},
               Be16(header.fragment),
               {header.ttl, header.protocol, 0, 0},
               Be32(header.src),
               Be32(header.dst),
               header.options,
               payload});
}

struct Ipv6Header {
  uint8_t next_header = kProtocolTcp;
  std::optional<uint16_t> payload_length{};  // if not the true one
  uint8_t traffic_class = 0;
  uint8_t hop_limit = 64;
};

// From fd00::1 to fd00::2.
inline Bytes Ipv6(const Ipv6Header& header, const Bytes& payload) {
  return Join({Be32(0x60000000u | header.traffic_class << 20),
               Be16(header.payload_length.value_or(payload.size())),
               {header.next_header, header.hop_limit},
               {0xfd},
               Zeros(14),
               {1},
               {0xfd},
               Zeros(14),
               {2},
               payload});
}

// Hop-by-hop, routing, destination options and their like: `units` beyond 8 bytes.
inline Bytes Extension(uint8_t next_header, uint8_t units, const Bytes& payload) {
  return Join({{next_header, units}, Zeros(6 + 8u * units), payload});
}

// `word` is the offset in 8 bytes, shifted by 3, and the bit "more".
inline Bytes FragmentExtension(uint8_t next_header, uint16_t word, const Bytes& payload) {
  return Join({{next_header, 0}, Be16(word), {0, 0, 0, 9}, payload});
}

struct TcpHeader {
  uint16_t src_port = 1000;
  uint16_t dst_port = 80;
  uint16_t flags = kTcpAck;
  Bytes options{};                 // a multiple of 4 bytes
  std::optional<uint8_t> words{};  // data offset, if not the true one
};

inline Bytes Tcp(const TcpHeader& header, const Bytes& payload) {
  const size_t words = header.words.value_or(static_cast<uint8_t>(5 + header.options.size() / 4));
  return Join({Be16(header.src_port), Be16(header.dst_port), Be32(0x01020304), Be32(0x05060708),
               Be16(words << 12 | header.flags), Be16(0x1234), Zeros(4), header.options, payload});
}

inline Bytes Udp(uint16_t src_port, uint16_t dst_port, const Bytes& payload) {
  return Join({Be16(src_port), Be16(dst_port), Be16(8 + payload.size()), Zeros(2), payload});
}

inline Bytes Sctp(uint16_t src_port, uint16_t dst_port, const Bytes& payload) {
  return Join({Be16(src_port), Be16(dst_port), Zeros(8), payload});
}

inline Bytes Vxlan(uint32_t vni, const Bytes& ethernet) {
  return Join({{8, 0, 0, 0}, Be32(vni << 8), ethernet});
}

// `options` is a multiple of 4 bytes.
inline Bytes Geneve(uint32_t vni, uint16_t type, const Bytes& options, const Bytes& payload) {
  return Join({{static_cast<uint8_t>(options.size() / 4), 0},
               Be16(type),
               Be32(vni << 8),
               options,
               payload});
}

// `flags` is the first half of the header; `fields` are those that it announces.
inline Bytes Gre(uint16_t flags, uint16_t type, const Bytes& fields, const Bytes& payload) {
  return Join({Be16(flags), Be16(type), fields, payload});
}

// Copied to the heap exactly, so that a sanitizer sees a read beyond the end.
inline ParsedPacket Parse(const Bytes& captured, uint32_t wire_length,
                          const ParseOptions& options = {}) {
  const Bytes exact(captured.begin(), captured.end());
  ParsedPacket packet;
  ParsePacket({exact.data(), static_cast<uint32_t>(exact.size()), wire_length}, options, &packet);
  return packet;
}

inline ParsedPacket Parse(const Bytes& frame) {
  return Parse(frame, static_cast<uint32_t>(frame.size()));
}

}  // namespace test_frames
}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_TEST_FRAMES_H
