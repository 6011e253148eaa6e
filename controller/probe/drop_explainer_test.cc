// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// With a real ovs-vswitchd; what analyzers say is written here.

#include "controller/probe/drop_explainer.h"

#include <gtest/gtest.h>

#include "controller/openflow/switch_kit_test.h"

namespace trumpet {
namespace {

constexpr char kProtocols[] = "OpenFlow13,OpenFlow14,OpenFlow15";

class DropExplainerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ovs_.AddBridge("br0", 1, kProtocols);
    ovs_.Vsctl({"set-controller", "br0", net_.remote()});
    ASSERT_NE(net_.Wait(1), nullptr);
    ASSERT_TRUE(net_.RunUntil([&] { return net_.Wait(1)->ports().count(2) == 1; }));
    DropExplainer::Parts parts;
    parts.net = &net_.net();
    parts.ask = [this](const TraceQuestion& question, const TraceAsker::Answer& answer) {
      EXPECT_EQ(question.packets, TracePackets::kHeaders);
      EXPECT_EQ(question.words.at(0).name, "id");
      if (is_busy_) return 0;
      TraceFindings findings;
      if (question.words.at(0).value == "0a") findings.found.push_back({"an1", {0, 10, Trace()}});
      answer(findings);
      return 1;
    };
    parts.name_of = [this](const std::string& name) {
      const bool is_first = name == "leaf1" || name == "br0";
      const OpenflowSwitch* const which = net_.net().Find(uint64_t{is_first ? 1u : 2u});
      return which == nullptr || name == "leaf9" ? name : which->name();
    };
    parts.port_behind = [this](const std::string& from, const std::string& to) {
      const OpenflowSwitch* const next = net_.net().Find(uint64_t{2});
      const bool is_wire =
          next != nullptr && to == next->name() && from == net_.net().Find(uint64_t{1})->name();
      return is_wire ? 2u : 0u;
    };
    explainer_ = std::make_unique<DropExplainer>(parts);
  }
  // A packet of UDP to port 53 that came in at port 1 of leaf1.
  static std::string Trace() {
    const std::string frame = *ComposeFrame("udp,tp_dst=53", 0, {2, 0, 0, 0, 0, 1});
    std::string hex;
    for (const char byte : frame) {
      char text[3];
      std::snprintf(text, sizeof text, "%02x", static_cast<uint8_t>(byte));
      hex += text;
    }
    return R"({"bytes":60,"frame":{"link":"ethernet","hex":")" + hex +
           R"("},"path":[{"switch":"leaf1","tag":524289,"ttl":64}]})";
  }
  std::vector<DropReason> Explain(std::vector<SwitchOfDrops> places) {
    std::optional<std::vector<DropReason>> told;
    explainer_->Explain(std::move(places), [&](const auto& reasons) { told = reasons; });
    EXPECT_TRUE(net_.RunUntil([&] { return told.has_value(); }));
    return told.value_or(std::vector<DropReason>());
  }
  std::string WordWith(const std::string& flow) {
    ovs_.Ofctl({"del-flows", "br0"});
    ovs_.Ofctl({"add-flow", "br0", flow});
    return Explain({Leaf()}).at(0).word;
  }

  static SwitchOfDrops Leaf() { return {"leaf1", "0a", false, {}}; }

  TestSwitch ovs_;
  TestNet net_;
  bool is_busy_ = false;
  std::unique_ptr<DropExplainer> explainer_;
};

TEST_F(DropExplainerTest, AsksTheSwitchAsItIsNow) {
  EXPECT_EQ(WordWith("udp,actions=drop"), "flow");
  EXPECT_EQ(WordWith("tcp,actions=output:2"), "no_flow");
  EXPECT_EQ(WordWith("udp,actions=output:77"), "no_port");
  EXPECT_EQ(WordWith("udp,actions=output:2"), "not_known");
  ovs_.Ofctl({"add-meter", "br0", "meter=7,pktps,band=type=drop,rate=1"});
  EXPECT_EQ(WordWith("udp,actions=meter:7,output:2"), "not_known") << "it has dropped none";
  // Several packets a second go through the meter.
  ovs_.Receive("br0", 50, "10.0.0.9");
  ASSERT_TRUE(net_.RunUntil([&] { return Explain({Leaf()})[0].word == "meter"; }));
}

TEST_F(DropExplainerTest, AnswersForEachPlaceInItsOrder) {
  ovs_.Ofctl({"add-flow", "br0", "udp,actions=drop"});
  const auto reasons = Explain({{"leaf9", "0a", false, {}},
                                {"leaf1", "0b", false, {}},
                                Leaf(),
                                {"br0", "0a", true, {"leaf1"}}});
  ASSERT_EQ(reasons.size(), 4u);
  EXPECT_EQ(reasons[0].why, "switch 'leaf9' is not connected by OpenFlow");
  EXPECT_EQ(reasons[1].why, "no analyzer has trace 0b");
  EXPECT_EQ(reasons[2].word, "flow");
  EXPECT_EQ(reasons[3].why, "trace 0a does not have the packet's headers") << "it was not at br0";
  EXPECT_TRUE(Explain({}).empty());
  EXPECT_EQ(Explain(std::vector<SwitchOfDrops>(20, Leaf())).at(19).why,
            "only 16 places are looked into at a time");
  is_busy_ = true;
  EXPECT_EQ(Explain({Leaf()}).at(0).word, "not_known");
}

TEST_F(DropExplainerTest, BlamesTheMeterOfTheNextSwitch) {
  ovs_.AddBridge("br1", 2, kProtocols);
  ovs_.Vsctl({"set-controller", "br1", net_.remote()});
  ASSERT_NE(net_.Wait(2), nullptr);
  ovs_.Ofctl({"add-flow", "br0", "actions=output:2"});
  ovs_.Ofctl({"add-meter", "br1", "meter=7,pktps,band=type=drop,rate=1"});
  ovs_.Ofctl({"add-flow", "br1", "priority=5,udp,in_port=2,actions=meter:7,output:1"});
  // What the tests receive comes in at port 1.
  ovs_.Ofctl({"add-flow", "br1", "priority=4,udp,in_port=1,actions=meter:7,output:2"});
  ovs_.Receive("br1", 50, "10.0.0.9");
  const SwitchOfDrops place = {"leaf1", "0a", false, {"leaf9", "br1"}};
  ASSERT_TRUE(net_.RunUntil([&] { return Explain({place})[0].word == "meter"; }));
  EXPECT_EQ(Explain({place})[0].at, "br1");
  ovs_.Ofctl({"add-flow", "br1", "priority=5,udp,in_port=2,actions=output:1"});
  EXPECT_EQ(Explain({place})[0].word, "not_known");
}

TEST_F(DropExplainerTest, DropsAnswersWhenItEnds) {
  bool was_told = false;
  explainer_->Explain({Leaf()}, [&](const auto&) { was_told = true; });
  explainer_.reset();
  const Status asked = net_.Run([&](const OpenflowSwitch::Done& done) {
    net_.Wait(1)->AskSimple(TRUMPET_OF_BARRIER_REQUEST,
                            [done](const OpenflowAnswers& answers) { done(answers.status); });
  });
  EXPECT_TRUE(asked.ok()) << asked.message();
  EXPECT_FALSE(was_told);
}

}  // namespace
}  // namespace trumpet
