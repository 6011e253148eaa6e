// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Tags that travel beside the bytes of packets: programs, ports and shims together.

#include "vswitchd-plugin/carrier_ports.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lib/base/byte_order.h"
#include "lib/packet/checksum.h"
#include "vswitchd-plugin/fake_switch_test.h"

namespace trumpet {
namespace {

using testing::StillSwitch;
using Bytes = std::vector<uint8_t>;

enum Port : uint32_t { kLeft = 3, kRight = 5, kLinkA = 7, kLinkB = 9, kOther = 11 };
constexpr size_t kFree = 32;  // in front of each packet

// Counts packets, and the switches that they have passed.
std::string Hops(const std::string& field) {
  return "role first_hop { pkts >> tag(" + field + ", 1); }\n" +
         "role intermediate { pkts >> tag(" + field + ", " + field + " + 1); }\n" +
         "role last_hop { n = Counter(width=32); hops = Counter(width=32);\n" +
         "  pkts >> n.set(n + 1) >> hops.set(hops + " + field + "); }\n";
}

Bytes Arp(size_t length = 60) {
  Bytes bytes(length, 7);
  StoreBe16(&bytes[12], 0x0806);
  return bytes;
}

// With a right header checksum.
Bytes Udp(size_t length = 60) {
  Bytes bytes(length, 9);
  StoreBe16(&bytes[12], 0x0800);
  uint8_t* const ip = &bytes[14];
  std::fill(ip, ip + 28, 0);
  ip[0] = 0x45;
  StoreBe16(ip + 2, static_cast<uint16_t>(length - 14));
  ip[8] = 64;
  ip[9] = 17;
  StoreBe16(ip + 10, static_cast<uint16_t>(0xffff - SumOfWords(ip, 20) % 0xffff));
  return bytes;
}

// UDP to the port of Geneve, without options.
Bytes InGeneve() {
  Bytes bytes(120, 9);
  StoreBe16(&bytes[12], 0x0800);
  uint8_t* const ip = &bytes[14];
  std::fill(ip, ip + 36, 0);
  ip[0] = 0x45;
  StoreBe16(ip + 2, 106);
  ip[8] = 64;
  ip[9] = 17;
  StoreBe16(ip + 22, 6081);
  StoreBe16(ip + 24, 86);
  StoreBe16(ip + 30, 0x6558);
  return bytes;
}

class CarrierPortsTest : public ::testing::Test {
 protected:
  // A packet in a switch: what the datapath knows of it.
  struct Packet {
    Bytes bytes;
    uint32_t in_port = 0;
    trumpet_carried carried{};
  };

  CarrierPortsTest() : still_(1) {
    Configure({{"trumpet-enable", "true"}, {"trumpet-carriers", "link-*,key:s"}});
    still_.plugin.UpdatePort(kLeft, "left", "system", true);
    still_.plugin.UpdatePort(kRight, "right", "system", true);
    still_.plugin.UpdatePort(kLinkA, "link-a", "system", true);
    still_.plugin.UpdatePort(kLinkB, "link-b", "system", true);
    still_.plugin.UpdatePort(kOther, "other", "system", true);
    still_.RunMs(1);
  }

  void Configure(const ConfigPairs& pairs) { still_.plugin.SetConfig(pairs); }
  std::string Add(const std::string& text) {
    return still_.Command("trumpet/program-add", {"p", text, "edge=left,right"});
  }
  CarrierPorts& carriers() { return still_.plugin.carriers(); }

  // As ovs_glue.c does it.
  Packet Receive(Bytes bytes, uint32_t port) {
    Packet packet{std::move(bytes), port, {}};
    if (carriers().Mtu(port) == 0) return packet;
    const ShimFrame frame{packet.bytes.data(), static_cast<uint32_t>(packet.bytes.size())};
    const uint32_t taken = carriers().Take(frame, &packet.carried);
    packet.bytes.erase(packet.bytes.begin(), packet.bytes.begin() + taken);
    return packet;
  }
  Bytes Send(const Packet& packet, uint32_t port, bool is_fixed = false) {
    Bytes buffer(kFree);
    buffer.insert(buffer.end(), packet.bytes.begin(), packet.bytes.end());
    const auto size = static_cast<uint32_t>(packet.bytes.size());
    const uint32_t mtu = carriers().Mtu(port);
    const bool has_room = mtu != 0 && mtu + 14 > size && !is_fixed;
    const uint32_t room = has_room ? mtu + 14 - size : 0;
    trumpet_sent_frame frame{&buffer[kFree], size,           size, packet.in_port, is_fixed, false,
                             false,          packet.carried, room};
    if (still_.fake.is_tx_wanted()) still_.threads[0]->OnSend(&frame, 1, port, 1000000);
    trumpet_shims put = {};
    if (mtu != 0 && carriers().NeedsShims(frame)) put = carriers().Put(frame);
    const size_t added = put.vlan_bytes + put.option_bytes;
    return Bytes(buffer.begin() + static_cast<long>(kFree - added), buffer.end());
  }
  Bytes Through(Bytes bytes, uint32_t in_port, uint32_t out_port) {
    return Send(Receive(std::move(bytes), in_port), out_port);
  }
  Bytes Across(Bytes bytes) {
    bytes = Through(std::move(bytes), kLeft, kLinkA);
    bytes = Through(std::move(bytes), kLinkA, kLinkB);
    return Through(std::move(bytes), kLinkB, kRight);
  }
  uint64_t Read(const std::string& variable) {
    const auto answer =
        nlohmann::json::parse(still_.Command("trumpet/program-read", {"json", "p", variable}));
    return answer["largest"].empty() ? 0 : answer["largest"][0]["value"].get<uint64_t>();
  }
  nlohmann::json Show() {
    return nlohmann::json::parse(still_.Command("trumpet/program-show", {"json", "p"}));
  }

  StillSwitch still_;
};

TEST_F(CarrierPortsTest, TagsOfAnyPacketTravelInAVlanTagUpToTheLastHop) {
  EXPECT_EQ(Add(Hops("vlan.vid")), "program p installed\n");
  EXPECT_EQ(Across(Arp()), Arp());
  EXPECT_EQ(Read("n"), 1u);
  EXPECT_EQ(Read("hops"), 2u);
  const Bytes tagged = Through(Arp(), kLeft, kLinkA);
  ASSERT_EQ(tagged.size(), Arp().size() + 8);
  EXPECT_EQ(LoadBe32(&tagged[12]), 0x88a80001u);
  EXPECT_EQ(Receive(tagged, kLinkA).bytes, Arp()) << "what lookups see";
  EXPECT_EQ(Through(Arp(), kLeft, kRight), Arp());
}

TEST_F(CarrierPortsTest, TagsOfPacketsInGeneveTravelInAnOption) {
  Add(Hops("geneve.option"));
  EXPECT_EQ(Across(InGeneve()), InGeneve());
  EXPECT_EQ(Read("n"), 1u);
  EXPECT_EQ(Read("hops"), 2u);
  EXPECT_EQ(Through(InGeneve(), kLeft, kLinkA).size(), InGeneve().size() + 12);
  EXPECT_EQ(Across(Arp()), Arp());
  EXPECT_EQ(Show()["untagged"], 0u) << "it is not about others";
}

TEST_F(CarrierPortsTest, PacketsWithoutRoomPassAsTheyAreAndAreCounted) {
  Add(Hops("vlan.vid"));
  const Bytes fits = Arp(1506);
  const Bytes full = Arp(1507);
  EXPECT_EQ(Through(fits, kLeft, kLinkA).size(), 1514u);
  EXPECT_EQ(Through(full, kLeft, kLinkA), full);
  EXPECT_EQ(Through(Arp(59), kLeft, kLinkA), Arp(59));
  EXPECT_EQ(Through(Arp(), kLeft, kOther), Arp()) << "no carrier";
  EXPECT_EQ(Send({Arp(), kLeft, {}}, kLinkA, /*is_fixed=*/true), Arp());
  EXPECT_EQ(Show()["untagged"], 4u);
  still_.fake.mtu = 1508;
  carriers().Refresh();
  EXPECT_EQ(Through(full, kLeft, kLinkA).size(), 1515u);
  still_.fake.mtu = 0;
  carriers().Refresh();
  EXPECT_EQ(Through(fits, kLeft, kLinkA), fits) << "nobody knows the MTU";
  EXPECT_EQ(Show()["untagged"], 5u);
}

// Some in the header, some beside it.
TEST_F(CarrierPortsTest, TagsOfBothKindsAreTakenOutWhicheverOfThemAPacketHas) {
  const std::string last =
      "role last_hop { n = Counter(width=32); hops = Counter(width=32);\n"
      "  pkts >> n.set(n + 1) >> hops.set(hops + ipv4.tos + vlan.vid); }\n";
  const struct {
    const char* first;
    uint64_t hops;
  } kTagged[] = {{"tag(ipv4.tos, 1) >> tag(vlan.vid, 2)", 3},
                 {"tag(ipv4.tos, 1)", 1},
                 {"tag(vlan.vid, 2)", 2},
                 {"match(udp.dst == 1) >> tag(vlan.vid, 2)", 0}};
  for (const auto& tagged : kTagged) {
    EXPECT_EQ(
        Add("role first_hop { pkts >> " + std::string(tagged.first) +
            "; pkts >> match(udp.dst == 1) >> tag(ipv4.tos, 7) >> tag(vlan.vid, 7); }\n" + last),
        "program p installed\n");
    EXPECT_EQ(Across(Udp()), Udp()) << tagged.first;
    EXPECT_EQ(Read("n"), tagged.hops == 0 ? 0u : 1u) << tagged.first;
    EXPECT_EQ(Read("hops"), tagged.hops) << tagged.first;
    still_.Command("trumpet/program-del", {"p"});
  }
}

TEST_F(CarrierPortsTest, TagsOfHeadersAreTakenOutThoughThoseBesideThemWereLost) {
  Add("role first_hop { pkts >> tag(ipv4.tos, 1) >> tag(vlan.vid, 2); }\n"
      "role last_hop { n = Counter(width=32); pkts >> n.set(n + 1); }\n");
  const Bytes sent = Udp(1506);
  const Bytes tagged = Through(sent, kLeft, kLinkA);
  ASSERT_EQ(tagged.size(), sent.size() + 8);
  still_.fake.mtu = 1500 - 8;
  carriers().Refresh();
  const Bytes lost = Through(tagged, kLinkA, kLinkB);
  EXPECT_EQ(lost.size(), sent.size());
  EXPECT_EQ(Through(lost, kLinkB, kRight), sent);
  EXPECT_EQ(Read("n"), 0u) << "the program sees only packets with all tags";
}

TEST_F(CarrierPortsTest, SwitchesWithoutTheProgramPassTagsOn) {
  Add(Hops("vlan.vid"));
  const Bytes tagged = Through(Arp(), kLeft, kLinkA);
  still_.Command("trumpet/program-del", {"p"});
  EXPECT_FALSE(still_.fake.is_tx_wanted());
  EXPECT_EQ(Through(tagged, kLinkA, kLinkB), tagged);
  EXPECT_EQ(Through(tagged, kLinkB, kRight), Arp());
  still_.Command("trumpet/disable");
  EXPECT_TRUE(still_.fake.is_carrying());
  EXPECT_EQ(Through(tagged, kLinkA, kLinkB), tagged);
  Configure({{"trumpet-enable", "true"}});
  EXPECT_FALSE(still_.fake.is_carrying());
  EXPECT_EQ(Through(tagged, kLinkA, kLinkB), tagged) << "it is a packet as any other now";
}

TEST_F(CarrierPortsTest, TagsThatCanNotGoOnAreLostAndCounted) {
  Add(Hops("vlan.vid"));
  const Bytes tagged = Through(Arp(1506), kLeft, kLinkA);
  still_.fake.mtu = 1500 - 8;
  carriers().Refresh();
  EXPECT_EQ(Through(tagged, kLinkA, kLinkB), Arp(1506));
  EXPECT_EQ(Show()["carriers"], (nlohmann::json{{"lost", 1}, {"escaped", 0}, {"exposed", 0}}));
}

// The host at the left has seen, somewhere, a packet as it is between switches.
TEST_F(CarrierPortsTest, ForgedTagsAreNotBelievedAndArriveAsTheyWereSent) {
  Add(Hops("vlan.vid"));
  const Bytes forged = Through(Arp(), kLeft, kLinkA);
  EXPECT_EQ(Across(forged), forged);
  EXPECT_EQ(Read("hops"), 2u) << "a packet as any other";
  still_.Command("trumpet/program-del", {"p"});
  EXPECT_EQ(Across(forged), forged) << "by escapes";
  still_.Command("trumpet/disable");
  EXPECT_EQ(Across(forged), forged);
}

// The one case in which a packet does not arrive as it was sent: it passes the check, which nobody
// can make up without the key, and links have no room for an escape.
TEST_F(CarrierPortsTest, ForgedTagsWithoutRoomForAnEscapeAreTakenOutAndCounted) {
  Add(Hops("vlan.vid"));
  Bytes forged = Through(Arp(), kLeft, kLinkA);
  forged.resize(1507);
  EXPECT_EQ(Across(forged).size(), 1499u);
  EXPECT_EQ(carriers().counters().exposed, 1u);
  forged[18] ^= 0x20;  // the check
  EXPECT_EQ(Across(forged), forged);
}

TEST_F(CarrierPortsTest, ProgramsWithSuchTagsNeedCarriers) {
  Configure({{"trumpet-enable", "true"}});
  EXPECT_NE(Add(Hops("vlan.vid")).find("the program tags vlan.vid; say in trumpet-carriers"),
            std::string::npos);
  EXPECT_NE(Add(Hops("geneve.option")).find("geneve.option"), std::string::npos);
  EXPECT_EQ(Add(Hops("ipv4.tos")), "program p installed\n");
}

TEST_F(CarrierPortsTest, OptionsDoNotGoWithTagsInHeaders) {
  EXPECT_EQ(Add("pkts >> tag(geneve.option, 1) >> tag(ipv4.tos, 1);\n"),
            "error: the program tags geneve.option, of packets in a tunnel, and fields of IPv4 "
            "headers, whose tags do not cross tunnels");
}

TEST_F(CarrierPortsTest, PortsThatGoAreNoCarriersAnyMore) {
  EXPECT_EQ(carriers().Mtu(kLinkA), 1500u);
  EXPECT_EQ(carriers().Mtu(kLeft), 0u);
  EXPECT_EQ(carriers().Mtu(UINT32_MAX), 0u);
  still_.plugin.UpdatePort(kLinkA, "link-a", "system", false);
  EXPECT_EQ(carriers().Mtu(kLinkA), 0u);
}

}  // namespace
}  // namespace trumpet
