// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "lib/packet/test_frames.h"

namespace trumpet {
namespace {

using test_frames::Be16;
using test_frames::Be32;
using test_frames::Bytes;
using test_frames::Ethernet;
using test_frames::Extension;
using test_frames::Geneve;
using test_frames::Gre;
using test_frames::Ipv4;
using test_frames::Ipv6;
using test_frames::Join;
using test_frames::Tag;
using test_frames::Tcp;
using test_frames::Udp;
using test_frames::Vxlan;
using test_frames::Zeros;

const char* Name(LayerKind kind) {
  constexpr const char* kNames[] = {"eth",  "vlan", "mpls",  "cw",  "ip4", "ip6", "tcp",    "udp",
                                    "sctp", "gre",  "pptp",  "er1", "er2", "er3", "er3p",   "mlx",
                                    "wccp", "cmd",  "vxlan", "gpe", "gnv", "nsh", "payload"};
  return kNames[static_cast<int>(kind)];
}

const char* Name(LayersEnd end) {
  constexpr const char* kNames[] = {"", " fragment", " cut", " malformed", " too many"};
  return kNames[static_cast<int>(end)];
}

// "eth ip4 udp" and how it ends.  On the heap exactly, so that a sanitizer sees a read beyond.
std::string Read(const Bytes& frame, LayerKind first = LayerKind::kEthernet) {
  const Bytes exact(frame.begin(), frame.end());
  Layers layers;
  ReadLayers(exact.data(), static_cast<uint32_t>(exact.size()), first, {}, &layers);
  std::string text;
  for (int i = 0; i < layers.count; ++i) {
    if (i > 0) text += " ";
    text += Name(layers.list[static_cast<size_t>(i)].kind);
  }
  return text + Name(layers.end);
}

Bytes InGre(uint16_t flags, uint16_t type, const Bytes& fields, const Bytes& inside) {
  return Ethernet(0x0800, Ipv4({kProtocolGre}, Gre(flags, type, fields, inside)));
}

Bytes InUdp(uint16_t port, const Bytes& inside) {
  return Ethernet(0x0800, Ipv4({kProtocolUdp}, Udp(1, port, inside)));
}

Bytes Inside() { return Ethernet(0x0800, Ipv4({}, Tcp({}, {1, 2, 3}))); }

TEST(Layers, AreThoseOfEveryTunnelThatCarriesCopies) {
  const struct {
    Bytes frame;
    const char* layers;
  } kCases[] = {
      {Inside(), "eth ip4 tcp"},
      {Ethernet(0x88a8, Tag(5, 0x8100, Tag(6, 0x86dd, Ipv6({kProtocolUdp}, Udp(1, 2, {}))))),
       "eth vlan vlan ip6 udp"},
      {Ethernet(0x8847, Join({Be32(0x00010040), Be32(0x00020140), Ipv4({}, Tcp({}, {}))})),
       "eth mpls mpls ip4 tcp"},
      {Ethernet(0x8847, Join({Be32(0x00010140), Zeros(4), Inside()})), "eth mpls cw eth ip4 tcp"},
      {Ethernet(0x0800, Ipv4({4}, Ipv4({41}, Ipv6({}, Tcp({}, {}))))), "eth ip4 ip4 ip6 tcp"},
      {InGre(0, 0x88be, {}, Inside()), "eth ip4 gre er1 eth ip4 tcp"},
      {InGre(0x1000, 0x88be, Be32(1), Join({Be32(0x10000000), Zeros(4), Inside()})),
       "eth ip4 gre er2 eth ip4 tcp"},
      {InGre(0x1000, 0x22eb, Be32(1), Join({Be32(0x20000000), Zeros(8), Inside()})),
       "eth ip4 gre er3 eth ip4 tcp"},
      {InGre(0x1000, 0x22eb, Be32(1), Join({Be32(0x20000000), Zeros(7), {1}, Zeros(8), Inside()})),
       "eth ip4 gre er3 er3p eth ip4 tcp"},
      {InGre(0, 0x22eb, {}, Join({Be32(0x20000000), Zeros(6), {8, 0}, Ipv6({}, Tcp({}, {}))})),
       "eth ip4 gre er3 ip6 tcp"},
      {InGre(0, 0x22eb, {}, Join({Be32(0x20000000), Zeros(6), {28, 0}, Zeros(30)})),
       "eth ip4 gre er3"},
      {InGre(0, 0x8949, {}, Join({Zeros(22), Inside()})), "eth ip4 gre mlx eth ip4 tcp"},
      {InGre(0xb000, 0x6558, Zeros(12), Inside()), "eth ip4 gre eth ip4 tcp"},
      {InGre(0, 0x883e, {}, Join({Be32(7), Ipv4({}, Tcp({}, {}))})), "eth ip4 gre wccp ip4 tcp"},
      {InGre(0, 0x883e, {}, Ipv4({}, Tcp({}, {}))), "eth ip4 gre ip4 tcp"},
      {InGre(0, 0x8909, {}, Join({Be16(0x0800), {1, 1, 0, 1, 0, 0}, Ipv4({}, Tcp({}, {}))})),
       "eth ip4 gre cmd ip4 tcp"},
      {InUdp(4789, Vxlan(7, Inside())), "eth ip4 udp vxlan eth ip4 tcp"},
      {InUdp(4790, Join({{12, 0, 0, 4}, Zeros(4), {0, 2, 0, 3}, Zeros(4), Inside()})),
       "eth ip4 udp gpe nsh eth ip4 tcp"},
      {InUdp(6635, Join({Be32(0x00010140), Ipv4({}, Tcp({}, {}))})), "eth ip4 udp mpls ip4 tcp"},
      {Ethernet(0x86dd, Ipv6({143}, Inside())), "eth ip6 eth ip4 tcp"},
      {InGre(0x3081, 0x880b, Zeros(12), Zeros(9)), "eth ip4 pptp"},
      {InUdp(6081, Geneve(7, 0x86dd, Zeros(8), Ipv6({}, Tcp({}, {})))), "eth ip4 udp gnv ip6 tcp"},
      {Ethernet(0x86dd, Ipv6({60}, Extension(kProtocolGre, 0, Gre(0, 0x0800, {}, Ipv4({1}, {}))))),
       "eth ip6 gre ip4"},
  };
  for (const auto& [frame, layers] : kCases) EXPECT_EQ(Read(frame), layers);
}

TEST(Layers, MayBeginWithIpOfEitherVersion) {
  EXPECT_EQ(Read(Ipv4({}, Tcp({}, {})), LayerKind::kIpv4), "ip4 tcp");
  EXPECT_EQ(Read(Ipv6({}, Tcp({}, {})), LayerKind::kIpv4), "ip6 tcp");
  EXPECT_EQ(Read({}, LayerKind::kIpv4), "");
}

TEST(Layers, EndWhereAHeaderIsCutShort) {
  const Bytes whole = InUdp(4789, Vxlan(7, Inside()));
  const char* const all = "eth ip4 udp vxlan eth ip4 tcp";
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string layers = Read(Bytes(whole.begin(), whole.begin() + static_cast<long>(size)));
    const std::string without_end = layers.substr(0, layers.find(" cut"));
    EXPECT_EQ(std::string(all).substr(0, without_end.size()), without_end) << size;
    const size_t headers_end = whole.size() - 3;  // three bytes of payload
    EXPECT_EQ(layers.find(" cut") == std::string::npos, size >= headers_end) << size;
  }
}

TEST(Layers, EndAtLaterFragmentsAndAtWhatIsNotAnnounced) {
  test_frames::Ipv4Header later{kProtocolUdp};
  later.fragment = 100;
  EXPECT_EQ(Read(Ethernet(0x0800, Ipv4(later, Udp(1, 4789, Zeros(50))))), "eth ip4 fragment");
  EXPECT_EQ(Read(Ethernet(0x0800, Zeros(40))), "eth malformed");
  EXPECT_EQ(Read(InGre(0x4000, 0x0800, {}, Zeros(40))), "eth ip4 gre malformed");
  EXPECT_EQ(Read(InGre(2, 0x0800, {}, Zeros(40))), "eth ip4 gre malformed");
  EXPECT_EQ(Read(InGre(0x1000, 0x88be, Be32(1), Zeros(40))), "eth ip4 gre malformed");
  EXPECT_EQ(Read(InUdp(4789, Zeros(40))), "eth ip4 udp malformed");
}

TEST(Layers, EndAtIpv4ThatStatesLessThanItsHeader) {
  Bytes frame = Ethernet(0x0800, Ipv4({kProtocolUdp}, Udp(1, 2, {})));
  for (uint8_t total = 0; total < 20; ++total) {
    frame[14 + 2] = 0;
    frame[14 + 3] = total;
    EXPECT_EQ(Read(frame), total == 0 ? "eth ip4 udp" : "eth malformed") << int{total};
  }
}

TEST(Layers, AreBounded) {
  Bytes labels;
  for (int i = 0; i < 2 * kMaxLayers; ++i) labels = Join({labels, Be32(0x00010040)});
  Bytes frame = Ethernet(0x8847, labels);
  Layers layers;
  ReadLayers(frame.data(), static_cast<uint32_t>(frame.size()), LayerKind::kEthernet, {}, &layers);
  EXPECT_EQ(layers.count, kMaxLayers);
  EXPECT_EQ(layers.end, LayersEnd::kTooMany);
}

// It is read with the header before it, and has no room here.
TEST(Layers, AreBoundedBeforeThePlatformPartOfErspan3) {
  Bytes erspan = Zeros(12 + 8 + 60);
  erspan[0] = 0x20;
  erspan[11] = 1;
  const Bytes copy = InGre(0x1000, 0x22eb, Be32(1), erspan);
  Bytes tags;
  for (int i = 0; i < kMaxLayers - 5; ++i) tags = Join({tags, Be32(0x00018100)});
  tags = Join({tags, Be32(0x00010800)});
  const Bytes frame = Ethernet(0x8100, Join({tags, Bytes(copy.begin() + 14, copy.end())}));
  Layers layers;
  ReadLayers(frame.data(), static_cast<uint32_t>(frame.size()), LayerKind::kEthernet, {}, &layers);
  EXPECT_EQ(layers.count, kMaxLayers);
  EXPECT_EQ(layers.list[kMaxLayers - 1].kind, LayerKind::kErspan3);
  EXPECT_EQ(layers.end, LayersEnd::kTooMany);
}

TEST(Layers, LeaveThePayloadWithoutWhatPadsTheFrame) {
  const Bytes frame = Join({InUdp(9, {1, 2, 3}), Zeros(15)});
  Layers layers;
  ReadLayers(frame.data(), static_cast<uint32_t>(frame.size()), LayerKind::kEthernet, {}, &layers);
  EXPECT_EQ(layers.payload_end - layers.payload_at, 3u);
  EXPECT_EQ(frame[layers.payload_at], 1);
}

}  // namespace
}  // namespace trumpet
