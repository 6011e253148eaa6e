// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PlainReader against ParsePacket, and PlainQuadReader against PlainReader.

#include "lib/packet/plain_frame.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "lib/packet/quad_words.h"
#include "lib/packet/random_frames.h"

namespace trumpet {
namespace {

using test_frames::Bytes;
using test_frames::Ethernet;
using test_frames::FrameMaker;
using test_frames::Ipv4;
using test_frames::Ipv6;
using test_frames::Parse;
using test_frames::Tag;
using test_frames::Tcp;
using test_frames::Udp;
using test_frames::Zeros;

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

TEST(PlainFrames, AreReadAsTheyAreParsed) {
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
TEST(PlainFrames, AreReadAsTheyAreParsedWhateverByteChanges) {
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

// What PlainQuadReader says of plain frames is what PlainReader says, and it leaves out only those
// that it may. Adds the number of frames that it reads.
void CheckQuad(const std::vector<Bytes>& four, const ParseOptions& options, uint32_t* read_count) {
  const PlainReader reader(options);
  Frame frames[4];
  uint64_t wire_bytes = 0;
  bool has_short = false;
  for (uint32_t i = 0; i < 4; ++i) {
    const auto captured = static_cast<uint32_t>(four[i].size());
    frames[i] = {four[i].data(), captured, captured + i};
    wire_bytes += frames[i].wire_length;
    has_short |= frames[i].captured_length < PlainReader::kMinIpv4Bytes;
  }
  const QuadWords words = ReadQuad(reader, frames);
  ASSERT_EQ(words.wire_bytes[0] + words.wire_bytes[1] + words.wire_bytes[2] + words.wire_bytes[3],
            wire_bytes);
  ASSERT_EQ(words.plain >> 4, 0u);
  for (uint32_t i = 0; i < 4; ++i) {
    PlainFrame plain;
    const bool is_plain = reader.ReadIpv4(frames[i], &plain);
    if ((words.plain >> i & 1) == 0) {
      const bool is_tagged = is_plain && four[i][12] != 0x08;
      const bool may_be_tunnel = is_plain && !plain.is_tcp && !options.vxlan_ports.empty() &&
                                 (reader.some_tunnel_ports() >> (plain.ports >> 16) % 64 & 1) != 0;
      ASSERT_TRUE(!is_plain || has_short || is_tagged || may_be_tunnel) << "frame " << i;
      continue;
    }
    ++*read_count;
    ASSERT_TRUE(is_plain) << "frame " << i;
    ASSERT_EQ(words.ips[i], plain.ips);
    ASSERT_EQ(words.ports[i], plain.ports);
    ASSERT_EQ(words.volume_and_ecn[i], plain.volume_and_ecn);
    ASSERT_EQ((words.tcp >> i & 1) != 0, plain.is_tcp);
  }
}

TEST(PlainFrames, AreReadFourAtATimeAsOneByOne) {
  if (!HasQuads()) GTEST_SKIP() << "this processor has no AVX2";
  uint32_t read_count = 0;
  for (uint32_t seed = 1; seed <= 30000; ++seed) {
    FrameMaker maker(seed);
    std::vector<Bytes> four;
    for (int i = 0; i < 4; ++i) {
      Bytes frame = maker.MakeEthernet(0);
      if (maker.OneIn(4)) maker.Mutate(&frame);
      if (maker.OneIn(16)) frame.resize(maker.Below(static_cast<uint32_t>(frame.size()) + 1));
      if (seed % 2 == 0 && frame.size() < PlainReader::kMinIpv4Bytes) {
        frame.resize(PlainReader::kMinIpv4Bytes);
      }
      frame.shrink_to_fit();  // a read beyond it is an error
      four.push_back(std::move(frame));
    }
    ParseOptions options;
    if (maker.OneIn(4)) options.vxlan_ports = {53, 4789, 0, 117};
    CheckQuad(four, options, &read_count);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(read_count, 1000u);
}

// Every byte of the headers, with every value, at each of the four places.
TEST(PlainFrames, AreReadFourAtATimeAsOneByOneWhateverByteChanges) {
  if (!HasQuads()) GTEST_SKIP() << "this processor has no AVX2";
  test_frames::Ipv4Header header;
  header.protocol = kProtocolUdp;
  const Bytes udp = Ethernet(0x0800, Ipv4(header, Udp(117, 53, Zeros(20))));
  const Bytes no_tunnel = Ethernet(0x0800, Ipv4(header, Udp(117, 54, Zeros(20))));
  const Bytes tcp = Ethernet(0x0800, Ipv4({}, Tcp({}, Zeros(6))));
  ParseOptions options;
  options.geneve_ports = {117, 53 + 128, 0, 0};
  for (size_t place = 0; place < 4; ++place) {
    for (const Bytes& frame : {udp, tcp}) {
      std::vector<Bytes> four = {tcp, no_tunnel, no_tunnel, tcp};
      four[place] = frame;
      uint32_t read_count = 0;
      for (size_t at = 12; at < frame.size(); ++at) {
        for (int value = 0; value < 256; ++value) {
          four[place][at] = static_cast<uint8_t>(value);
          CheckQuad(four, options, &read_count);
          if (HasFatalFailure()) FAIL() << "byte " << at << " is " << value;
        }
        four[place][at] = frame[at];
      }
      EXPECT_GE(read_count, 3 * 256u * (frame.size() - 12));
    }
  }
}

}  // namespace
}  // namespace trumpet
