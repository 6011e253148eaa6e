// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/link_header.h"

#include <gtest/gtest.h>
#include <pcap/pcap.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "lib/packet/fields.h"
#include "lib/packet/pcap_reader.h"
#include "lib/packet/random_stacks.h"
#include "lib/packet/test_captures.h"

namespace trumpet {
namespace {

using namespace test_captures;  // NOLINT: captures read as sentences only without the prefix

constexpr size_t kEthernetBytes = 14;
const Bytes kSender{0x52, 0x54, 0, 1, 2, 3};

// A link type, as it stands in the file, and how it carries the packet of a frame of Ethernet.
struct Carrier {
  const char* name;
  uint32_t link_type;
  Bytes (*carry)(const Bytes& frame);
  bool has_sender;
};

Bytes PacketOf(const Bytes& frame) { return Bytes(frame.begin() + kEthernetBytes, frame.end()); }
Bytes TypeOf(const Bytes& frame) { return Bytes(frame.begin() + 12, frame.begin() + 14); }
bool IsIpv6(const Bytes& frame) { return TypeOf(frame) == Bytes{0x86, 0xdd}; }

const Carrier kCarriers[] = {
    {"raw IP", 101, PacketOf, false},
    {"NULL of Linux", 0,
     [](const Bytes& frame) {
       return test_frames::Join({Le32(IsIpv6(frame) ? 10 : 2), PacketOf(frame)});
     },
     false},
    {"NULL of another byte order", 0,
     [](const Bytes& frame) {
       return test_frames::Join({test_frames::Be32(IsIpv6(frame) ? 30 : 2), PacketOf(frame)});
     },
     false},
    {"LOOP", 108,
     [](const Bytes& frame) {
       return test_frames::Join({test_frames::Be32(IsIpv6(frame) ? 28 : 2), PacketOf(frame)});
     },
     false},
    {"LINUX_SLL", 113,
     [](const Bytes& frame) {
       return test_frames::Join(
           {{0, 4, 0, 1, 0, 6}, kSender, {0, 0}, TypeOf(frame), PacketOf(frame)});
     },
     true},
    {"LINUX_SLL2", 276,
     [](const Bytes& frame) {
       return test_frames::Join(
           {TypeOf(frame), {0, 0, 0, 0, 0, 3, 0, 1, 0, 6}, kSender, {0, 0}, PacketOf(frame)});
     },
     true},
};

std::string Told(const ParsedPacket& packet) {
  std::string text;
  for (const Field field :
       {Field::kEthType, Field::kSrcIp, Field::kDstIp, Field::kProtocol, Field::kSrcPort,
        Field::kDstPort, Field::kVlan, Field::kTunnelId, Field::kTtl, Field::kDscp}) {
    const FieldValue value = ReadField(packet, {field, Level::kInnermost});
    text += (value.is_present() ? FormatValue(value) : "-") + " ";
  }
  return text + std::to_string(packet.bytes) + " " + std::to_string(packet.volume);
}

Bytes CaptureOf(const Carrier& carrier, const std::vector<Bytes>& frames, size_t snap = 65535) {
  Bytes file = PcapHeader(kMicroMagic, carrier.link_type);
  for (const Bytes& frame : frames) {
    Bytes carried = carrier.carry(frame);
    const auto length = static_cast<uint32_t>(carried.size());
    carried.resize(std::min(carried.size(), snap));
    const Bytes record = PcapPacket(1, 0, carried, length);
    file.insert(file.end(), record.begin(), record.end());
  }
  return file;
}

std::vector<Bytes> RandomFrames(uint32_t seed, int count) {
  test_frames::RandomStacks random(seed);
  std::vector<Bytes> frames;
  while (count > 0) {
    frames.push_back(random.Frame(2));
    const Bytes type = TypeOf(frames.back());
    const bool is_ip = type == Bytes{8, 0} || type == Bytes{0x86, 0xdd};
    is_ip ? void(--count) : frames.pop_back();
  }
  return frames;
}

TEST(LinkHeader, PacketsAreReadAsEthernetWouldCarryThem) {
  for (const Carrier& carrier : kCarriers) {
    const std::vector<Bytes> frames = RandomFrames(20261123, 1000);
    const Bytes image = CaptureOf(carrier, frames);
    auto reader = PcapReader::OpenImage("x.pcap", image.data(), image.size());
    ASSERT_TRUE(reader.ok()) << carrier.name << ": " << reader.message();
    TimedFrame timed;
    for (size_t i = 0; i < frames.size(); ++i) {
      ASSERT_TRUE(*reader->Next(&timed)) << carrier.name;
      const Bytes got(timed.frame.data, timed.frame.data + timed.frame.captured_length);
      Bytes expected = frames[i];
      std::fill(expected.begin(), expected.begin() + 12, 0);
      if (carrier.has_sender) std::copy(kSender.begin(), kSender.end(), expected.begin() + 6);
      ASSERT_EQ(got, expected) << carrier.name << ", frame " << i;
      ASSERT_EQ(timed.frame.wire_length, frames[i].size()) << carrier.name << ", frame " << i;
      ParsedPacket packet;
      ParsePacket(timed.frame, ParseOptions(), &packet);
      ASSERT_EQ(Told(packet), Told(test_frames::Parse(frames[i]))) << carrier.name << ' ' << i;
    }
    EXPECT_FALSE(*reader->Next(&timed));
  }
}

TEST(LinkHeader, WhatIsCutOffKeepsItsLength) {
  const std::vector<Bytes> frames = RandomFrames(7, 50);
  for (const Carrier& carrier : kCarriers) {
    for (size_t snap = 0; snap < 60; ++snap) {
      const Bytes image = CaptureOf(carrier, frames, snap);
      auto reader = PcapReader::OpenImage("x.pcap", image.data(), image.size());
      ASSERT_TRUE(reader.ok()) << reader.message();
      TimedFrame timed;
      for (const Bytes& frame : frames) {
        ASSERT_TRUE(*reader->Next(&timed));
        EXPECT_EQ(timed.frame.wire_length, frame.size()) << carrier.name;
        EXPECT_LE(timed.frame.captured_length, timed.frame.wire_length);
        ParsedPacket packet;
        ParsePacket(timed.frame, ParseOptions(), &packet);
      }
    }
  }
}

// The record states a length that Ethernet's header would carry past the largest number.
TEST(LinkHeader, TheLongestLengthStaysTheLongest) {
  const Bytes frame = RandomFrames(3, 1).front();
  for (const Carrier& carrier : kCarriers) {
    const Bytes carried = carrier.carry(frame);
    const Bytes image =
        test_frames::Join({PcapHeader(kMicroMagic, carrier.link_type),
                           PcapPacket(1, 0, carried, std::numeric_limits<uint32_t>::max())});
    auto reader = PcapReader::OpenImage("x.pcap", image.data(), image.size());
    ASSERT_TRUE(reader.ok()) << reader.message();
    TimedFrame timed;
    ASSERT_TRUE(*reader->Next(&timed)) << carrier.name;
    EXPECT_EQ(timed.frame.captured_length, frame.size()) << carrier.name;
    EXPECT_GE(timed.frame.wire_length, 0xfffffff0) << carrier.name;
  }
}

// That the captures above are what their link types say.
TEST(LinkHeader, TsharkReadsTheSameAddresses) {
  if (!HasTshark()) GTEST_SKIP() << "no tshark";
  const Bytes frame = test_frames::Ethernet(
      0x0800, test_frames::Ipv4({kProtocolUdp}, test_frames::Udp(1000, 2000, {1, 2})));
  for (const Carrier& carrier : kCarriers) {
    const TemporaryFile capture(CaptureOf(carrier, {frame}));
    const std::string command =
        "tshark -n -r '" + capture.path() + "' -T fields -e ip.src -e udp.dstport 2>/dev/null";
    std::FILE* const pipe = popen(command.c_str(), "r");
    std::array<char, 200> line{};
    EXPECT_NE(std::fgets(line.data(), line.size(), pipe), nullptr) << carrier.name;
    pclose(pipe);
    EXPECT_STREQ(line.data(), "10.0.0.1\t2000\n") << carrier.name;
  }
}

}  // namespace
}  // namespace trumpet
