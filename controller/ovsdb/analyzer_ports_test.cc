// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/ovsdb/analyzer_ports.h"

#include <gtest/gtest.h>

#include <memory>

#include "controller/ovsdb/remote_switches.h"
#include "controller/ovsdb/switch_kit_test.h"

namespace trumpet {
namespace {

const WantedAnalyzerPort kWanted[] = {{10, "edge10", "127.0.0.9", TunnelKind::kGre},
                                      {11, "edge11", "127.0.0.9", TunnelKind::kErspan}};

// A controller, as far as these ports go.
class Life {
 public:
  Life(OvsdbTestLoop* loop, const std::vector<TestVswitch*>& at)
      : loop_(*loop),
        ports_({kWanted[0], kWanted[1]},
               [this](const char*, const std::string& text) { log_ += text + "\n"; }) {
    RemoteSwitchOptions options;
    options.owner = "c1";
    options.first_backoff = 10 * kNanosPerMilli;
    options.longest_backoff = 100 * kNanosPerMilli;
    switches_ = std::make_unique<RemoteSwitches>(loop->base(), clock_, options, &ports_);
    for (size_t i = 0; i < at.size(); ++i) {
      EXPECT_TRUE(switches_->Add("s" + std::to_string(i), at[i]->database().remote()).ok());
    }
  }

  AnalyzerPorts& ports() { return ports_; }
  RemoteSwitch& at(const std::string& name) { return *switches_->Find(name); }
  const std::string& log() const { return log_; }
  bool WaitForPort(uint64_t id) {
    return loop_.RunUntil([&] { return ports_.NumberOf(id) != 0; });
  }
  bool Uninstall() {
    bool is_over = false;
    ports_.StandDown();
    switches_->Uninstall([&](const Status& status) { is_over = status.ok(); });
    return loop_.RunUntil([&] { return is_over; });
  }

 private:
  OvsdbTestLoop& loop_;
  const SystemWireClock clock_;
  std::string log_;
  AnalyzerPorts ports_;
  std::unique_ptr<RemoteSwitches> switches_;
};

class AnalyzerPortsTest : public testing::Test {
 protected:
  // A bridge of this number in the last digits of its datapath id.
  static void AddBridge(const TestVswitch& at, const std::string& name, const std::string& id) {
    at.AddBridge(name);
    at.Vsctl({"set", "bridge", name, "other_config:datapath-id=00000000000000" + id});
  }
  static std::string NumberAt(const TestVswitch& at, const std::string& bridge) {
    return at.Vsctl({"get", "interface", at.Vsctl({"list-ports", bridge}), "ofport"});
  }

  OvsdbTestLoop loop_;
  TestVswitch first_, second_;
};

TEST_F(AnalyzerPortsTest, AreMadeWhereTheirBridgesAreAndPutBack) {
  for (TestVswitch* one : {&first_, &second_}) one->Start();
  Life life(&loop_, {&first_, &second_});
  EXPECT_EQ(life.ports().NumberOf(10), 0u);
  AddBridge(first_, "br0", "0a");
  AddBridge(second_, "br0", "0b");
  AddBridge(second_, "br1", "0c");
  ASSERT_TRUE(life.WaitForPort(10) && life.WaitForPort(11)) << life.log();
  EXPECT_EQ(NumberAt(first_, "br0"), std::to_string(life.ports().NumberOf(10)));
  const std::string port = second_.Vsctl({"list-ports", "br0"});
  EXPECT_EQ(second_.Vsctl({"get", "interface", port, "type"}), "erspan");
  EXPECT_EQ(second_.Vsctl({"list-ports", "br1"}), "");
  EXPECT_EQ(life.ports().NumberOf(12), 0u);

  second_.Vsctl({"del-port", port});
  EXPECT_TRUE(loop_.RunUntil([&] { return life.at("s1").counters().repairs >= 1; }));
  ASSERT_TRUE(life.WaitForPort(11)) << life.log();
  EXPECT_EQ(NumberAt(second_, "br0"), std::to_string(life.ports().NumberOf(11)));
  EXPECT_NE(life.log().find("switch edge11: port " + port +
                            " to the analyzer 127.0.0.9 has the "
                            "number "),
            std::string::npos)
      << life.log();

  ASSERT_TRUE(life.Uninstall());
  for (const TestVswitch* one : {&first_, &second_})
    EXPECT_EQ(one->Vsctl({"list-ports", "br0"}), "");
}

TEST_F(AnalyzerPortsTest, FollowABridgeThatMoves) {
  for (TestVswitch* one : {&first_, &second_}) one->Start();
  Life life(&loop_, {&first_, &second_});
  AddBridge(first_, "br0", "0a");
  ASSERT_TRUE(life.WaitForPort(10)) << life.log();
  first_.Vsctl({"set", "bridge", "br0", "other_config:datapath-id=00000000000000ff"});
  EXPECT_TRUE(loop_.RunUntil([&] { return first_.Vsctl({"list-ports", "br0"}).empty(); }));
  EXPECT_EQ(life.ports().NumberOf(10), 0u);
  AddBridge(second_, "br7", "0a");
  ASSERT_TRUE(life.WaitForPort(10)) << life.log();
  EXPECT_EQ(NumberAt(second_, "br7"), std::to_string(life.ports().NumberOf(10)));
}

TEST_F(AnalyzerPortsTest, StayAsTheyAreWhenTheControllerComesAgain) {
  first_.Start();
  AddBridge(first_, "br0", "0a");
  auto life = std::make_unique<Life>(&loop_, std::vector<TestVswitch*>{&first_});
  ASSERT_TRUE(life->WaitForPort(10)) << life->log();
  const std::string uuid =
      first_.Vsctl({"get", "port", first_.Vsctl({"list-ports", "br0"}), "_uuid"});
  life.reset();
  life = std::make_unique<Life>(&loop_, std::vector<TestVswitch*>{&first_});
  ASSERT_TRUE(life->WaitForPort(10)) << life->log();
  EXPECT_EQ(life->at("s0").counters().changes, 0u);
  EXPECT_EQ(first_.Vsctl({"get", "port", first_.Vsctl({"list-ports", "br0"}), "_uuid"}), uuid);
}

TEST_F(AnalyzerPortsTest, SayWhatStandsInTheirWay) {
  first_.Start();
  AddBridge(first_, "br0", "0a");
  const std::string name = TunnelPortName({"br0", TunnelKind::kGre, "127.0.0.9"});
  first_.Vsctl({"add-port", "br0", name, "--", "set", "interface", name, "type=dummy"});
  Life life(&loop_, {&first_});
  EXPECT_TRUE(loop_.RunUntil([&] { return !life.log().empty(); }));
  EXPECT_EQ(life.log(),
            "switch edge10 has no port to the analyzer 127.0.0.9 yet: s0: there is "
            "another port " +
                name + ", which is not ours\n");
  EXPECT_EQ(life.ports().NumberOf(10), 0u);
  first_.Vsctl({"del-port", name});
  EXPECT_TRUE(life.WaitForPort(10)) << "nothing is in the way any more";
}

// Whatever a database that is not ours says.
TEST(SwitchPort, HasTheNumberOfItsOneInterface) {
  const auto number = [](const std::vector<Json>& interfaces) {
    OvsdbTables tables;
    tables["Open_vSwitch"]["s"] = {{"bridges", OvsdbUuid("b")}};
    tables["Bridge"]["b"] = {{"name", "br0"}, {"ports", OvsdbUuid("p")}};
    tables["Port"]["p"] = {{"name", "gre0"}, {"interfaces", OvsdbSet(interfaces)}};
    tables["Interface"]["i"] = {{"name", "gre0"}, {"ofport", 7}};
    tables["Interface"]["j"] = {{"name", "gre1"}, {"ofport", 8}};
    return ReadSwitchView(tables).FindPort("br0", "gre0")->of_port();
  };
  EXPECT_EQ(number({OvsdbUuid("i")}), 7u);
  EXPECT_EQ(number({}), 0u);
  EXPECT_EQ(number({OvsdbUuid("gone")}), 0u);
  EXPECT_EQ(number({OvsdbUuid("i"), OvsdbUuid("j")}), 0u);
}

}  // namespace
}  // namespace trumpet
