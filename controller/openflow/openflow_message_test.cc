// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/openflow/openflow_message.h"

#include <gtest/gtest.h>

#include <random>

namespace trumpet {
namespace {

constexpr uint8_t kVersions[] = {TRUMPET_OF_13, TRUMPET_OF_14, TRUMPET_OF_15};

// The flow of a message that we have encoded ourselves.
OpenflowFlow RoundTrip(uint8_t version, const std::string& text) {
  const Result<std::string> bytes = EncodeRule(
      version, TRUMPET_OF_ADD, {OpenflowRule::Kind::kFlow, text, 0x7472000000000005}, 77);
  if (!bytes.ok()) {
    ADD_FAILURE() << bytes.message();
    return {};
  }
  const Result<OpenflowMessage> message = DecodeOpenflow(*bytes);
  if (!message.ok() || message->flows.size() != 1) {
    ADD_FAILURE() << text << " does not come back";
    return {};
  }
  EXPECT_EQ(message->head.xid, 77u);
  EXPECT_EQ(message->head.version, version);
  EXPECT_EQ(message->head.kind, TRUMPET_OF_FLOW_MOD);
  return message->flows[0];
}

TEST(OpenflowMessage, FlowsComeBackAsTheyWereWritten) {
  for (const uint8_t version : kVersions) {
    const OpenflowFlow flow =
        RoundTrip(version,
                  "table=3,priority=7,hard_timeout=2,tcp,nw_dst=10.1.0.0/16,tp_dst=80,"
                  "actions=set_field:0x12345->tun_id,output(port=11,max_len=64)");
    EXPECT_EQ(flow.cookie, 0x7472000000000005u);
    EXPECT_EQ(flow.Text(),
              "table=3,priority=7,tcp,nw_dst=10.1.0.0/16,tp_dst=80,hard_timeout=2,"
              "actions=set_field:0x12345->tun_id,output(port=11,max_len=64)");
  }
}

TEST(OpenflowMessage, ATextThatIsPrintedIsReadAsTheSameFlow) {
  const char* const texts[] = {
      "actions=drop",
      "table=1,priority=0,actions=NORMAL",
      "ip,nw_src=1.2.3.4,reg15=0,actions=load:1->NXM_NX_REG15[],clone(resubmit(,0)),resubmit(,9)",
      "ipv6,ipv6_dst=2001:db8::/32,actions=meter:5,output:3",
      "in_port=2,dl_vlan=5,arp,actions=CONTROLLER:128",
      "table=4,udp6,tp_src=53,idle_timeout=9,actions=goto_table:5",
  };
  for (const char* text : texts) {
    for (const uint8_t version : kVersions) {
      const OpenflowFlow flow = RoundTrip(version, text);
      EXPECT_EQ(RoundTrip(version, flow.Text()).Text(), flow.Text()) << text;
    }
  }
}

// The meter of a message, as the switch that has it would say it.
TEST(OpenflowMessage, MetersComeBackAsTheSwitchSaysThem) {
  const OpenflowRule rule = {OpenflowRule::Kind::kMeter,
                             "meter=7,pktps,stats,burst,band=type=drop,rate=5,burst_size=9", 0};
  for (const uint8_t version : kVersions) {
    const Result<std::string> bytes = EncodeRule(version, TRUMPET_OF_ADD, rule, 1);
    ASSERT_TRUE(bytes.ok()) << bytes.message();
    const Result<OpenflowMessage> message = DecodeOpenflow(*bytes);
    ASSERT_TRUE(message.ok() && message->numbered.size() == 1);
    EXPECT_EQ(message->head.kind, TRUMPET_OF_METER_MOD);
    EXPECT_EQ(message->numbered[0].text,
              "meter=7 pktps burst stats bands=\ntype=drop rate=5 burst_size=9\n");
  }
}

TEST(OpenflowMessage, MistakesInTextsAreErrors) {
  const OpenflowRule::Kind kinds[] = {OpenflowRule::Kind::kFlow, OpenflowRule::Kind::kGroup,
                                      OpenflowRule::Kind::kMeter};
  for (const OpenflowRule::Kind kind : kinds) {
    for (const char* text : {"nonsense=1,actions=drop", "table=999,actions=drop", "meter=0"}) {
      EXPECT_FALSE(EncodeRule(TRUMPET_OF_13, TRUMPET_OF_ADD, {kind, text, 1}, 1).ok()) << text;
    }
  }
  EXPECT_FALSE(EncodePacketOut(TRUMPET_OF_13, 1, "x", "nonsense", 1).ok());
}

TEST(OpenflowMessage, DeletionsTakeTheWholeRule) {
  const OpenflowRule rules[] = {
      {OpenflowRule::Kind::kFlow, "table=2,priority=9,ip,hard_timeout=1,actions=output:1", 4},
      {OpenflowRule::Kind::kGroup, "group_id=7,type=all,bucket=output:1", 0},
      {OpenflowRule::Kind::kMeter, "meter=7,pktps,band=type=drop,rate=5", 0}};
  for (const OpenflowRule& rule : rules) {
    for (const uint8_t version : kVersions) {
      const Result<std::string> bytes = EncodeRule(version, TRUMPET_OF_DELETE, rule, 5);
      ASSERT_TRUE(bytes.ok()) << bytes.message();
      EXPECT_EQ(PrintOpenflow(*bytes).find("***"), std::string::npos);
    }
  }
}

TEST(OpenflowMessage, EveryRequestIsOneThatTheLibraryTakesBack) {
  for (const uint8_t version : kVersions) {
    std::vector<std::string> all = {
        EncodeHello(),
        EncodeRoleRequest(version, 2, 9, 1),
        EncodeFlowPurge(version, 5, 7, 1),
        EncodeFlowStatsRequest(version, false, kAllTables, 5, 7, 1),
        EncodeFlowStatsRequest(version, true, 0, 5, 7, 1),
        EncodeBundleControl(version, 3, TRUMPET_OF_BUNDLE_OPEN, 1),
        *EncodePacketOut(version, 3, std::string(60, 'x'), "output:2", 1),
        EncodeEchoReply(EncodeSimple(version, TRUMPET_OF_ECHO_REQUEST, 8))};
    for (int what = 0; what <= TRUMPET_OF_GROUP_DESC_REQUEST; ++what) {
      all.push_back(EncodeSimple(version, static_cast<trumpet_of_ask>(what), 8));
    }
    all.push_back(EncodeBundleAdd(
        version, 3,
        *EncodeRule(version, TRUMPET_OF_ADD, {OpenflowRule::Kind::kFlow, "actions=drop", 1}, 5)));
    for (const std::string& bytes : all) {
      EXPECT_EQ(PrintOpenflow(bytes).find("***"), std::string::npos) << PrintOpenflow(bytes);
      EXPECT_TRUE(DecodeOpenflow(bytes).ok());
    }
  }
}

TEST(OpenflowMessage, HelloOffersThreeVersions) {
  EXPECT_EQ(DecodeOpenflow(EncodeHello())->head.versions, 0x70u);
}

TEST(OpenflowMessage, AnyBytesAreAMessageOrAnError) {
  std::vector<std::string> seeds;
  for (const uint8_t version : kVersions) {
    seeds.push_back(*EncodeRule(
        version, TRUMPET_OF_ADD,
        {OpenflowRule::Kind::kFlow, "ip,actions=clone(output:2),set_field:5->tun_id,output:1", 5},
        1));
    seeds.push_back(EncodeRoleRequest(version, 1, 1, 1));
    seeds.push_back(*EncodePacketOut(version, 0, "packet", "output:1", 1));
    for (int what = 0; what <= TRUMPET_OF_GROUP_DESC_REQUEST; ++what) {
      seeds.push_back(EncodeSimple(version, static_cast<trumpet_of_ask>(what), 8));
    }
  }
  std::mt19937 random(5);
  int decoded = 0;
  for (int round = 0; round < 60000; ++round) {
    std::string bytes = seeds[random() % seeds.size()];
    if (random() % 3 == 0) bytes.resize(8 + random() % 120, static_cast<char>(random()));
    for (unsigned i = random() % 6; i > 0; --i) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (random() % 2 == 0) bytes[1] = static_cast<char>(random() % 36);
    bytes[2] = static_cast<char>(bytes.size() >> 8);
    bytes[3] = static_cast<char>(bytes.size());
    decoded += DecodeOpenflow(bytes).ok() ? 1 : 0;
  }
  EXPECT_GT(decoded, 1000);
}

TEST(OpenflowMessage, ComposesFramesThatAMatchTakes) {
  const FrameMark mark = {2, 1, 2, 3, 4, 5};
  const std::string named(mark.begin(), mark.end());
  const auto frame = [&](const std::string& match, uint8_t tos = 0) {
    const auto made = ComposeFrame(match, tos, mark);
    return made.ok() ? *made : made.message();
  };
  const std::string web = frame("tcp,dl_vlan=5,nw_src=10.1.0.0/16,tp_dst=80", 0x80);
  ASSERT_GE(web.size(), 60u);
  EXPECT_EQ(web.substr(6, 6), named);
  EXPECT_EQ(web.substr(12, 8), std::string("\x81\0\0\5\x08\0\x45\x80", 8));
  EXPECT_EQ(web.substr(30, 4), std::string("\x0a\1\0\0", 4));
  EXPECT_EQ(web.substr(38, 4), std::string("\0\x09\0\x50", 4));
  EXPECT_EQ(frame("dl_type=0x8808").substr(12, 2), "\x88\x08");
  EXPECT_EQ(frame("dl_src=02:00:00:00:00:77").substr(0, 6), named);
  EXPECT_EQ(frame("udp6").substr(12, 2), "\x86\xdd");
  EXPECT_EQ(frame("").substr(12, 2), std::string("\x08\0", 2));
  EXPECT_EQ(frame("dl_src=02:00:00:00:00:77,dl_dst=02:00:00:00:00:78"),
            "both MAC addresses are said already, and one must bear a mark");
  EXPECT_NE(frame("nothing=1").find("nothing"), std::string::npos);
}

}  // namespace
}  // namespace trumpet
