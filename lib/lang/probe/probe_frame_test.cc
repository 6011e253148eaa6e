// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Frames of probes, field for field as tshark reads them, which says of their checksums what a host
// would.

#include "lib/packet/probe_frame.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "lib/base/byte_order.h"
#include "lib/base/random_runs_test.h"
#include "lib/lang/probe/probe_language.h"
#include "lib/packet/layers.h"
#include "lib/packet/test_captures.h"

namespace trumpet {
namespace {

using test_frames::Bytes;

Bytes BytesOf(const std::string& frame) { return {frame.begin(), frame.end()}; }

class RandomProbes {
 public:
  explicit RandomProbes(uint64_t seed) : random_(seed) {}

  ProbePacket Packet() {
    ProbePacket packet;
    const bool is_ipv6 = Below(2) == 0;
    packet.src = Address(is_ipv6);
    packet.dst = Address(is_ipv6);
    const uint8_t protocols[] = {kProtocolUdp, kProtocolTcp,
                                 is_ipv6 ? kProtocolIcmpv6 : kProtocolIcmp};
    packet.protocol = protocols[Below(3)];
    packet.src_port = Number16();
    packet.dst_port = Number16();
    packet.tcp_flags = Number16() & 0xfff;
    packet.icmp_type = static_cast<uint8_t>(Below(256));
    packet.icmp_code = static_cast<uint8_t>(Below(256));
    for (size_t i = 0; i < 6; ++i) packet.src_mac[i] = static_cast<uint8_t>(Below(256));
    for (size_t i = 0; i < 6; ++i) packet.dst_mac[i] = static_cast<uint8_t>(Below(256));
    packet.src_mac[0] &= 0xfe;
    packet.dst_mac[0] = static_cast<uint8_t>((packet.dst_mac[0] & 0xfe) | 2);
    if (Below(3) == 0) packet.vlan = static_cast<uint16_t>(Below(4096));
    packet.dscp = static_cast<uint8_t>(Below(64));
    packet.ecn = static_cast<uint8_t>(Below(4));
    packet.ttl = static_cast<uint8_t>(1 + Below(255));
    packet.bytes = static_cast<uint16_t>(kLeastProbeBytes + Below(1500));
    return packet;
  }
  ProbeMark Mark() { return {random_(), static_cast<uint32_t>(Below(kMaxProbePackets))}; }
  uint32_t Below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }

 private:
  uint16_t Number16() { return static_cast<uint16_t>(random_()); }
  FieldValue Address(bool is_ipv6) {
    FieldValue address{is_ipv6 ? ValueKind::kIpv6 : ValueKind::kIpv4, 0};
    address.value = Uint128{random_()} << 64 | random_();
    if (is_ipv6) {
      address.value = (address.value >> 8) | Uint128{0x20} << 120;
    } else {
      address.value = (address.value & 0xdfffffff) | 1;  // neither a group nor 0
      if (address.value >> 28 >= 14) address.value &= 0x0fffffff;
    }
    return address;
  }

  std::mt19937_64 random_;
};

uint32_t Sum(const uint8_t* at, size_t bytes, uint32_t sum) {
  for (size_t i = 0; i < bytes; ++i) sum += i % 2 == 0 ? uint32_t{at[i]} << 8 : at[i];
  return sum;
}

uint32_t Folded(uint32_t sum) {
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

// Would a host take it?  As RFC 1071 says it, over the bytes of the frame.
bool IsTaken(const Bytes& frame) {
  const size_t ip = LoadBe16(frame.data() + 12) == 0x8100 ? 18 : 14;
  const bool is_ipv6 = frame[ip] >> 4 == 6;
  const size_t at = ip + (is_ipv6 ? 40 : 20);
  const uint8_t protocol = frame[ip + (is_ipv6 ? 6 : 9)];
  if (!is_ipv6 && Folded(Sum(frame.data() + ip, 20, 0)) != 0xffff) ADD_FAILURE() << "header";
  if (protocol == kProtocolUdp && LoadBe16(frame.data() + at + 6) == 0) return true;
  uint32_t sum = Sum(frame.data() + at, frame.size() - at, 0);
  if (protocol != kProtocolIcmp) {
    sum = Sum(frame.data() + ip + (is_ipv6 ? 8 : 12), is_ipv6 ? 32 : 8, sum);
    sum += static_cast<uint32_t>(frame.size() - at) + protocol;
  }
  return Folded(sum) == 0xffff;
}

TEST(ProbeFrame, NoHostTakesOneWhateverIsInIt) {
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(20); ++seed) {
    RandomProbes random(seed);
    for (int i = 0; i < 5000; ++i) {
      const ProbePacket packet = random.Packet();
      ASSERT_EQ(ProbePacketProblem(packet), "");
      const auto debug = static_cast<uint8_t>(random.Below(2) << random.Below(6));
      const Bytes frame = BytesOf(MakeProbeFrame(packet, random.Mark(), debug));
      ASSERT_FALSE(IsTaken(frame)) << "seed " << seed << ": " << PrintProbePacket(packet);
      ASSERT_GE(frame.size(), packet.bytes);
    }
  }
}

// All values of the checksum come up: the mark is changed until they have.
TEST(ProbeFrame, EvenWhereTheRightChecksumIsNextToNone) {
  ProbePacket packet =
      *ParseProbePacket("udp srcIP=10.0.0.1 dstIP=10.0.0.2 dstMAC=02:00:00:00:00:02 bytes=70", "t");
  std::set<uint16_t> seen;
  for (uint32_t i = 0; i < 200'000 && seen.size() < 65'534; ++i) {
    const Bytes frame = BytesOf(MakeProbeFrame(packet, {i, 0}, 0));
    ASSERT_FALSE(IsTaken(frame)) << i;
    seen.insert(LoadBe16(frame.data() + 40));
  }
  EXPECT_GE(seen.size(), 65'534u);
  EXPECT_EQ(seen.count(0), 0u);
}

TEST(ProbeFrame, ItsMarkIsReadBackThroughItsHeaders) {
  RandomProbes random(7);
  for (int i = 0; i < 5000; ++i) {
    ProbePacket packet = random.Packet();
    packet.dst_port = 33434;  // of no tunnel
    packet.src_port = 33434;
    const ProbeMark mark = random.Mark();
    const Bytes frame = BytesOf(MakeProbeFrame(packet, mark, 0));
    Layers layers;
    ReadLayers(frame.data(), static_cast<uint32_t>(frame.size()), LayerKind::kEthernet, {},
               &layers);
    const bool has_ports = packet.protocol == kProtocolUdp || packet.protocol == kProtocolTcp;
    const size_t at = layers.payload_at + (has_ports ? 0 : 8);
    const auto read = ReadProbeMark(frame.data() + at, layers.payload_end - at);
    ASSERT_TRUE(read.has_value()) << PrintProbePacket(packet);
    EXPECT_EQ(read->probe, mark.probe);
    EXPECT_EQ(read->packet, mark.packet);
    EXPECT_FALSE(ReadProbeMark(frame.data() + at, kProbeMarkBytes - 1).has_value());
    EXPECT_FALSE(ReadProbeMark(frame.data() + at + 1, kProbeMarkBytes).has_value());
  }
}

TEST(ProbeFrame, APacketLikeItHasTheSameFields) {
  RandomProbes random(11);
  for (int i = 0; i < 5000; ++i) {
    ProbePacket packet = random.Packet();
    const Bytes frame = BytesOf(MakeProbeFrame(packet, random.Mark(), 0));
    packet.bytes = static_cast<uint16_t>(frame.size());
    const size_t headers = frame.size() < 128 ? frame.size() : 128;
    const auto like = ProbePacketLike(frame.data(), headers, static_cast<uint32_t>(frame.size()));
    ASSERT_TRUE(like.has_value()) << PrintProbePacket(packet);
    ASSERT_EQ(PrintProbePacket(*like), PrintProbePacket(packet));
    // Cut anywhere, it is read to there and no further (a sanitizer sees it).
    for (size_t bytes = 0; bytes < 80; bytes += 1 + random.Below(8)) {
      const Bytes cut(frame.begin(), frame.begin() + static_cast<long>(std::min(bytes, headers)));
      const auto short_one = ProbePacketLike(cut.data(), cut.size(), 0);
      ASSERT_TRUE(!short_one.has_value() || cut.size() >= 14u + 20 + 8);
    }
  }
}

TEST(ProbeFrame, NothingIsLikeWhatProbesCannotBe) {
  const auto packet =
      ParseProbePacket("udp srcIP=10.0.0.1 dstIP=10.0.0.2 dstMAC=02:00:00:00:00:02", "t");
  const Bytes frame = BytesOf(MakeProbeFrame(*packet, {7, 1}, 0));
  const auto is_like = [&](size_t at, uint8_t value) {
    Bytes other = frame;
    other[at] = value;
    return ProbePacketLike(other.data(), other.size(), 0).has_value();
  };
  EXPECT_TRUE(is_like(22, 1)) << "another TTL";
  EXPECT_FALSE(is_like(12, 0x09)) << "another EtherType";
  EXPECT_FALSE(is_like(14, 0x65)) << "another version";
  EXPECT_FALSE(is_like(14, 0x44)) << "a short header";
  EXPECT_TRUE(is_like(14, 0x46)) << "with options";
  EXPECT_FALSE(is_like(21, 9)) << "a later fragment";
  EXPECT_FALSE(is_like(23, 47)) << "GRE";
  EXPECT_FALSE(is_like(0, 0xff)) << "to a group";
  EXPECT_FALSE(is_like(30, 0xe0)) << "to a group";
}

// ---- Beside tshark ----

constexpr const char* kFields[] = {"eth.dst",
                                   "eth.src",
                                   "vlan.id",
                                   "ip.src",
                                   "ip.dst",
                                   "ip.ttl",
                                   "ip.dsfield",
                                   "ip.proto",
                                   "ip.flags.df",
                                   "ip.checksum.status",
                                   "ipv6.src",
                                   "ipv6.dst",
                                   "ipv6.hlim",
                                   "ipv6.nxt",
                                   "ipv6.tclass",
                                   "udp.srcport",
                                   "udp.dstport",
                                   "udp.length",
                                   "tcp.srcport",
                                   "tcp.dstport",
                                   "tcp.flags",
                                   "icmp.type",
                                   "icmp.code",
                                   "icmpv6.type",
                                   "icmpv6.code",
                                   "frame.len",
                                   "udp.checksum.status",
                                   "tcp.checksum.status",
                                   "icmp.checksum.status",
                                   "icmpv6.checksum.status"};

std::string Plain(const std::string& value) {
  if (value == "True") return "1";
  char* end = nullptr;
  const unsigned long long number = std::strtoull(value.c_str(), &end, 0);
  return *end == '\0' && !value.empty() ? std::to_string(number) : value;
}

using Values = std::map<std::string, std::string>;

std::vector<Values> TsharksOf(const std::string& path) {
  std::string command = "tshark -n -r '" + path +
                        "' -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE"
                        " -o tcp.check_checksum:TRUE";
  command += " -T fields -E separator='|' -E occurrence=f";
  for (const char* field : kFields) command += std::string(" -e ") + field;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(
      popen((command + " 2>/dev/null").c_str(), "r"), pclose);
  std::string text;
  char buffer[4096];
  for (size_t size; (size = std::fread(buffer, 1, sizeof buffer, pipe.get())) > 0;) {
    text.append(buffer, size);
  }
  std::vector<Values> frames;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    Values& values = frames.emplace_back();
    std::istringstream columns(line);
    size_t i = 0;
    for (std::string value; std::getline(columns, value, '|'); ++i) {
      if (!value.empty()) values[kFields[i]] = Plain(value);
    }
  }
  return frames;
}

std::string MacText(const MacBytes& mac) {
  char text[18];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
                mac[4], mac[5]);
  return text;
}

// What tshark should say of it: 0 is a bad checksum, 1 a good one.
Values Expected(const ProbePacket& packet, size_t bytes, uint8_t debug) {
  Values values;
  const auto put = [&](const char* name, unsigned value) { values[name] = std::to_string(value); };
  values["eth.dst"] = MacText(packet.dst_mac);
  values["eth.src"] = MacText(packet.src_mac);
  put("frame.len", static_cast<unsigned>(bytes));
  if (packet.vlan) put("vlan.id", *packet.vlan);
  const unsigned traffic_class = static_cast<unsigned>(packet.dscp | debug) << 2 | packet.ecn;
  const bool is_ipv6 = packet.src.kind == ValueKind::kIpv6;
  values[is_ipv6 ? "ipv6.src" : "ip.src"] = FormatValue(packet.src);
  values[is_ipv6 ? "ipv6.dst" : "ip.dst"] = FormatValue(packet.dst);
  put(is_ipv6 ? "ipv6.hlim" : "ip.ttl", packet.ttl);
  put(is_ipv6 ? "ipv6.nxt" : "ip.proto", packet.protocol);
  put(is_ipv6 ? "ipv6.tclass" : "ip.dsfield", traffic_class);
  if (!is_ipv6) {
    put("ip.flags.df", 1);
    put("ip.checksum.status", 1);
  }
  const std::string name = packet.protocol == kProtocolUdp    ? "udp"
                           : packet.protocol == kProtocolTcp  ? "tcp"
                           : packet.protocol == kProtocolIcmp ? "icmp"
                                                              : "icmpv6";
  put((name + ".checksum.status").c_str(), 0);
  if (name[0] == 'i') {
    put((name + ".type").c_str(), packet.icmp_type);
    put((name + ".code").c_str(), packet.icmp_code);
    return values;
  }
  put((name + ".srcport").c_str(), packet.src_port);
  put((name + ".dstport").c_str(), packet.dst_port);
  if (name == "tcp") put("tcp.flags", packet.tcp_flags);
  const size_t before = 14 + (packet.vlan ? 4 : 0) + (is_ipv6 ? 40 : 20);
  if (name == "udp") put("udp.length", static_cast<unsigned>(bytes - before));
  return values;
}

TEST(ProbeFrame, IsWhatWasAskedForAndBadAsTsharkReadsIt) {
  if (!test_captures::HasTshark()) GTEST_SKIP() << "no tshark";
  RandomProbes random(20261123);
  Bytes file = test_captures::PcapHeader();
  std::vector<Values> expected;
  std::vector<std::string> texts;
  for (int i = 0; i < 3000; ++i) {
    const ProbePacket packet = random.Packet();
    const auto debug = static_cast<uint8_t>(random.Below(2) << random.Below(6));
    const Bytes frame = BytesOf(MakeProbeFrame(packet, random.Mark(), debug));
    const Bytes record = test_captures::PcapPacket(1, 0, frame);
    file.insert(file.end(), record.begin(), record.end());
    expected.push_back(Expected(packet, frame.size(), debug));
    texts.push_back(PrintProbePacket(packet));
  }
  const test_captures::TemporaryFile capture(file);
  const std::vector<Values> theirs = TsharksOf(capture.path());
  ASSERT_EQ(theirs.size(), expected.size());
  for (size_t i = 0; i < theirs.size(); ++i) EXPECT_EQ(theirs[i], expected[i]) << texts[i];
}

}  // namespace
}  // namespace trumpet
