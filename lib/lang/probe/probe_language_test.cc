// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/probe/probe_language.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

constexpr char kTo[] = "dstMAC=02:00:00:00:00:02";

// The canonical form, which reads back as the same, or the error.
std::string Canonical(const std::string& text) {
  const auto packet = ParseProbePacket(text, "t");
  if (!packet.ok()) return packet.message();
  std::string printed = PrintProbePacket(*packet);
  const auto again = ParseProbePacket(printed, "printed");
  EXPECT_TRUE(again.ok()) << printed << ": " << again.message();
  if (again.ok()) {
    EXPECT_EQ(PrintProbePacket(*again), printed);
    const ProbeMark mark{0x123456789abcdef0, 3};
    EXPECT_EQ(MakeProbeFrame(*again, mark, 0), MakeProbeFrame(*packet, mark, 0)) << printed;
  }
  return printed;
}

std::string Kept(const std::string& text) { return text + " " + kTo; }

TEST(ProbeLanguage, SaysPacketsInTheirCanonicalForm) {
  const std::string ends = " srcMAC=02:54:52:4d:50:50 dstMAC=02:00:00:00:00:02";
  EXPECT_EQ(Canonical(Kept("srcIP=10.0.1.1 dstIP=10.0.2.2")),
            "Protocol=UDP srcIP=10.0.1.1 dstIP=10.0.2.2 srcPort=33434 dstPort=33434" + ends +
                " dscp=0 ecn=0 ttl=64 bytes=100");
  EXPECT_EQ(
      Canonical(Kept("tcp,srcIP=10.0.1.1,dstIP=10.0.2.2,dstPort=80,tcpFlags=+syn+ack,vlan=5")),
      "Protocol=TCP srcIP=10.0.1.1 dstIP=10.0.2.2 srcPort=33434 dstPort=80 tcpFlags=18" + ends +
          " vlan=5 dscp=0 ecn=0 ttl=64 bytes=100");
  EXPECT_EQ(Canonical(Kept("Protocol=icmp srcIP=fd00::1 dstIP=fd00:0::2 ttl=3 dscp=0x2e bytes=60")),
            "Protocol=ICMPv6 srcIP=fd00::1 dstIP=fd00::2 icmpType=128 icmpCode=0" + ends +
                " dscp=46 ecn=0 ttl=3 bytes=60");
  EXPECT_EQ(Canonical(Kept("ICMP icmpType=13 icmpCode=1 srcIP=10.0.0.1 dstIP=10.0.0.2 ecn=1")),
            "Protocol=ICMP srcIP=10.0.0.1 dstIP=10.0.0.2 icmpType=13 icmpCode=1" + ends +
                " dscp=0 ecn=1 ttl=64 bytes=100");
  EXPECT_EQ(Canonical(Kept("udp srcIP=1.1.1.1 dstIP=1.1.1.2 srcMAC=02:00:00:00:00:01")),
            "Protocol=UDP srcIP=1.1.1.1 dstIP=1.1.1.2 srcPort=33434 dstPort=33434"
            " srcMAC=02:00:00:00:00:01 dstMAC=02:00:00:00:00:02 dscp=0 ecn=0 ttl=64 bytes=100");
}

TEST(ProbeLanguage, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(Canonical("udp srcip=10.0.0.1"),
            "t:1:5: 'srcip' is not a key of a packet; did you mean 'srcIP'?");
  EXPECT_EQ(Canonical("udp srcIP=10.0.0.300"), "t:1:11: '10.0.0.300' is no IPv4 or IPv6 address");
  EXPECT_EQ(Canonical("udp dstMAC=02:00"), "t:1:12: '02:00' is no address of Ethernet");
  EXPECT_EQ(Canonical("udp tcp"), "t:1:5: 'Protocol' stands twice here");
  EXPECT_EQ(Canonical("gre"), "t:1:1: 'gre' is no FIELD=VALUE");
  EXPECT_EQ(Canonical("Protocol=gre"),
            "t:1:10: 'gre' is no protocol of probes; UDP, TCP and ICMP are");
  EXPECT_EQ(Canonical("udp vlan=4096"), "t:1:10: 'vlan' takes a whole number from 0 to 4095");
  EXPECT_EQ(Canonical("udp\nttl=0"), "t:2:5: 'ttl' takes a whole number from 1 to 255");
  EXPECT_EQ(Canonical("udp bytes=59"), "t:1:11: 'bytes' takes a whole number from 60 to 9018");
  EXPECT_EQ(Canonical("tcp tcpFlags=+sin"),
            "t:1:14: 'tcpFlags' takes names, +syn+ack, or a number up to 0xfff");
  EXPECT_EQ(Canonical("tcp tcpFlags="),
            "t:1:14: 'tcpFlags' takes names, +syn+ack, or a number up to 0xfff");
  EXPECT_EQ(Canonical("udp dstIP=10.0.0.1"), "t:1:1: a packet needs srcIP");
  EXPECT_EQ(Canonical("udp srcIP=10.0.0.1"), "t:1:1: a packet needs dstIP");
  EXPECT_EQ(Canonical("udp srcIP=10.0.0.1 dstIP=fd00::1"),
            "t:1:1: srcIP and dstIP are of two kinds");
  EXPECT_EQ(Canonical("udp srcIP=10.0.0.1 dstIP=224.0.0.1"),
            "t:1:1: dstIP is no address of a host");
  EXPECT_EQ(Canonical("udp srcIP=ff02::1 dstIP=fd00::1"), "t:1:1: srcIP is no address of a host");
  EXPECT_EQ(Canonical("icmpv6 srcIP=10.0.0.1 dstIP=10.0.0.2"),
            "t:1:1: Protocol is UDP, TCP or ICMP");
  EXPECT_EQ(Canonical("udp srcIP=10.0.0.1 dstIP=10.0.0.2"),
            "t:1:1: a packet needs dstMAC: without, bridges would send it everywhere");
  EXPECT_EQ(Canonical("udp srcIP=10.0.0.1 dstIP=10.0.0.2 dstMAC=ff:ff:ff:ff:ff:ff"),
            "t:1:1: dstMAC is that of a group");
  EXPECT_EQ(Canonical("udp srcIP=10.0.0.1 dstIP=10.0.0.2 dstMAC=02:00:00:00:00:02 "
                      "srcMAC=01:00:00:00:00:01"),
            "t:1:1: srcMAC is that of a group");
}

TEST(ProbeLanguage, RequestsAreYamlAndJson) {
  const auto json = ParseProbeRequestJson(
      R"({"switch": "leaf1", "port": 3, "count": 5, "rate": 20, "wait": 2, "packet":
          {"Protocol": "TCP", "srcIP": "10.0.1.1", "dstIP": "10.0.2.2", "dstPort": 80,
           "dstMAC": "02:00:00:00:00:02"}})",
      "t");
  ASSERT_TRUE(json.ok()) << json.message();
  EXPECT_EQ(json->switch_name, "leaf1");
  EXPECT_EQ(json->port, "3");
  EXPECT_EQ(json->count, 5u);
  EXPECT_EQ(json->rate, 20u);
  EXPECT_EQ(json->wait_seconds, 2u);
  const auto yaml = ParseProbeRequestYaml(
      "switch: leaf1\nport: eth1\npacket: tcp srcIP=10.0.1.1 dstIP=10.0.2.2 dstPort=80 "
      "dstMAC=02:00:00:00:00:02\n",
      "t");
  ASSERT_TRUE(yaml.ok()) << yaml.message();
  EXPECT_EQ(yaml->port, "eth1");
  EXPECT_EQ(yaml->count, 3u);
  EXPECT_EQ(PrintProbePacket(yaml->packet), PrintProbePacket(json->packet));
  EXPECT_TRUE(yaml->via.empty());
}

TEST(ProbeLanguage, SwitchesOnTheWayAreAListOrATextWithCommas) {
  const std::string rest =
      "\nswitch: a\nport: 1\npacket: udp srcIP=10.0.1.1 dstIP=10.0.2.2 " + std::string(kTo) + "\n";
  const auto read = [&](const std::string& via) {
    const auto request = ParseProbeRequestYaml("via: " + via + rest, "t");
    if (!request.ok()) return request.message();
    std::string text;
    for (const std::string& name : request->via) text += "<" + name + ">";
    return text;
  };
  EXPECT_EQ(read("[s1, s2]"), "<s1><s2>");
  EXPECT_EQ(read("s1,s2"), "<s1><s2>");
  EXPECT_EQ(read("s1"), "<s1>");
  for (const char* wrong : {"[]", "{a: b}", "'s1,'", "''", "[[s1]]"}) {
    EXPECT_NE(read(wrong).find(": 'via' takes names of switches"), std::string::npos) << wrong;
  }
  EXPECT_EQ(read("1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"),
            "t:1:6: 'via' takes 16 switches at most");
}

TEST(ProbeLanguage, RequestsSayWhatIsWrongAndWhere) {
  const auto error = [](const std::string& text) {
    const auto request = ParseProbeRequestJson(text, "t");
    return request.ok() ? "fine" : request.message();
  };
  EXPECT_EQ(error("[]"), "t:1:1: a probe is a map of keys");
  EXPECT_EQ(error(R"({"swich": "a"})"),
            "t:1:2: 'swich' is not a key of a probe; did you mean 'switch'?");
  EXPECT_EQ(error(R"({"switch": "a", "switch": "b"})"), "t:1:17: 'switch' stands twice here");
  EXPECT_EQ(error(R"({"switch": ["a"]})"), "t:1:12: 'switch' takes a text or a number");
  EXPECT_EQ(error(R"({"port": 1, "packet": "udp"})"), "t:1:1: this probe has no 'switch'");
  EXPECT_EQ(error(R"({"switch": "a", "packet": "udp"})"), "t:1:1: this probe has no 'port'");
  EXPECT_EQ(error(R"({"switch": "a", "port": 1})"), "t:1:1: this probe has no 'packet'");
  EXPECT_EQ(error(R"({"switch": "a", "port": 1, "count": 101})"),
            "t:1:37: 'count' takes a whole number from 1 to 100");
  EXPECT_EQ(error(R"({"switch": "a", "port": 1, "packet": 7})"),
            "t:1:38: 'packet' takes a line or a map");
  EXPECT_EQ(error(R"({"switch": "a", "port": 1, "packet": "udp srcIP=x"})"),
            "t:1:49: 'x' is no IPv4 or IPv6 address");
  EXPECT_EQ(error(R"({"switch": "a", "port": 1, "packet": {"ttl": []}})"),
            "t:1:46: a field takes a text or a number");
  EXPECT_EQ(error(R"({"switch": "a", "port": 1, "packet": {"ttl": 5, "ttl": 6}})"),
            "t:1:49: 'ttl' stands twice here");
}

}  // namespace
}  // namespace trumpet
