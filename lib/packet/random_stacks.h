// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RandomStacks: for tests, frames of headers drawn at random from a seed, through tunnels in
// tunnels.

#ifndef TRUMPET_LIB_PACKET_RANDOM_STACKS_H
#define TRUMPET_LIB_PACKET_RANDOM_STACKS_H

#include <cstdint>
#include <random>

#include "lib/packet/test_frames.h"

namespace trumpet {
namespace test_frames {

// Frames of headers drawn at random, each the one that the header before it announces.
class RandomStacks {
 public:
  explicit RandomStacks(uint32_t seed) : random_(seed) {}

  Bytes Frame(int depth) {
    Bytes inside;
    const uint16_t type = Network(depth, &inside);
    return Ethernet(type, inside);
  }

 private:
  uint32_t Below(uint32_t bound) { return random_() % bound; }

  // The type of what is put into `out`.
  uint16_t Network(int depth, Bytes* out) {
    switch (Below(6)) {
      case 0: {
        Bytes inside;
        const uint16_t type = Network(depth, &inside);
        *out = Tag(static_cast<uint16_t>(Below(65536)), type, inside);
        return Below(2) == 0 ? 0x8100 : 0x88a8;
      }
      case 1:
        *out = Labels(Join({Be32(Below(1u << 20) << 12 | 0x140), Ip(depth)}));
        return 0x8847;
      default: {
        *out = Ip(depth);
        return (*out)[0] >> 4 == 4 ? 0x0800 : 0x86dd;
      }
    }
  }

  Bytes Labels(const Bytes& last) {
    return Below(2) == 0 ? last : Labels(Join({Be32((16 + Below(1u << 19)) << 12 | 0x40), last}));
  }

  Bytes Ip(int depth) {
    Bytes inside;
    const uint8_t protocol = Transport(depth, &inside);
    if (Below(2) == 0) {
      Ipv4Header header{protocol};
      header.ttl = static_cast<uint8_t>(1 + Below(255));
      header.tos = static_cast<uint8_t>(Below(256));
      header.src += Below(1000);
      header.options = Bytes(4 * Below(3), 1);
      return Ipv4(header, inside);
    }
    Ipv6Header header{protocol};
    if (Below(3) == 0) {
      header.next_header = 60;
      // Padding that takes the whole of the header.
      const uint32_t units = Below(3);
      inside =
          Join({{protocol, static_cast<uint8_t>(units), 1, static_cast<uint8_t>(4 + 8 * units)},
                Zeros(4 + 8 * units),
                inside});
    }
    header.hop_limit = static_cast<uint8_t>(1 + Below(255));
    return Ipv6(header, inside);
  }

  uint16_t Port() { return static_cast<uint16_t>(45000 + Below(1000)); }

  uint8_t Transport(int depth, Bytes* out) {
    switch (depth > 0 ? Below(7) : 3 + Below(3)) {
      case 0:
        *out = Ip(depth - 1);
        return (*out)[0] >> 4 == 4 ? 4 : 41;
      case 1:
        *out = InGre(depth - 1);
        return kProtocolGre;
      case 2:
        *out = UdpTunnel(depth - 1);
        return kProtocolUdp;
      case 6:
        *out = Frame(depth - 1);
        return 143;
      case 3:
        *out = Tcp({Port(), Port()}, Zeros(Below(40)));
        return kProtocolTcp;
      case 4:
        *out = Udp(Port(), Port(), Zeros(Below(40)));
        return kProtocolUdp;
      default:
        *out = Zeros(Below(40));
        return 253;  // for experiments
    }
  }

  Bytes UdpTunnel(int depth) {
    const uint32_t kind = Below(3);
    if (kind == 0) return Udp(Port(), 4789, Vxlan(Below(1u << 24), Frame(depth)));
    const Bytes ip = Ip(depth);
    if (kind == 1) {
      return Udp(Port(), 6635, Labels(Join({Be32(Below(1u << 20) << 12 | 0x140), ip})));
    }
    const bool has_ethernet = Below(2) == 0;
    const uint16_t ip_type = ip[0] >> 4 == 4 ? 0x0800 : 0x86dd;
    const Bytes inside = has_ethernet ? Ethernet(ip_type, ip) : ip;
    return Udp(Port(), 6081, Geneve(Below(1u << 24), has_ethernet ? 0x6558 : ip_type, {}, inside));
  }

  Bytes InGre(int depth) {
    const uint32_t kind = Below(5);
    uint16_t flags = static_cast<uint16_t>(Below(4) << 12);  // key and sequence
    if (kind == 1) flags &= 0x2000;                          // else it were ERSPAN II
    if (kind == 2) flags |= 0x1000;
    Bytes fields;
    if ((flags & 0x2000) != 0) fields = Be32(random_());
    if ((flags & 0x1000) != 0) fields = Join({fields, Be32(random_())});
    const uint32_t word = random_() & 0x0fffffff;
    switch (kind) {
      case 0:
        return Gre(flags, 0x6558, fields, Frame(depth));
      case 1:
        return Gre(flags, 0x88be, fields, Frame(depth));
      case 2:
        return Gre(flags, 0x88be, fields,
                   Join({Be32(word | 0x10000000), Be32(Below(1u << 20)), Frame(depth)}));
      case 3:
        return Gre(flags, 0x22eb, fields, Erspan3(word, depth));
      default: {
        const Bytes ip = Ip(depth);
        return Gre(flags, ip[0] >> 4 == 4 ? 0x0800 : 0x86dd, fields, ip);
      }
    }
  }

  Bytes Erspan3(uint32_t word, int depth) {
    const bool has_platform = Below(2) == 0;
    const uint32_t last = (random_() & 0x83fe) | (has_platform ? 1 : 0);  // without frame type
    return Join({Be32(word | 0x20000000), Be32(random_()), Be16(Below(65536)), Be16(last),
                 has_platform ? Zeros(8) : Bytes(), Frame(depth)});
  }

  std::mt19937 random_;
};

}  // namespace test_frames
}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_RANDOM_STACKS_H
