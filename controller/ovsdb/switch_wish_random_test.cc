// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Random wishes on a real database that others write to, too: what is ours becomes as wished, and
// what is theirs stays as it was.

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>

#include "controller/ovsdb/switch_kit_test.h"
#include "controller/ovsdb/switch_wish.h"

namespace trumpet {
namespace {

constexpr char kOwner[] = "us";

class SwitchWishRandomTest : public testing::Test {
 protected:
  SwitchWishRandomTest() {
    OvsdbClientOptions options = TestClientOptions(switch_.database().remote(), "Open_vSwitch");
    options.tables = SwitchViewColumns();
    client_ = std::make_unique<OvsdbClient>(loop_.base(), options, &listener_);
    EXPECT_TRUE(loop_.RunUntil([&] { return client_->is_loaded(); }));
  }

  uint64_t Below(uint64_t limit) { return random_() % limit; }
  std::string Bridge() { return "br" + std::to_string(Below(3)); }
  std::string Port() { return "p" + std::to_string(Below(5)); }

  SwitchView View() { return ReadSwitchView(client_->tables()); }

  OvsdbOutcome Transact(Json operations) {
    OvsdbOutcome got;
    bool is_over = false;
    client_->Transact(std::move(operations), [&](const OvsdbOutcome& outcome) {
      got = outcome;
      is_over = true;
    });
    EXPECT_TRUE(loop_.RunUntil([&] { return is_over; }));
    return got;
  }

  // Somebody else's hand, or one that spoils what is ours.
  void Disturb() {
    const SwitchView view = View();
    std::vector<const SwitchPort*> ours;
    for (const SwitchBridge& bridge : view.bridges) {
      for (const SwitchPort& port : bridge.ports) {
        if (port.owner == kOwner) ours.push_back(&port);
      }
    }
    const auto any = [&] { return ours[Below(ours.size())]->name; };
    switch (Below(8)) {
      case 0:
        switch_.Vsctl({"--may-exist", "add-br", Bridge()});
        break;
      case 1:
        if (Below(3) == 0) switch_.Vsctl({"--if-exists", "del-br", Bridge()});
        break;
      case 2:
        if (!view.bridges.empty()) {
          const std::string name = "q" + std::to_string(Below(3));
          switch_.Vsctl({"--if-exists", "del-port", name, "--", "add-port",
                         view.bridges[Below(view.bridges.size())].name, name});
        }
        break;
      case 3:
        if (!ours.empty()) switch_.Vsctl({"del-port", any()});
        break;
      case 4:
        if (!ours.empty()) switch_.Vsctl({"set", "interface", any(), "options:remote_ip=9.9.9.9"});
        break;
      case 5:
        if (!ours.empty()) switch_.Vsctl({"set", "interface", any(), "type=geneve"});
        break;
      case 6:
        switch_.Vsctl(
            {"set", "open", ".", "other_config:k" + std::to_string(Below(3)) + "=theirs"});
        break;
      default:
        switch_.Vsctl({"clear", "open", ".", "other_config"});
    }
  }

  void Wish(SwitchWish* wish) {
    static const char* const kRemotes[] = {"10.0.0.1", "10.0.0.2", "2001:db8::1"};
    switch (Below(6)) {
      case 0:
      case 1:
        wish->tunnels[Port()] = {Bridge(), static_cast<TunnelKind>(Below(3)), kRemotes[Below(3)]};
        break;
      case 2:
        wish->tunnels.erase(Port());
        break;
      case 3:
        wish->mirrors[{Bridge(), "m" + std::to_string(Below(2))}] = {
            Below(2) == 0, {Port()}, {}, Port(), static_cast<uint16_t>(Below(2) * 100)};
        break;
      case 4:
        wish->mirrors.erase({Bridge(), "m" + std::to_string(Below(2))});
        break;
      default:
        wish->config[{Below(2) == 0 ? "" : Bridge(), "k" + std::to_string(Below(3))}] =
            std::to_string(Below(3));
    }
  }

  // All that is not ours, as text.
  static std::string TheirsIn(const SwitchView& view) {
    std::string text;
    for (const SwitchBridge& bridge : view.bridges) {
      text += bridge.name + ": ";
      for (const SwitchPort& port : bridge.ports) {
        if (port.owner != kOwner) text += port.uuid + " " + port.interfaces[0].type + " ";
      }
    }
    for (const auto& [key, value] : view.row.other_config) {
      if (view.row.external_ids.count("trumpet-owner." + key) == 0) text += key + "=" + value + " ";
    }
    return text;
  }

  static size_t OursIn(const SwitchView& view) {
    size_t count = 0;
    for (const SwitchBridge& bridge : view.bridges) {
      for (const SwitchPort& port : bridge.ports) count += port.owner == kOwner;
      for (const SwitchMirror& mirror : bridge.mirrors) count += mirror.owner == kOwner;
      for (const auto& [key, value] : bridge.row.external_ids) count += value == kOwner;
    }
    for (const auto& [key, value] : view.row.external_ids) count += value == kOwner;
    return count;
  }

  void ExpectAsWished(const SwitchView& view, const SwitchWish& wish, const SwitchPlan& plan) {
    size_t expected = 0;
    for (const auto& [name, tunnel] : wish.tunnels) {
      if (plan.obstacles.count(ObstacleKey("port", name)) != 0) continue;
      ++expected;
      const SwitchPort* const port = view.FindPort(tunnel.bridge, name);
      ASSERT_NE(port, nullptr) << name;
      EXPECT_EQ(port->owner, kOwner);
      EXPECT_EQ(FindOvsdbPair(port->interfaces[0].options, "remote_ip"), tunnel.remote);
    }
    for (const auto& [name, mirror] : wish.mirrors) {
      if (plan.obstacles.count(ObstacleKey("mirror", name)) != 0) continue;
      ++expected;
      const SwitchPort* const output = view.FindPort(name.first, mirror.output_port);
      ASSERT_NE(output, nullptr);
      size_t found = 0;
      for (const SwitchMirror& one : view.FindBridge(name.first)->mirrors) {
        if (one.name != name.second) continue;
        ++found;
        EXPECT_EQ(one.output_port, output->uuid);
        EXPECT_EQ(one.sources.size(), 1u);
        EXPECT_EQ(one.selects_all, mirror.selects_all);
        EXPECT_EQ(one.snap_bytes, mirror.snap_bytes);
      }
      EXPECT_EQ(found, 1u);
    }
    for (const auto& [name, value] : wish.config) {
      if (plan.obstacles.count(ObstacleKey("other_config", name)) != 0) continue;
      const ConfigRow& row = name.first.empty() ? view.row : view.FindBridge(name.first)->row;
      EXPECT_EQ(FindOvsdbPair(row.other_config, name.second), value);
      expected += row.external_ids.count("trumpet-owner." + name.second);
    }
    EXPECT_EQ(OursIn(view), expected);
  }

  std::mt19937_64 random_{20261122};
  OvsdbTestLoop loop_;
  TestVswitch switch_;
  RecordingOvsdbListener listener_;
  std::unique_ptr<OvsdbClient> client_;
};

TEST_F(SwitchWishRandomTest, BecomesTrueAndTouchesNothingElse) {
  SwitchWish wish;
  size_t changes = 0;
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE(round);
    Disturb();
    for (uint64_t i = Below(4); i > 0; --i) Wish(&wish);
    if (Below(20) == 0) wish = SwitchWish();
    // Transactions of ours see what came before them.
    ASSERT_TRUE(Transact(Json::array({{{"op", "comment"}, {"comment", "sync"}}})).ok());
    const SwitchView before = View();
    const SwitchPlan plan = PlanSwitch(before, wish, kOwner);
    if (!plan.operations.empty()) {
      const OvsdbOutcome outcome = Transact(plan.operations);
      ASSERT_TRUE(outcome.ok()) << outcome.text << " " << plan.operations.dump();
      ++changes;
    }
    const SwitchView after = View();
    EXPECT_EQ(PlanSwitch(after, wish, kOwner).operations, Json::array());
    EXPECT_EQ(TheirsIn(after), TheirsIn(before));
    ExpectAsWished(after, wish, plan);
    if (HasFailure()) return;
  }
  EXPECT_GT(changes, 50u);
  const SwitchPlan plan = PlanSwitch(View(), SwitchWish(), kOwner);
  if (!plan.operations.empty()) {
    ASSERT_TRUE(Transact(plan.operations).ok());
  }
  EXPECT_EQ(OursIn(View()), 0u);
}

}  // namespace
}  // namespace trumpet
