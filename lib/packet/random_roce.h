// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RandomRoce: for tests, frames of RoCEv2 and frames that stop a sender, drawn from a seed.

#ifndef TRUMPET_LIB_PACKET_RANDOM_ROCE_H
#define TRUMPET_LIB_PACKET_RANDOM_ROCE_H

#include <cstdint>
#include <iterator>
#include <random>

#include "lib/packet/roce.h"
#include "lib/packet/test_frames.h"

namespace trumpet {
namespace test_frames {

// What stands in the base header.
struct BaseHeader {
  uint8_t opcode = 4;
  uint8_t flags = 0;  // solicited, migrated, padding, version
  uint16_t partition = 0xffff;
  uint8_t congestion = 0;  // forward, backward
  uint32_t queue_pair = 1;
  bool wants_acknowledgement = false;
  uint32_t sequence = 0;
};

inline Bytes Base(const BaseHeader& header) {
  return Join({{header.opcode, header.flags},
               Be16(header.partition),
               Be32(static_cast<uint32_t>(header.congestion) << 24 | header.queue_pair),
               Be32((header.wants_acknowledgement ? 0x80000000u : 0u) | header.sequence)});
}

// `ip` without its payload's checksum: with the right one behind it.
inline Bytes WithIcrc(const Bytes& ip) {
  return Join({ip, Be32(MakeIcrc(ip.data(), static_cast<uint32_t>(ip.size())).value_or(0))});
}

// RoCE in IP of either version; `rest` is what follows the base header, up to the checksum.
inline Bytes RoceFrame(const BaseHeader& header, const Bytes& rest, bool is_ipv6 = false,
                       uint8_t traffic_class = 0, uint16_t src_port = 49152) {
  const Bytes roce = Join({Base(header), rest});
  const size_t udp_bytes = 8 + roce.size() + kIcrcBytes;
  const Bytes udp = Join({Be16(src_port), Be16(kRocePort), Be16(udp_bytes), Zeros(2), roce});
  if (is_ipv6) {
    Ipv6Header ip{kProtocolUdp, static_cast<uint16_t>(udp_bytes), traffic_class};
    return Ethernet(0x86dd, WithIcrc(Ipv6(ip, udp)));
  }
  Ipv4Header ip{kProtocolUdp, static_cast<uint16_t>(20 + udp_bytes)};
  ip.tos = traffic_class;
  return Ethernet(0x0800, WithIcrc(Ipv4(ip, udp)));
}

// To the address of all frames that stop a sender, padded to the least size of Ethernet.
inline Bytes ControlFrame(uint16_t opcode, const Bytes& rest, uint8_t source = 1) {
  Bytes frame = Join({{1, 0x80, 0xc2, 0, 0, 1},
                      {2, 0, 0, 0, 0, source},
                      Be16(kMacControlType),
                      Be16(opcode),
                      rest});
  if (frame.size() < 60) frame.resize(60);
  return frame;
}

inline Bytes PfcFrame(uint8_t priorities, const std::array<uint16_t, 8>& quanta,
                      uint8_t source = 1) {
  Bytes rest = Be16(priorities);
  for (const uint16_t one : quanta) rest = Join({rest, Be16(one)});
  return ControlFrame(0x0101, rest, source);
}

class RandomRoce {
 public:
  explicit RandomRoce(uint64_t seed) : random_(seed) {}

  // Of any opcode: mostly those that there are, with about as many bytes as they need.
  Bytes Frame() {
    static constexpr uint8_t kServices[] = {0, 0, 0, 1, 3, 2, 5};
    BaseHeader header;
    header.opcode = static_cast<uint8_t>(kServices[Below(std::size(kServices))] << 5 | Below(24));
    return FrameOf(header.opcode);
  }
  Bytes AnyFrame() {
    switch (Below(8)) {
      case 0:
        return FrameOf(0x81);
      case 1:
        return FrameOf(static_cast<uint8_t>(Below(256)));
      case 2:
        return Control();
      default:
        return Frame();
    }
  }

  Bytes FrameOf(uint8_t opcode) {
    BaseHeader header;
    header.opcode = opcode;
    header.flags = static_cast<uint8_t>(Below(16) << 4 | (Below(20) == 0 ? Below(16) : 0));
    header.partition = static_cast<uint16_t>(Below(65536));
    header.congestion = static_cast<uint8_t>(Below(4) << 6);
    header.queue_pair = Below(1u << 24);
    header.wants_acknowledgement = Below(2) == 0;
    header.sequence = Below(1u << 24);
    const bool is_padded = opcode == 0x81;
    const Bytes rest = is_padded ? Zeros(16) : Random(4 * Below(20));
    return RoceFrame(header, rest, Below(2) == 0, static_cast<uint8_t>(Below(256)));
  }

  Bytes Control() {
    if (Below(2) == 0) return ControlFrame(1, Be16(Below(65536)));
    std::array<uint16_t, 8> quanta{};
    for (uint16_t& one : quanta) one = static_cast<uint16_t>(Below(3) == 0 ? 0 : Below(65536));
    return PfcFrame(static_cast<uint8_t>(Below(256)), quanta);
  }

  // Something else in one bit, or cut short.
  Bytes Spoilt(Bytes frame) {
    if (Below(2) == 0) frame.resize(Below(static_cast<uint32_t>(frame.size() + 1)));
    for (uint32_t i = Below(4); i > 0 && !frame.empty(); --i) {
      frame[Below(static_cast<uint32_t>(frame.size()))] ^= static_cast<uint8_t>(1u << Below(8));
    }
    return frame;
  }

  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }

 private:
  Bytes Random(size_t count) {
    Bytes bytes(count);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_());
    return bytes;
  }

  std::mt19937_64 random_;
};

}  // namespace test_frames
}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_RANDOM_ROCE_H
