// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/mirror_copy.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "lib/packet/pcap_reader.h"
#include "lib/packet/test_captures.h"
#include "lib/packet/test_frames.h"

namespace trumpet {
namespace {

using test_frames::Be16;
using test_frames::Be32;
using test_frames::Bytes;
using test_frames::Ethernet;
using test_frames::Extension;
using test_frames::Gre;
using test_frames::Ipv4;
using test_frames::Ipv4Header;
using test_frames::Ipv6;
using test_frames::Ipv6Header;
using test_frames::Join;
using test_frames::Tag;
using test_frames::Udp;

Bytes Inner() { return Ethernet(0x0800, Ipv4({kProtocolUdp}, Udp(1, 2, {1, 2, 3, 4}))); }

Bytes OverIpv4(const Bytes& gre) { return Ethernet(0x0800, Ipv4({kProtocolGre}, gre)); }

CopyVerdict Read(const Bytes& frame, MirrorCopy* copy) {
  const auto length = static_cast<uint32_t>(frame.size());
  return ReadMirrorCopy({frame.data(), length, length}, copy);
}

CopyVerdict Verdict(const Bytes& frame) {
  const Bytes exact(frame.begin(), frame.end());
  MirrorCopy copy;
  return Read(exact, &copy);
}

Bytes InnerOf(const MirrorCopy& copy) { return {copy.inner, copy.inner + copy.inner_captured}; }

TEST(MirrorCopy, OfGreHasTheKeyAndTheFrame) {
  const Bytes frame = OverIpv4(Gre(0x3000, 0x6558, Join({Be32(0x00500007), Be32(9)}), Inner()));
  MirrorCopy copy;
  ASSERT_EQ(Read(frame, &copy), CopyVerdict::kCopy);
  EXPECT_EQ(copy.kind, CopyKind::kGre);
  EXPECT_TRUE(copy.has_key);
  EXPECT_EQ(copy.key, 0x00500007u);
  EXPECT_EQ(copy.sequence, 9u);
  EXPECT_EQ(InnerOf(copy), Inner());
  EXPECT_EQ(copy.inner_bytes, Inner().size());
}

TEST(MirrorCopy, OfGreMayBeginWithIpOverIpv6) {
  const Bytes ip = Ipv6({kProtocolUdp}, Udp(1, 2, {5}));
  const Bytes gre = Gre(0x2000, 0x86dd, Be32(7), ip);
  const Bytes frame = Ethernet(0x86dd, Ipv6({60}, Extension(kProtocolGre, 0, gre)));
  MirrorCopy copy;
  ASSERT_EQ(Read(frame, &copy), CopyVerdict::kCopy);
  EXPECT_FALSE(copy.is_ethernet);
  EXPECT_EQ(copy.outer.ip_family, 6);
  EXPECT_EQ(InnerOf(copy), ip);
}

TEST(MirrorCopy, OfErspan2HasSessionAndIndex) {
  const Bytes erspan = Join({Be32(0x1005a42a), Be32(0x00000777), Inner()});
  MirrorCopy copy;
  const Bytes frame = OverIpv4(Gre(0x1000, 0x88be, Be32(1), erspan));
  ASSERT_EQ(Read(frame, &copy), CopyVerdict::kCopy);
  EXPECT_EQ(copy.kind, CopyKind::kErspan2);
  EXPECT_EQ(copy.session, 42);
  EXPECT_EQ(copy.index, 0x777u);
  EXPECT_EQ(copy.vlan, 5);
  EXPECT_EQ(copy.cos, 5);
  EXPECT_TRUE(copy.is_truncated);
  EXPECT_EQ(InnerOf(copy), Inner());
}

TEST(MirrorCopy, OfErspan3HasAStampAndSkipsThePlatformsHeader) {
  // Group tag 3, Ethernet, hardware 5, egress, granularity 2, platform header.
  const Bytes head = Join({Be32(0x2000002a), Be32(0x01020304), Be16(3), Be16(0x005d)});
  const Bytes erspan = Join({head, Be32(0x11111111), Be32(0x22222222), Inner()});
  MirrorCopy copy;
  const Bytes frame = OverIpv4(Gre(0x1000, 0x22eb, Be32(1), erspan));
  ASSERT_EQ(Read(frame, &copy), CopyVerdict::kCopy);
  EXPECT_EQ(copy.kind, CopyKind::kErspan3);
  EXPECT_EQ(copy.session, 42);
  EXPECT_EQ(copy.timestamp, 0x01020304u);
  EXPECT_EQ(copy.group_tag, 3);
  EXPECT_EQ(copy.hardware_id, 5);
  EXPECT_EQ(copy.granularity, 2);
  EXPECT_TRUE(copy.is_egress);
  EXPECT_EQ(copy.platform, 0x1111111122222222u);
  EXPECT_EQ(InnerOf(copy), Inner());
}

TEST(MirrorCopy, OfErspan1HasNoHeader) {
  MirrorCopy copy;
  const Bytes frame = OverIpv4(Gre(0, 0x88be, {}, Inner()));
  ASSERT_EQ(Read(frame, &copy), CopyVerdict::kCopy);
  EXPECT_EQ(copy.kind, CopyKind::kErspan1);
  EXPECT_EQ(InnerOf(copy), Inner());
}

TEST(MirrorCopy, ThatWasCutSaysHowLongThePacketWas) {
  Bytes inner = Ethernet(0x8100, Tag(7, 0x0800, Ipv4({kProtocolUdp}, Udp(1, 2, Bytes(500, 1)))));
  const size_t whole = inner.size();
  inner.resize(64);
  MirrorCopy copy;
  const Bytes frame = OverIpv4(Gre(0x2000, 0x6558, Be32(1), inner));
  ASSERT_EQ(Read(frame, &copy), CopyVerdict::kCopy);
  EXPECT_EQ(copy.inner_captured, 64u);
  EXPECT_EQ(copy.inner_bytes, whole);
}

TEST(MirrorCopy, IsRefusedWithTheReason) {
  const Bytes gre = Gre(0x2000, 0x6558, Be32(1), Inner());
  EXPECT_EQ(Verdict(Ethernet(0x0800, Ipv4({kProtocolUdp}, gre))), CopyVerdict::kOther);
  EXPECT_EQ(Verdict(Ethernet(0x0806, gre)), CopyVerdict::kOther);
  EXPECT_EQ(Verdict(OverIpv4(Gre(0x2000, 0x8909, Be32(1), Inner()))), CopyVerdict::kOther);
  EXPECT_EQ(Verdict(OverIpv4(Gre(0x4000, 0x6558, Be32(1), Inner()))), CopyVerdict::kUnsupported);
  EXPECT_EQ(Verdict(OverIpv4(Gre(0x0001, 0x6558, Be32(1), Inner()))), CopyVerdict::kUnsupported);
  EXPECT_EQ(Verdict(OverIpv4(Gre(0x1000, 0x88be, Be32(1), Join({Be32(0x30000000), Inner()})))),
            CopyVerdict::kUnsupported);
  EXPECT_EQ(Verdict(OverIpv4(Gre(0x1000, 0x88be, Be32(1), Be32(0x10000000)))),
            CopyVerdict::kMalformed);
  EXPECT_EQ(Verdict(OverIpv4(Gre(0x2000, 0x6558, Be32(1), {}))), CopyVerdict::kMalformed);
  EXPECT_EQ(Verdict(OverIpv4(Gre(0x2000, 0x6558, Be16(1), {}))), CopyVerdict::kMalformed);
  Ipv4Header first{kProtocolGre};
  first.fragment = 0x2000;
  EXPECT_EQ(Verdict(Ethernet(0x0800, Ipv4(first, gre))), CopyVerdict::kFragment);
}

// --- Captures of others, against tshark ---

class CopiesOfOthers : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = test_captures::FindCaptures().path.string() + "/";
    if (!std::filesystem::is_directory(folder_)) GTEST_SKIP() << "no captures in " << folder_;
    if (!test_captures::HasTshark()) GTEST_SKIP() << "no tshark";
  }

  // One line a packet, as tshark says it.
  std::vector<std::string> Tshark(const std::string& path) {
    std::string command = "tshark -r '" + path + "' -T fields -E separator=, -E occurrence=f";
    for (const char* field :
         {"gre.proto", "erspan.version", "erspan.vlan", "erspan.cos", "erspan.truncated",
          "erspan.spanid", "erspan.index", "erspan.timestamp", "erspan.sgt", "erspan.ft",
          "erspan.hw", "erspan.gra", "gre.sequence_number"}) {
      command += std::string(" -e ") + field;
    }
    struct Close {
      void operator()(std::FILE* pipe) const { pclose(pipe); }
    };
    const std::unique_ptr<std::FILE, Close> pipe(popen((command + " 2>/dev/null").c_str(), "r"));
    std::vector<std::string> lines;
    std::array<char, 4096> line{};
    while (std::fgets(line.data(), line.size(), pipe.get()) != nullptr) {
      lines.emplace_back(line.data());
      lines.back().pop_back();
    }
    return lines;
  }

  std::string folder_;
};

// As Tshark() asks for it.
std::string Line(const MirrorCopy& copy) {
  const auto number = [](uint32_t value) { return std::to_string(value); };
  if (copy.kind == CopyKind::kGre) return "0x0800,,,,,,,,,,,,";
  std::string line = (copy.kind == CopyKind::kErspan3 ? "0x22eb" : "0x88be") + std::string(",");
  if (copy.kind == CopyKind::kErspan1) return line + ",,,,,,,,,,,";
  const bool is_third = copy.kind == CopyKind::kErspan3;
  line += number(is_third ? 2 : 1) + "," + number(copy.vlan) + "," + number(copy.cos) + "," +
          number(copy.is_truncated ? 1 : 0) + "," + number(copy.session) + ",";
  line += (is_third ? "" : number(copy.index)) + ",";
  const std::string sequence = copy.has_sequence ? number(copy.sequence) : "";
  if (!is_third) return line + ",,,,," + sequence;
  return line + number(copy.timestamp) + "," + number(copy.group_tag) + "," +
         number(copy.frame_type) + "," + number(copy.hardware_id) + "," + number(copy.granularity) +
         "," + sequence;
}

TEST_F(CopiesOfOthers, OfErspanHaveTheFieldsThatTsharkSees) {
  size_t copies = 0;
  for (const char* name : {"erspan-type-i-1", "erspan-type-i-2", "erspan-type-i-3",
                           "erspan-type-i-4", "erspan-type-ii-1", "erspan-type-ii-2",
                           "erspan-type-ii-3", "erspan-type-iii-ft-0", "erspan-type-iii-ft-7"}) {
    const std::string path = folder_ + name + ".pcap";
    const std::vector<std::string> expected = Tshark(path);
    Result<PcapReader> reader = PcapReader::OpenFile(path);
    ASSERT_TRUE(reader.ok()) << reader.message();
    TimedFrame timed;
    for (size_t i = 0; *reader->Next(&timed); ++i) {
      MirrorCopy copy;
      const CopyVerdict verdict = ReadMirrorCopy(timed.frame, &copy);
      ASSERT_LT(i, expected.size());
      if (expected[i].compare(0, 3, ",,,") == 0) {  // no GRE
        EXPECT_EQ(verdict, CopyVerdict::kOther) << name << ", packet " << i + 1;
        continue;
      }
      EXPECT_EQ(Line(copy), expected[i]) << name << ", packet " << i + 1;
      if (copy.frame_type == 7) {
        EXPECT_EQ(verdict, CopyVerdict::kUnsupported);
      } else {
        EXPECT_EQ(verdict, CopyVerdict::kCopy) << name << ", packet " << i + 1;
        ++copies;
      }
    }
  }
  EXPECT_EQ(copies, 235u);
}

TEST_F(CopiesOfOthers, WithHalfAPlatformHeaderAreReadUpToIt) {
  Result<PcapReader> reader = PcapReader::OpenFile(folder_ + "erspan-type-iii-pb-1.pcap");
  ASSERT_TRUE(reader.ok()) << reader.message();
  TimedFrame timed;
  ASSERT_TRUE(*reader->Next(&timed));
  const Bytes frame(timed.frame.data, timed.frame.data + timed.frame.captured_length);
  MirrorCopy copy;
  EXPECT_EQ(Read(frame, &copy), CopyVerdict::kMalformed);
  EXPECT_TRUE(copy.has_platform);
  EXPECT_EQ(Line(copy), Tshark(folder_ + "erspan-type-iii-pb-1.pcap").at(0));
}

TEST_F(CopiesOfOthers, ThatAreHostileOrOfOtherKindsAreRefused) {
  for (const char* name : {"gre-heapoverflow-1", "gre-heapoverflow-2", "various_gre", "vxlan",
                           "geneve", "wccp_redirect_gre"}) {
    Result<PcapReader> reader = PcapReader::OpenFile(folder_ + name + ".pcap");
    ASSERT_TRUE(reader.ok()) << reader.message();
    TimedFrame timed;
    for (size_t i = 0; *reader->Next(&timed); ++i) {
      MirrorCopy copy;
      EXPECT_NE(ReadMirrorCopy(timed.frame, &copy), CopyVerdict::kCopy) << name << " " << i + 1;
    }
  }
}

}  // namespace
}  // namespace trumpet
