// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The short way beside the long one: copies drawn at random, most of them usual but for something.

#include "controller/analyzer/usual_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "controller/analyzer/copy_kit_test.h"
#include "lib/model/trace_rule.h"
#include "lib/packet/random_stacks.h"
#include "lib/packet/test_frames.h"

namespace trumpet {
namespace {

using namespace test_frames;  // NOLINT: builders of frames

class CopiesByChance {
 public:
  explicit CopiesByChance(uint32_t seed) : random_(seed), stacks_(seed) {}

  uint32_t Below(uint32_t bound) { return random_() % bound; }

  Bytes Copy() { return InTunnel(Below(20) == 0 ? stacks_.Frame(1) : Packet()); }

  // One of its headers, or where it ends, is not what it was.
  Bytes Damaged(Bytes frame) {
    for (uint32_t i = Below(3); i > 0 && !frame.empty(); --i) {
      const uint32_t near = std::min<uint32_t>(static_cast<uint32_t>(frame.size()), 120);
      frame[Below(near)] = static_cast<uint8_t>(Below(4) == 0 ? Below(256) : 1u << Below(8));
    }
    if (Below(3) == 0) frame.resize(Below(static_cast<uint32_t>(frame.size()) + 8));
    return frame;
  }

  TraceCopyOptions Options() {
    TraceCopyOptions options;
    options.seed = Below(3);
    options.debug_dscp = Below(2) == 0 ? 0 : 8;
    options.leaves_slices = Below(2) == 0;
    if (Below(4) == 0) options.layers.ports.vxlan_ports[1] = 443;
    return options;
  }

 private:
  uint16_t Port() {
    constexpr uint16_t kPorts[] = {80, 443, 179, 4789, 4790, 4791, 6081, 6635, 0, 33434};
    return kPorts[Below(std::size(kPorts))];
  }

  Bytes Payload() {
    Bytes payload(Below(3) == 0 ? Below(10) : Below(100));
    for (uint8_t& byte : payload) byte = static_cast<uint8_t>(random_());
    if (Below(4) != 0) return payload;
    return Join({{'T', 'r', 'm', 'p', 0xf0, 0x9f, 0x8e, 0xba}, payload});
  }

  Bytes Transport(uint8_t protocol) {
    if (protocol == kProtocolUdp) return Udp(Port(), Port(), Payload());
    if (protocol != kProtocolTcp) return Payload();
    TcpHeader tcp;
    tcp.src_port = Port();
    tcp.dst_port = Port();
    tcp.flags = static_cast<uint16_t>(Below(256));
    tcp.options = Zeros(4 * (Below(3) == 0 ? Below(11) : 0));
    if (Below(20) == 0) tcp.words = static_cast<uint8_t>(Below(16));
    return Tcp(tcp, Payload());
  }

  Bytes Packet() {
    constexpr uint8_t kProtocols[] = {kProtocolTcp, kProtocolUdp, kProtocolTcp, kProtocolUdp,
                                      kProtocolIcmp};
    const uint8_t protocol = kProtocols[Below(std::size(kProtocols))];
    Bytes ip;
    const bool is_ipv6 = Below(3) == 0;
    if (is_ipv6) {
      Ipv6Header header{protocol};
      header.traffic_class = static_cast<uint8_t>(random_());
      header.hop_limit = static_cast<uint8_t>(random_());
      if (Below(20) == 0) header.payload_length = static_cast<uint16_t>(Below(200));
      ip = Ipv6(header, Transport(protocol));
    } else {
      Ipv4Header header{protocol};
      header.tos = static_cast<uint8_t>(random_());
      header.ttl = static_cast<uint8_t>(random_());
      header.fragment = static_cast<uint16_t>(Below(10) == 0 ? Below(65536) : 0x4000);
      if (Below(20) == 0) header.options = Zeros(4 * Below(3));
      if (Below(20) == 0) header.total_length = static_cast<uint16_t>(Below(200));
      ip = Ipv4(header, Transport(protocol));
    }
    if (Below(3) == 0) ip = Join({ip, Zeros(Below(8))});  // as short frames are filled up
    const uint16_t type = is_ipv6 ? 0x86dd : 0x0800;
    constexpr uint16_t kTags[] = {0x8100, 0x88a8, 0x9100};
    for (uint32_t tags = Below(4); tags == 0 || tags == 1;) {
      const uint16_t tag = kTags[Below(std::size(kTags))];
      const Bytes tagged = Tag(5, type, ip);
      return Ethernet(tag, tags == 1 ? tagged : Tag(6, 0x8100, tagged));
    }
    return Ethernet(type, ip);
  }

  Bytes InTunnel(const Bytes& packet) {
    const uint32_t tag = Below(4) == 0 ? Below(1u << 20) : TraceTag(Below(64), Below(4096));
    const Bytes sequence = Be32(static_cast<uint32_t>(random_()));
    const Bytes key = Be32(SliceGreKey(static_cast<uint16_t>(Below(1024)), tag));
    switch (Below(6)) {
      case 0:
      case 1:
        return OverIp(Gre(0x1000, 0x88be, sequence,
                          Join({Be32(0x10000000u | Below(1u << 26)), Be32(tag), packet})));
      case 2: {
        const uint32_t last = Below(4) == 0 ? Below(65536) : Below(2);
        return OverIp(Gre(0x1000, 0x22eb, sequence,
                          Join({Be32(0x20000000u | Below(1u << 26)), Be32(1), Be16(7), Be16(last),
                                Zeros((last & 1) != 0 ? 8 : 0), packet})));
      }
      case 3:
        return OverIp(Gre(0x2000, 0x6558, key, packet));
      case 4:
        return OverIp(Gre(0x3000, 0x6558, Join({key, sequence}), packet));
      default:
        return OverIp(Gre(static_cast<uint16_t>(Below(16) << 12), 0x6558,
                          Join({key, sequence, sequence}), packet));
    }
  }

  Bytes OverIp(const Bytes& gre) {
    if (Below(20) == 0) return Ethernet(0x86dd, Ipv6({kProtocolGre}, gre));
    Ipv4Header header{kProtocolGre};
    if (Below(20) == 0) header.fragment = static_cast<uint16_t>(Below(65536));
    if (Below(20) == 0) header.options = Zeros(4);
    if (Below(20) == 0) header.total_length = static_cast<uint16_t>(Below(200));
    return Ethernet(0x0800, Ipv4(header, gre));
  }

  std::mt19937 random_;
  RandomStacks stacks_;
};

struct Seen {
  size_t usual = 0;
  size_t others = 0;
};

void Compare(const Bytes& frame, uint32_t more_on_wire, const TraceCopyOptions& options,
             Seen* seen) {
  const Bytes exact(frame.begin(), frame.end());
  const auto size = static_cast<uint32_t>(exact.size());
  const Frame given{exact.data(), size, size + more_on_wire};
  TraceCopy usual;
  usual.key = 99;  // of the one before
  usual.packet.marks = 0xff;
  usual.hop.has_sequence = true;
  if (!ReadUsualCopy(given, 5, options, &usual)) {
    ++seen->others;
    return;
  }
  ++seen->usual;
  TraceCopy any;
  ASSERT_EQ(ReadAnyTraceCopy(given, 5, options, &any), TraceVerdict::kCopy);
  ASSERT_TRUE(AreSame(usual, any));
}

TEST(UsualCopy, IsReadAsAnyOtherWouldBe) {
  Seen whole;
  Seen damaged;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    CopiesByChance chance(seed);
    for (int i = 0; i < 1000; ++i) {
      const Bytes frame = chance.Copy();
      const TraceCopyOptions options = chance.Options();
      const uint32_t more = chance.Below(4) == 0 ? chance.Below(2000) : 0;
      Compare(frame, more, options, &whole);
      Compare(chance.Damaged(frame), more, options, &damaged);
      if (HasFatalFailure()) FAIL() << "seed " << seed << ", frame " << i;
    }
  }
  EXPECT_GT(whole.usual, 8000u);
  EXPECT_GT(whole.others, 15000u);
  EXPECT_GT(damaged.usual, 4000u);
  EXPECT_GT(damaged.others, 10000u);
}

// At each length, from nothing on.
TEST(UsualCopy, MayBeCutAnywhere) {
  Seen seen;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    CopiesByChance chance(seed);
    const Bytes frame = chance.Copy();
    for (size_t size = 0; size <= frame.size(); ++size) {
      const Bytes cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
      Compare(cut, static_cast<uint32_t>(frame.size() - size), chance.Options(), &seen);
      if (HasFatalFailure()) FAIL() << "seed " << seed << ", " << size << " bytes";
    }
  }
  EXPECT_GT(seen.usual, 1000u);
}

TEST(UsualCopy, IsWhatSwitchesMakeOfMostPackets) {
  const Bytes erspan = Join({Be32(0x10000000 | 9), Be32(TraceTag(1, 2)),
                             Ethernet(0x0800, Ipv4({kProtocolTcp}, Tcp({}, {})))});
  const Bytes frame = Ethernet(0x0800, Ipv4({kProtocolGre}, Gre(0x1000, 0x88be, Be32(77), erspan)));
  const auto size = static_cast<uint32_t>(frame.size());
  TraceCopy copy;
  ASSERT_TRUE(ReadUsualCopy({frame.data(), size, size}, 5, {}, &copy));
  EXPECT_EQ(copy.hop.switch_number, 9);
  EXPECT_EQ(copy.hop.tag, TraceTag(1, 2));
  EXPECT_EQ(copy.hop.sequence, 77u);
  EXPECT_EQ(copy.hop.ttl, 64);
  EXPECT_EQ(copy.packet.flow.dst_port, 80);
}

}  // namespace
}  // namespace trumpet
