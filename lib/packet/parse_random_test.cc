// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ParsePacket against ReferenceParse on frames nobody thought of.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "lib/packet/plain_frame.h"
#include "lib/packet/reference_parse.h"
#include "lib/packet/test_frames.h"

namespace trumpet {
namespace {

using test_frames::Bytes;
using test_frames::Ethernet;
using test_frames::Extension;
using test_frames::FragmentExtension;
using test_frames::Geneve;
using test_frames::Gre;
using test_frames::Ipv4;
using test_frames::Ipv6;
using test_frames::Join;
using test_frames::Parse;
using test_frames::Sctp;
using test_frames::Tag;
using test_frames::Tcp;
using test_frames::Udp;
using test_frames::Vxlan;
using test_frames::Zeros;

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

TEST(ParseRandom, AgreesWithTheReferenceOnSoundAndDamagedFrames) {
  for (uint32_t seed = 1; seed <= 20000; ++seed) {
    FrameMaker maker(seed);
    Bytes frame = maker.MakeEthernet(static_cast<int>(maker.Below(11)));
    if (seed % 4 != 0) maker.Mutate(&frame);
    const uint32_t wire_length = static_cast<uint32_t>(frame.size()) + maker.Below(5);
    ASSERT_EQ(Describe(Parse(frame, wire_length)),
              Describe(ReferenceParse(frame, wire_length, ParseOptions())))
        << "seed " << seed;
  }
}

TEST(ParseRandom, AgreesWithTheReferenceOnEveryPrefix) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    FrameMaker maker(seed);
    const Bytes frame = maker.MakeEthernet(static_cast<int>(seed % 10));
    for (size_t length = 0; length <= frame.size(); ++length) {
      const Bytes prefix(frame.begin(), frame.begin() + length);
      ASSERT_EQ(Describe(Parse(prefix, 5000)), Describe(ReferenceParse(prefix, 5000, {})))
          << "seed " << seed << ", first " << length << " bytes";
    }
  }
}

// More bytes never take a field away at the outer level.
TEST(ParseRandom, KeepsWhatAShorterCaptureKnew) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    FrameMaker maker(seed);
    const Bytes frame = maker.MakeEthernet(static_cast<int>(seed % 10));
    uint16_t known = 0;
    for (size_t length = 0; length <= frame.size(); ++length) {
      const Bytes prefix(frame.begin(), frame.begin() + length);
      const uint16_t present = Parse(prefix, 5000).outermost().present;
      ASSERT_EQ(present & known, known) << "seed " << seed << ", first " << length << " bytes";
      known = present;
    }
  }
}

// The result says nothing of the packet that was in its place before.
TEST(ParseRandom, OverwritesThePacketBefore) {
  FrameMaker maker(7);
  ParsedPacket reused;
  for (int i = 0; i < 5000; ++i) {
    Bytes frame = maker.MakeEthernet(static_cast<int>(maker.Below(4)));
    maker.Mutate(&frame);
    const uint32_t length = static_cast<uint32_t>(frame.size());
    ParsePacket({frame.data(), length, length}, ParseOptions(), &reused);
    ASSERT_EQ(Describe(reused), Describe(Parse(frame))) << "frame " << i;
  }
}

// Adds one to `*plain_count` if the frame is plain.
void CheckPlain(const Bytes& frame, uint32_t captured, const ParseOptions& options,
                uint32_t* plain_count) {
  const Bytes exact(frame.begin(), frame.begin() + captured);  // a read beyond it is an error
  const PlainReader reader(options);
  const Frame given{exact.data(), captured, 2000};
  PlainFrame plain;
  PlainFrame other;
  const bool is_ipv4 = reader.ReadIpv4(given, &plain);
  const bool is_ipv6 = reader.ReadIpv6(given, is_ipv4 ? &other : &plain);
  ASSERT_FALSE(is_ipv4 && is_ipv6);
  if (!is_ipv4 && !is_ipv6) return;
  ++*plain_count;
  const ParsedPacket packet = Parse(exact, 2000, options);
  const Headers& headers = packet.innermost;
  const size_t ip_bytes = is_ipv4 ? 4 : 16;
  const auto* ips = reinterpret_cast<const uint8_t*>(&plain.ips);
  const uint8_t* src = is_ipv4 ? ips : plain.addresses;
  const uint8_t* dst = is_ipv4 ? ips + 4 : plain.addresses + 16;
  ASSERT_FALSE(packet.is_tunnelled || packet.depth_exceeded);
  ASSERT_TRUE(headers.Has(Field::kSrcPort));
  ASSERT_EQ(headers.ip_family, is_ipv4 ? 4 : 6);
  ASSERT_EQ(headers.protocol, plain.is_tcp ? kProtocolTcp : kProtocolUdp);
  ASSERT_EQ(std::memcmp(headers.src_ip.data(), src, ip_bytes), 0);
  ASSERT_EQ(std::memcmp(headers.dst_ip.data(), dst, ip_bytes), 0);
  ASSERT_EQ(headers.src_port, plain.ports & 0xffff);
  ASSERT_EQ(headers.dst_port, plain.ports >> 16);
  ASSERT_EQ(packet.volume, PlainFrame::Volume(plain.volume_and_ecn));
  ASSERT_EQ(headers.ecn, PlainFrame::Ecn(plain.volume_and_ecn));
}

TEST(ParseRandom, SaysOfPlainFramesWhatThePlainReaderSays) {
  uint32_t plain_count = 0;
  for (uint32_t seed = 1; seed <= 60000; ++seed) {
    FrameMaker maker(seed);
    Bytes frame = maker.MakeEthernet(seed % 3 == 0 ? 2 : 0);
    if (seed % 4 != 0) maker.Mutate(&frame);
    const auto size = static_cast<uint32_t>(frame.size());
    const uint32_t captured = maker.OneIn(4) ? maker.Below(size + 1) : size;
    ParseOptions options;
    if (maker.OneIn(4)) options.vxlan_ports = {53, 4789, 0, 117};
    CheckPlain(frame, captured, options, &plain_count);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(plain_count, 1000u);
}

// Every byte of the headers, with every value.
TEST(ParseRandom, SaysOfNearlyPlainFramesWhatThePlainReaderSays) {
  test_frames::Ipv4Header udp;
  udp.protocol = kProtocolUdp;
  const Bytes ipv4 = Ipv4(udp, Udp(117, 53, Zeros(20)));
  const Bytes ipv6 = Ipv6({kProtocolUdp, {}, 0, 64}, Udp(117, 53, Zeros(20)));
  const Bytes frames[] = {Ethernet(0x0800, Ipv4({}, Tcp({}, Zeros(6)))), Ethernet(0x0800, ipv4),
                          Ethernet(0x8100, Tag(7, 0x0800, ipv4)),
                          Ethernet(0x86dd, Ipv6({}, Tcp({}, {}))),
                          Ethernet(0x88a8, Tag(7, 0x86dd, ipv6))};
  ParseOptions options;
  options.geneve_ports = {117, 53 + 64, 0, 0};
  for (Bytes frame : frames) {
    uint32_t plain_count = 0;
    CheckPlain(frame, static_cast<uint32_t>(frame.size()), options, &plain_count);
    ASSERT_EQ(plain_count, 1u) << "not plain as it is";
    for (size_t at = 12; at < frame.size(); ++at) {
      const uint8_t before = frame[at];
      for (int value = 0; value < 256; ++value) {
        frame[at] = static_cast<uint8_t>(value);
        CheckPlain(frame, static_cast<uint32_t>(frame.size()), options, &plain_count);
        if (HasFatalFailure()) FAIL() << "byte " << at << " is " << value;
      }
      frame[at] = before;
    }
  }
}

}  // namespace
}  // namespace trumpet
