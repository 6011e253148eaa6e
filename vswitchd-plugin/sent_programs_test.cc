// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Measurement programs that take packets as they leave, and what of these they change.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "lib/base/byte_order.h"
#include "lib/base/memory_shortage_test.h"
#include "vswitchd-plugin/fake_switch_test.h"

namespace trumpet {
namespace {

using testing::StillSwitch;
using Bytes = std::vector<uint8_t>;

// The datapath's ports: two hosts, and links between.
enum Port : uint32_t { kLeft = 3, kRight = 5, kLinkA = 7, kLinkB = 9, kLinkC = 11 };

// An ordinary UDP packet.
Bytes Packet(uint8_t tos = 0, uint16_t id = 0, uint16_t fragment = 0x4000) {
  Bytes bytes(60);
  StoreBe16(&bytes[12], 0x0800);
  uint8_t* const ip = &bytes[14];
  ip[0] = 0x45;
  ip[1] = tos;
  StoreBe16(ip + 2, 46);
  StoreBe16(ip + 4, id);
  StoreBe16(ip + 6, fragment);
  ip[8] = 64;
  ip[9] = 17;
  StoreBe32(ip + 12, 0x0a000001);
  StoreBe32(ip + 16, 0x0a000002);
  uint32_t sum = 0;
  for (int at = 0; at < 20; at += 2) sum += LoadBe16(ip + at);
  StoreBe16(ip + 10, static_cast<uint16_t>(0xffff - (sum % 0xffff)));
  StoreBe16(ip + 20, 1000);
  StoreBe16(ip + 22, 2000);
  return bytes;
}

// Counts tagged packets and sums up what they carry, at the last hop; each hop adds 1.
constexpr char kHops[] =
    "role first_hop { pkts >> tag(ipv4.tos, 1); }\n"
    "role intermediate { pkts >> tag(ipv4.tos, ipv4.tos + 1); }\n"
    "role last_hop { n = Counter(width=32); hops = Counter(width=32);\n"
    "  pkts >> n.set(n + 1) >> hops.set(hops + ipv4.tos); }\n";

class SentProgramsTest : public ::testing::Test {
 protected:
  SentProgramsTest() : still_(1) {
    still_.plugin.SetConfig({{"trumpet-enable", "true"}});
    still_.plugin.UpdatePort(kLeft, "left", "system", true);
    still_.plugin.UpdatePort(kRight, "right", "system", true);
    still_.plugin.UpdatePort(kLinkA, "link-a", "system", true);
    still_.RunMs(1);
  }

  std::string Add(const std::string& name, const std::string& text,
                  const std::vector<std::string>& arguments = {"edge=left,right"}) {
    std::vector<std::string> all = {name, text};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return still_.Command("trumpet/program-add", all);
  }
  // Through a switch, if it wants to see packets leave.
  Bytes Through(Bytes bytes, uint32_t in_port, uint32_t out_port, bool is_fixed = false) {
    const auto size = static_cast<uint32_t>(bytes.size());
    trumpet_sent_frame frame{bytes.data(), size, size, in_port, is_fixed, false, false, {}, 0};
    const Bytes before = bytes;
    if (still_.fake.is_tx_wanted()) {
      still_.threads[0]->OnSend(&frame, 1, out_port, still_.monotonic / 1000);
    }
    EXPECT_EQ(frame.is_changed, bytes != before);
    return bytes;
  }
  // Over three switches, which are all played by this one.
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

TEST_F(SentProgramsTest, TagsTravelFromTheFirstHopToTheLastAndNoFurther) {
  EXPECT_EQ(Add("p", kHops), "program p installed\n");
  EXPECT_TRUE(still_.fake.is_tx_wanted());
  EXPECT_EQ(Across(Packet()), Packet());
  EXPECT_EQ(Read("n"), 1u);
  EXPECT_EQ(Read("hops"), 2u);
  const Bytes tagged = Through(Packet(), kLeft, kLinkA);
  EXPECT_EQ(tagged[15], 1);
  EXPECT_NE(tagged, Packet());
  // Both at once: the packet has seen one switch only.
  EXPECT_EQ(Through(Packet(), kLeft, kRight), Packet());
}

// Switches hear one after the other that a program is gone.
TEST_F(SentProgramsTest, TagsAreTakenOutForAWhileAfterTheirProgram) {
  Add("p", kHops);
  const Bytes tagged = Through(Packet(), kLeft, kLinkA);
  ASSERT_NE(tagged, Packet());
  still_.Command("trumpet/program-del", {"p"});
  still_.RunMs(900);
  EXPECT_EQ(Through(tagged, kLinkB, kRight), Packet());
  EXPECT_EQ(Through(Packet(), kLeft, kLinkA), Packet()) << "none begins to carry tags";
  EXPECT_EQ(Through(tagged, kLinkA, kLinkB), tagged);
  EXPECT_EQ(still_.Command("trumpet/program-list"), "no program is installed\n");
  const ThreadMonitor* const late = still_.AddThread(3);
  EXPECT_TRUE(late->wants_sent());
  still_.RunMs(1200);
  EXPECT_FALSE(still_.fake.is_tx_wanted());
  EXPECT_FALSE(late->wants_sent());
}

TEST_F(SentProgramsTest, NobodyIsKeptWaitingForTagsWhenMemoryRanOut) {
  MeasurementTable& table = still_.plugin.agent().measurements();
  Add("p", kHops);
  Add("other", "n = Counter(width=32);\npkts >> n.set(n + 1);\n", {});
  still_.Command("trumpet/program-del", {"p"});
  still_.RunMs(900);
  still_.monotonic += kNanosPerSecond;
  const auto follow = [&] { table.Follow(still_.monotonic); };
  for (uint64_t calls = 0; !testing::DoesWith(calls, follow); ++calls) {
    ASSERT_TRUE(still_.fake.is_tx_wanted()) << calls;
  }
  EXPECT_FALSE(still_.fake.is_tx_wanted());
}

TEST_F(SentProgramsTest, TheNextProgramMayTagMeanwhile) {
  Add("p", kHops);
  for (int round = 0; round < 6; ++round) {
    still_.Command("trumpet/program-del", {"p"});
    EXPECT_EQ(Add("p", kHops), "program p installed\n");
    EXPECT_EQ(Across(Packet()), Packet());
    EXPECT_EQ(Read("hops"), 2u);
  }
}

TEST_F(SentProgramsTest, PacketsThatCanNotCarryTagsPassAsTheyAre) {
  Add("p", kHops);
  Bytes broken = Packet();
  ++broken[24];  // the checksum
  Bytes arp = Packet();
  StoreBe16(&arp[12], 0x0806);
  const std::vector<Bytes> others = {Packet(1), Packet(0xb8), broken, arp};
  for (const Bytes& packet : others) EXPECT_EQ(Across(packet), packet);
  EXPECT_EQ(Read("n"), 0u);
  EXPECT_EQ(Show()["untagged"], 3u);        // ARP is of no interest to a program that tags
  const Bytes liar = Packet(0, 0, 0x8000);  // says that it carries tags
  EXPECT_EQ(Through(liar, kLeft, kLinkA), liar);
  EXPECT_EQ(Through(Packet(), kLeft, kLinkA, /*is_fixed=*/true), Packet());
  EXPECT_EQ(Show()["untagged"], 5u);
}

// What the switch puts into a tunnel comes, for the datapath, by a port of the switch itself, which
// is an edge port unless somebody says otherwise.
TEST_F(SentProgramsTest, OuterHeadersOfTunnelsCarryNothing) {
  Add("p", kHops);
  for (const uint16_t port : {4789, 6081, 8472, 2152}) {
    Bytes tunnelled = Packet();
    StoreBe16(&tunnelled[36], port);
    EXPECT_EQ(Through(tunnelled, kLeft, kLinkA), tunnelled) << port;
  }
  Bytes gre = Packet();
  gre[23] = 47;
  StoreBe16(&gre[24], static_cast<uint16_t>(LoadBe16(&gre[24]) - (47 - 17)));
  EXPECT_EQ(Through(gre, kLeft, kLinkA), gre);
  EXPECT_EQ(Show()["untagged"], 5u);
  Bytes other = Packet();
  StoreBe16(&other[36], 4788);
  EXPECT_NE(Through(other, kLeft, kLinkA), other);
  still_.plugin.SetConfig({{"trumpet-enable", "true"}, {"trumpet-tunnel-ports", "geneve:4788"}});
  still_.RunMs(1);
  EXPECT_EQ(Through(other, kLeft, kLinkA), other);
}

TEST_F(SentProgramsTest, PortsOfTunnelsAreKnownOnceThereIsMemory) {
  Add("p", kHops);
  Bytes other = Packet();
  StoreBe16(&other[36], 4788);
  EXPECT_NE(Through(other, kLeft, kLinkA), other);
  still_.plugin.SetConfig({{"trumpet-enable", "true"}, {"trumpet-tunnel-ports", "geneve:4788"}});
  const auto step = [&] { still_.plugin.agent().Step(); };
  for (uint64_t calls = 0; !testing::DoesWith(calls, step); ++calls) {
  }
  EXPECT_EQ(Through(other, kLeft, kLinkA), other);
}

TEST_F(SentProgramsTest, FragmentsLendTheirIdentificationToNobody) {
  Add("p",
      "role first_hop { pkts >> tag(ipv4.id, 7); }\n"
      "role last_hop { n = Counter(width=32); pkts >> n.set(n + 1); }\n");
  EXPECT_EQ(Across(Packet()), Packet());
  EXPECT_EQ(Read("n"), 1u);
  for (const uint16_t fragment : {0x2000, 0x0001, 0x3fff}) {
    EXPECT_EQ(Across(Packet(0, 0, fragment)), Packet(0, 0, fragment));
  }
  EXPECT_EQ(Across(Packet(0, 4711)), Packet(0, 4711));
  EXPECT_EQ(Read("n"), 1u);
}

TEST_F(SentProgramsTest, InALaboratoryTheChecksumCarriesTagsOrTellsTheIdentification) {
  const std::string checksum =
      "role first_hop { pkts >> tag(ipv4.checksum, 0); }\n"
      "role every { pkts >> tag(ipv4.checksum, ipv4.checksum + 3); }\n"
      "role last_hop { n = Counter(width=32); pkts >> n.set(n + ipv4.checksum); }\n";
  EXPECT_NE(Add("p", checksum).find("lab=yes"), std::string::npos);
  EXPECT_EQ(Add("p", checksum, {"edge=left,right", "lab=yes"}), "program p installed\n");
  EXPECT_EQ(Across(Packet(9, 4711)), Packet(9, 4711));
  EXPECT_EQ(Read("n"), 9u);
  still_.Command("trumpet/program-del", {"p"});
  Add("p",
      "role first_hop { pkts >> tag(ipv4.id, 100); }\n"
      "role intermediate { pkts >> tag(ipv4.id, ipv4.id + 1); }\n"
      "role last_hop { n = Counter(width=32); pkts >> n.set(n + ipv4.id); }\n",
      {"edge=left,right", "lab=yes"});
  EXPECT_EQ(Across(Packet(9, 4711)), Packet(9, 4711));
  EXPECT_EQ(Read("n"), 101u);
}

TEST_F(SentProgramsTest, ProgramsReadPortsAndTheNumberOfTheSwitch) {
  Add("p",
      "n = Counter(width=64);\n"
      "pkts >> n.set(pkt.input_port * 1000000 + pkt.output_port * 1000 + switch.id);\n",
      {"switch=42"});
  EXPECT_EQ(Through(Packet(3, 3), kLinkA, kLinkB), Packet(3, 3));
  EXPECT_EQ(Read("n"), 7009042u);
}

TEST_F(SentProgramsTest, QueuesAreAskedForOnlyWhereAProgramReadsThem) {
  ThreadMonitor* const thread = still_.threads[0];
  Add("other", "n = Counter(width=32);\npkts >> n.set(n + 1);\n");
  EXPECT_FALSE(thread->wants_queue_length());
  Add("p",
      "n = Counter(width=32);\n"
      "pkts >> match(pkt.output_port != 0) >> n.set(pkt.in_queue_length);\n");
  EXPECT_TRUE(thread->wants_queue_length());
  EXPECT_TRUE(still_.AddThread(3)->wants_queue_length());
  const Bytes packet = Packet();
  const trumpet_frame frame{packet.data(), 60, 60};
  uint32_t mark = 0;
  thread->OnReceive(&frame, 1, kLeft, still_.monotonic / 1000, &mark, 23);
  Through(packet, kLeft, kRight);
  EXPECT_EQ(Read("n"), 23u);
  still_.Command("trumpet/program-del", {"p"});
  EXPECT_FALSE(thread->wants_queue_length());
}

// A message of ez-Segway is there to be written by switches, and stays as they wrote it.
TEST_F(SentProgramsTest, TagsOfPayloadStay) {
  EXPECT_EQ(Add("p",
                "endpoint C; clock = Counter(width=8);\n"
                "pkts >> match(segway_header.msg == 2)\n"
                "  >> clock.set(max(clock + 1, segway_header.ts)) >> tag(segway_header.ts, clock)\n"
                "  >> duplicate(copies);\n"
                "copies >> tag(segway_header.time, 5) >> collect(C);\n",
                {}),
            "program p installed\n");
  Bytes packet = Packet();
  StoreBe16(&packet[36], 30000);
  packet[42] = 2;   // go
  packet[43] = 90;  // the clock of who sent it
  for (const uint8_t clock : {90, 91}) {
    Bytes wanted = packet;
    wanted[43] = clock;
    Bytes bytes = packet;
    const auto size = static_cast<uint32_t>(bytes.size());
    trumpet_sent_frame frame{bytes.data(), size, size, kLeft, false, false, false, {}, 0};
    still_.threads[0]->OnSend(&frame, 1, kRight, still_.monotonic / 1000);
    EXPECT_EQ(bytes, wanted) << "the copy is none of its business";
    EXPECT_FALSE(frame.is_changed) << "its header is the same";
  }
  packet[42] = 1;
  EXPECT_EQ(Through(packet, kLeft, kRight), packet);
}

// What one program tags is no tag of the next.
TEST_F(SentProgramsTest, PacketsCarryTagsOfTheProgramThatTaggedThem) {
  Add("q", "pkts >> match(segway_header.msg == 2) >> tag(segway_header.ts, 7);\n", {});
  Add("p",
      "role first_hop { pkts >> match(udp.src == 1) >> tag(ipv4.tos, 1); }\n"
      "role last_hop { n = Counter(width=32); pkts >> n.set(n + 1); }\n");
  Bytes packet = Packet();
  StoreBe16(&packet[36], 30000);
  packet[42] = 2;
  Bytes wanted = packet;
  wanted[43] = 7;
  Bytes bytes = packet;
  trumpet_sent_frame frame{bytes.data(), 60, 60, kLeft, false, false, false, {}, 0};
  still_.threads[0]->OnSend(&frame, 1, kLinkA, still_.monotonic / 1000);
  EXPECT_EQ(bytes, wanted);
  EXPECT_FALSE(frame.is_changed);
}

TEST_F(SentProgramsTest, EdgePortsMayComeLaterWithAnyNumber) {
  Add("p", kHops, {"edge=left,late"});
  EXPECT_EQ(Show()["edge_numbers"], nlohmann::json::array({kLeft}));
  still_.plugin.UpdatePort(kLinkC, "late", "system", true);
  still_.RunMs(1);
  EXPECT_EQ(Show()["edge_numbers"], nlohmann::json::array({kLeft, kLinkC}));
  EXPECT_EQ(Through(Through(Packet(), kLeft, kLinkA), kLinkA, kLinkC), Packet());
  still_.plugin.UpdatePort(kLinkC, "late", "system", false);
  still_.plugin.UpdatePort(70000, "late", "system", true);
  still_.RunMs(1);
  EXPECT_NE(Through(Through(Packet(), kLeft, kLinkA), kLinkA, kLinkC), Packet());
}

TEST_F(SentProgramsTest, EdgePortsThatFoundNoMemoryComeWithTheNextLook) {
  Add("p", kHops, {"edge=left,late"});
  still_.plugin.UpdatePort(kLinkC, "late", "system", true);
  const auto follow = [&] { still_.plugin.agent().measurements().Follow(still_.monotonic); };
  for (uint64_t calls = 0; !testing::DoesWith(calls, follow); ++calls) {
  }
  EXPECT_EQ(Show()["edge_numbers"], nlohmann::json::array({kLeft, kLinkC}));
  EXPECT_EQ(Through(Through(Packet(), kLeft, kLinkA), kLinkA, kLinkC), Packet());
}

TEST_F(SentProgramsTest, EdgePortsAreNamedByPatternsOrAreNone) {
  Add("p", kHops, {"edge=*t"});
  EXPECT_EQ(Show()["edge_numbers"], nlohmann::json::array({kLeft, kRight}));
  still_.Command("trumpet/program-del", {"p"});
  Add("p", kHops, {"edge="});
  EXPECT_EQ(Show()["edge_numbers"], nlohmann::json::array());
  const Bytes tagged = Through(Packet(), kLeft, kRight);
  EXPECT_EQ(tagged, Packet()) << "nothing begins at a switch without edges";
}

TEST_F(SentProgramsTest, WithoutAWordAllPortsButUplinksAndTunnelsAreEdges) {
  still_.plugin.UpdatePort(kLinkB, "vxlan_sys_4789", "vxlan", true);
  Add("p", kHops, {});
  EXPECT_EQ(Show()["edge_numbers"], nlohmann::json::array({kLeft, kRight, kLinkA}));
  EXPECT_TRUE(Show()["edges"].is_null());
  still_.plugin.SetConfig({{"trumpet-enable", "true"}, {"trumpet-uplinks", "link-*"}});
  still_.RunMs(1);
  EXPECT_EQ(Show()["edge_numbers"], nlohmann::json::array({kLeft, kRight}));
  EXPECT_EQ(Across(Packet()), Packet());
  EXPECT_EQ(Read("hops"), 2u);
}

// Whatever hosts send, and whichever way it takes.
TEST_F(SentProgramsTest, RandomPacketsLeaveTheNetworkAsTheyCame) {
  const std::string program =
      "role first_hop { pkts >> match(udp.src % 3 != 0) >> tag(ipv4.id, udp.src)\n"
      "  >> tag(ipv4.tos, (1 + pkt.input_port) & 0xff); }\n"
      "role every { pkts >> tag(ipv4.id, ipv4.id ^ pkt.output_port); }\n"
      "role last_hop { n = Counter(width=32); pkts >> n.set(n + 1); }\n";
  std::mt19937 random(20261122);
  for (const char* const lab : {"lab=no", "lab=yes"}) {
    ASSERT_EQ(Add("p", program, {"edge=left,right", lab}), "program p installed\n");
    for (int round = 0; round < 3000; ++round) {
      const auto tos = static_cast<uint8_t>(random() % 3 == 0 ? random() : 0);
      const auto id = static_cast<uint16_t>(random() % 2 == 0 ? random() : 0);
      Bytes packet = Packet(tos, id, random() % 4 == 0 ? random() & 0x7fff : 0x4000);
      if (random() % 16 == 0) packet[14 + random() % 46] ^= static_cast<uint8_t>(random());
      if (LoadBe16(&packet[20]) & 0x8000) continue;  // only who lies has this bit
      StoreBe16(&packet[34], static_cast<uint16_t>(random()));
      Bytes bytes = Through(packet, kLeft, kLinkA);
      for (auto hops = random() % 4; hops > 0; --hops) {
        bytes = Through(std::move(bytes), kLinkA, kLinkB);
      }
      ASSERT_EQ(Through(std::move(bytes), kLinkB, kRight), packet) << lab << ", round " << round;
    }
    EXPECT_GT(Read("n"), 100u);
    still_.Command("trumpet/program-del", {"p"});
  }
}

TEST_F(SentProgramsTest, WhatIsMissingIsSaidInOneLine) {
  EXPECT_EQ(Add("p", "role border { pkts >> tag(ipv4.tos, 1); }\n"),
            "error: the program has the role border; a switch knows first_hop, intermediate, "
            "last_hop and every");
  EXPECT_EQ(Add("p", "n = Counter(width=32);\npkts >> n.set(switch.id);\n"),
            "error: the program reads switch.id; say switch=NUMBER");
  EXPECT_EQ(
      Add("p", kHops, {"edge=left,,right"}),
      "error: edge is 'left,,right'; it takes at most 1024 names of ports, with commas between");
  EXPECT_EQ(Add("p", kHops, {"switch=256"}), "error: switch is '256'; it takes 0 to 255");
  EXPECT_EQ(Add("p", kHops, {"lab=maybe"}), "error: lab is 'maybe'; it takes yes or no");
  Add("p", kHops);
  EXPECT_EQ(
      Add("q", kHops),
      "error: the program 'p' tags forwarded packets already; they carry tags of one program");
}

}  // namespace
}  // namespace trumpet
