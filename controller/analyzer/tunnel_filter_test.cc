// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/tunnel_filter.h"

#include <gtest/gtest.h>

#include "lib/packet/parsed_packet.h"
#include "lib/packet/test_frames.h"

namespace trumpet {
namespace {

using namespace test_frames;  // NOLINT: builders of frames

bool Passes(const Bytes& bytes, bool and_udp) {
  const auto length = static_cast<uint32_t>(bytes.size());
  return PassesFilter(OnlyTunnels(and_udp), {bytes.data(), length, length});
}

// The kernel's word on the same frames is in copy_receiver_test.cc.
TEST(TunnelFilter, LetsTunnelsThroughAndNothingElse) {
  const Bytes gre = Ipv4({kProtocolGre}, Zeros(20));
  const Bytes vxlan = Ipv4({kProtocolUdp}, Udp(9, 4789, Zeros(20)));
  const Bytes geneve = Ipv6({kProtocolUdp}, Udp(9, 6081, Zeros(20)));
  const Bytes dns = Ipv4({kProtocolUdp}, Udp(9, 53, Zeros(20)));
  for (const bool and_udp : {false, true}) {
    EXPECT_TRUE(Passes(Ethernet(0x0800, gre), and_udp));
    EXPECT_TRUE(Passes(Ethernet(0x86dd, Ipv6({kProtocolGre}, Zeros(20))), and_udp));
    EXPECT_EQ(Passes(Ethernet(0x0800, vxlan), and_udp), and_udp);
    EXPECT_EQ(Passes(Ethernet(0x86dd, geneve), and_udp), and_udp);
    EXPECT_FALSE(Passes(Ethernet(0x0800, dns), and_udp));
    EXPECT_FALSE(Passes(Ethernet(0x0806, Zeros(46)), and_udp));
  }
}

TEST(TunnelFilter, LooksBehindATagAsTheKernelDoes) {
  const Bytes gre = Ipv4({kProtocolGre}, Zeros(20));
  for (const uint16_t tag : {0x8100, 0x88a8}) {
    EXPECT_TRUE(Passes(Ethernet(tag, Join({{0, 7, 8, 0}, gre})), false));
    EXPECT_FALSE(Passes(Ethernet(tag, Join({{0, 7, 8, 6}, gre})), false));
  }
}

TEST(TunnelFilter, ReadsNothingBehindTheEnd) {
  const Bytes whole =
      Ethernet(0x8100, Join({{0, 7, 8, 0}, Ipv4({kProtocolUdp}, Udp(9, 4789, {}))}));
  for (size_t length = 0; length < whole.size(); ++length) {
    const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_EQ(Passes(part, true), length >= 42) << length;  // where the port ends
  }
}

}  // namespace
}  // namespace trumpet
