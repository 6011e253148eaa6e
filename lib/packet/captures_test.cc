// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The reader and the parser on captures of others, hostile ones among them.  They
// are not part of the project: looked for where FindCaptures() says.  Expectations were taken from
// tshark and checked by hand.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "lib/packet/capture_merge.h"
#include "lib/packet/reference_parse.h"
#include "lib/packet/test_captures.h"

namespace trumpet {
namespace {

namespace fs = std::filesystem;

class Captures : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = test_captures::FindCaptures().path;
    if (!fs::is_directory(folder_)) GTEST_SKIP() << "captures are absent: no " << folder_;
  }

  // The packets of a capture; what goes wrong fails the test.
  std::vector<ParsedPacket> Read(const std::string& file) {
    std::vector<ParsedPacket> packets;
    Result<CaptureMerge> merge = CaptureMerge::Open({(folder_ / file).string()});
    if (!merge.ok()) {
      ADD_FAILURE() << merge.message();
      return packets;
    }
    TimedFrame timed;
    while (*merge->Next(&timed)) {
      const Frame& frame = timed.frame;
      packets.emplace_back();
      ParsePacket(frame, ParseOptions(), &packets.back());
      const std::vector<uint8_t> captured(frame.data, frame.data + frame.captured_length);
      EXPECT_EQ(Describe(packets.back()),
                Describe(ReferenceParse(captured, frame.wire_length, ParseOptions())))
          << file << ", packet " << packets.size();
    }
    return packets;
  }

  fs::path folder_;
};

std::string Text(const ParsedPacket& packet, Field field, Level level = Level::kInnermost) {
  const FieldValue value = ReadField(packet, {field, level});
  return value.is_present() ? FormatValue(value) : "absent";
}

// "outer source > inner source:port id"
std::string Tunnel(const ParsedPacket& packet) {
  if (!packet.is_tunnelled) return "plain";
  return Text(packet, Field::kSrcIp, Level::kOuter) + " > " + Text(packet, Field::kSrcIp) + ":" +
         Text(packet, Field::kDstPort) + " " + Text(packet, Field::kTunnelId);
}

// Counts the records of a pcap file without libpcap.
size_t CountRecords(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto byte = [&bytes](size_t offset) { return static_cast<uint8_t>(bytes[offset]); };
  const bool is_big_endian = byte(0) == 0xa1;
  size_t count = 0;
  for (size_t offset = 24; offset + 16 <= bytes.size(); ++count) {
    size_t length = 0;
    for (size_t i = 0; i < 4; ++i) {
      length = length * 256 + byte(is_big_endian ? offset + 8 + i : offset + 11 - i);
    }
    offset += 16 + length;
  }
  return count;
}

TEST_F(Captures, AreReadToTheEndAndLikeTheReference) {
  std::vector<fs::path> paths(fs::directory_iterator(folder_), fs::directory_iterator{});
  std::sort(paths.begin(), paths.end());
  size_t read_count = 0;
  for (const fs::path& path : paths) {
    EXPECT_EQ(Read(path.filename()).size(), CountRecords(path)) << path;
    ++read_count;
  }
  EXPECT_GE(read_count, test_captures::FindCaptures().least_files);
}

TEST_F(Captures, OfRawIpAreReadLikeEthernet) {
  const std::vector<ParsedPacket> packets = Read("erspan-type-iii-pb-1.pcap");
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_EQ(Text(packets[0], Field::kSrcIp), "4120:7467:1700:4200:143:100:7f01:400e");
  EXPECT_EQ(Text(packets[0], Field::kProtocol), "47");
}

TEST_F(Captures, OfVxlanShowTheInside) {
  const std::vector<ParsedPacket> packets = Read("vxlan.pcap");
  ASSERT_EQ(packets.size(), 10u);
  EXPECT_EQ(Tunnel(packets[0]), "192.168.203.1 > 192.168.203.3:absent 100");
  EXPECT_EQ(Text(packets[0], Field::kProtocol), "1");
  EXPECT_EQ(packets[0].bytes, 148u);
  EXPECT_EQ(packets[0].volume, 64u);
  EXPECT_EQ(Text(packets[1], Field::kEthType), "2054");
  EXPECT_EQ(Text(packets[1], Field::kDstMac), "ff:ff:ff:ff:ff:ff");
  EXPECT_EQ(packets[1].volume, 0u);
  EXPECT_EQ(Tunnel(Read("vxlan_port_8472.pcap")[0]), "plain");
  EXPECT_EQ(Tunnel(Read("nsh-over-vxlan-gpe.pcap")[0]), "plain");
}

TEST_F(Captures, OfGeneveShowTheInside) {
  const std::vector<ParsedPacket> packets = Read("geneve.pcap");
  ASSERT_EQ(packets.size(), 39u);
  EXPECT_EQ(Tunnel(packets[0]), "20.0.0.1 > 30.0.0.1:absent 10");
  EXPECT_EQ(Tunnel(packets[1]), "20.0.0.2 > 30.0.0.2:absent 11");
  EXPECT_EQ(Tunnel(packets[2]), "20.0.0.2 > 30.0.0.2:22 11");
  EXPECT_EQ(packets[2].tcp.flags, kTcpSyn);
  EXPECT_TRUE(packets[2].tcp.has_mss);
  EXPECT_EQ(Tunnel(Read("geneve-gcp.pcap")[0]), "192.168.100.254 > 192.168.100.2:8080 0");
}

TEST_F(Captures, OfOtherGreProtocolsStayPlain) {
  const std::vector<ParsedPacket> packets = Read("various_gre.pcap");
  ASSERT_EQ(packets.size(), 100u);
  // GRE in VLAN 1213 with the protocols 0x0000, 0x2000 and 0x8909.
  EXPECT_EQ(Text(packets[24], Field::kSrcIp), "10.172.64.6");
  EXPECT_EQ(Text(packets[24], Field::kProtocol), "47");
  EXPECT_EQ(Text(packets[24], Field::kVlan), "1213");
  EXPECT_EQ(packets[24].volume, 116u);
  for (const ParsedPacket& packet : packets) EXPECT_EQ(Tunnel(packet), "plain");
}

TEST_F(Captures, OfSegmentationOffloadAreReadAsFarAsTheyStateLengths) {
  const ParsedPacket stated = Read("gso-ipv4-vxlan-ipv4.pcap")[0];
  EXPECT_EQ(Tunnel(stated), "10.25.132.11 > 192.168.1.2:41547 5001");
  EXPECT_EQ(stated.volume, 6990u);
  const ParsedPacket unstated = Read("bigtcp-ipv4-vxlan-ipv4.pcap")[0];
  EXPECT_EQ(Tunnel(unstated), "10.25.132.11 > 192.168.1.2:36449 5001");
  EXPECT_EQ(unstated.bytes, 80116u);
  EXPECT_EQ(unstated.volume, 0u);
}

}  // namespace
}  // namespace trumpet
