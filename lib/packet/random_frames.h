// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FrameMaker: for tests, frames drawn at random from a seed, and damaged.

#ifndef TRUMPET_LIB_PACKET_RANDOM_FRAMES_H
#define TRUMPET_LIB_PACKET_RANDOM_FRAMES_H

#include <algorithm>
#include <cstdint>
#include <random>

#include "lib/packet/parsed_packet.h"
#include "lib/packet/test_frames.h"

namespace trumpet {
namespace test_frames {

// Puts random but mostly sound frames together.
class FrameMaker {
 public:
  explicit FrameMaker(uint32_t seed) : random_(seed) {}

  uint32_t Below(uint32_t bound) { return random_() % bound; }
  bool OneIn(uint32_t bound) { return Below(bound) == 0; }

  Bytes MakeEthernet(int depth) {
    uint16_t type = 0x0806;
    Bytes payload = RandomBytes(Below(30));
    if (!OneIn(10)) payload = MakeIp(depth, &type);
    const uint32_t tags = OneIn(3) ? Below(11) : 0;
    for (uint32_t i = 0; i < tags; ++i) {
      payload = Tag(static_cast<uint16_t>(Below(65536)), type, payload);
      type = OneIn(2) ? 0x8100 : 0x88a8;
    }
    return Ethernet(type, payload);
  }

  // Damages a frame: wrong bytes, a cut end, or bytes too many.
  void Mutate(Bytes* frame) {
    for (uint32_t i = Below(5); i > 0 && !frame->empty(); --i) {
      const uint32_t place = OneIn(2) ? Below(size(*frame)) : Below(std::min(90u, size(*frame)));
      (*frame)[place] = OneIn(2) ? static_cast<uint8_t>(random_()) : kOddBytes[Below(12)];
    }
    if (OneIn(3)) frame->resize(Below(size(*frame) + 1));
    if (OneIn(6)) frame->resize(frame->size() + Below(60));
  }

 private:
  static constexpr uint8_t kOddBytes[12] = {0, 1, 2, 3, 4, 6, 8, 17, 44, 47, 51, 255};

  static uint32_t size(const Bytes& bytes) { return static_cast<uint32_t>(bytes.size()); }

  Bytes RandomBytes(uint32_t count) {
    Bytes bytes(count);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_());
    return bytes;
  }

  Bytes MakeIp(int depth, uint16_t* type) {
    uint8_t protocol = kProtocolTcp;
    Bytes payload = MakeTransport(depth, &protocol);
    if (OneIn(2)) {
      *type = 0x86dd;
      for (uint32_t i = OneIn(3) ? Below(19) : 0; i > 0; --i) Extend(&protocol, &payload);
      test_frames::Ipv6Header header{protocol, {}, static_cast<uint8_t>(random_()), 64};
      if (OneIn(6)) header.payload_length = static_cast<uint16_t>(Below(120));
      return Ipv6(header, payload);
    }
    *type = 0x0800;
    test_frames::Ipv4Header header;
    header.protocol = protocol;
    header.tos = static_cast<uint8_t>(random_());
    header.options = Zeros(OneIn(4) ? 4 * Below(11) : 0);
    if (OneIn(6)) header.total_length = static_cast<uint16_t>(Below(120));
    if (OneIn(8)) header.fragment = static_cast<uint16_t>(OneIn(2) ? 0x2000 : random_());
    return Ipv4(header, payload);
  }

  void Extend(uint8_t* protocol, Bytes* payload) {
    static constexpr uint8_t kKinds[] = {0, 43, 51, 60, 135, 139, 140};
    if (OneIn(10)) {
      const uint16_t word = static_cast<uint16_t>(OneIn(2) ? Below(2) : Below(65536));
      *payload = FragmentExtension(*protocol, word, *payload);
      *protocol = 44;
      return;
    }
    const uint8_t kind = kKinds[Below(7)];
    const uint8_t units = static_cast<uint8_t>(Below(3));
    *payload = Extension(*protocol, kind == 51 ? 2 * units : units, *payload);
    *protocol = kind;
  }

  Bytes MakeTransport(int depth, uint8_t* protocol) {
    const bool may_tunnel = depth > 0 && !OneIn(depth > 2 ? 12 : 2);
    switch (may_tunnel ? Below(3) : 3 + Below(4)) {
      case 0:
        *protocol = kProtocolUdp;
        return Udp(static_cast<uint16_t>(random_()), 4789,
                   Vxlan(Below(1 << 24), MakeEthernet(depth - 1)));
      case 1: {
        *protocol = kProtocolUdp;
        uint16_t type;
        const Bytes inside = MakeInside(depth - 1, &type);
        return Udp(9, 6081, Geneve(Below(1 << 24), type, RandomBytes(4 * Below(4)), inside));
      }
      case 2: {
        *protocol = kProtocolGre;
        uint16_t type;
        const Bytes inside = MakeInside(depth - 1, &type);
        const uint16_t flags = static_cast<uint16_t>(Below(16) << 12 & 0xb000);
        const uint32_t words = __builtin_popcount(flags);
        return Gre(flags, type, RandomBytes(4 * words), inside);
      }
      case 3:
        *protocol = kProtocolUdp;
        return Udp(static_cast<uint16_t>(random_()), 53, RandomBytes(Below(40)));
      case 4:
        *protocol = kProtocolSctp;
        return Sctp(5, static_cast<uint16_t>(random_()), RandomBytes(Below(40)));
      case 5:
        *protocol = static_cast<uint8_t>(random_());
        return RandomBytes(Below(40));
      default:
        *protocol = kProtocolTcp;
        return MakeTcp();
    }
  }

  Bytes MakeInside(int depth, uint16_t* type) {
    if (OneIn(2)) return MakeIp(depth, type);
    *type = 0x6558;
    return MakeEthernet(depth);
  }

  Bytes MakeTcp() {
    test_frames::TcpHeader header;
    header.flags = static_cast<uint16_t>(Below(4096));
    for (uint32_t i = Below(5); i > 0; --i) {
      static const Bytes kOptions[] = {{2, 4, 5, 180}, {1, 3, 3, 7}, {1, 1, 3, 3},
                                       {3, 3, 200, 0}, {2, 0, 5, 5}, {8, 4, 0, 0}};
      header.options = Join({header.options, kOptions[Below(6)]});
    }
    if (OneIn(8)) header.words = static_cast<uint8_t>(Below(16));
    return Tcp(header, RandomBytes(Below(40)));
  }

  std::mt19937 random_;
};

}  // namespace test_frames
}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_RANDOM_FRAMES_H
