// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/ovsdb/remote_switch.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <set>

#include "controller/ovsdb/switch_kit_test.h"

namespace trumpet {
namespace {

class RemoteSwitchTest : public testing::Test {
 protected:
  std::unique_ptr<RemoteSwitch> Open(const std::string& owner = "c1",
                                     Nanos patience = 10 * kNanosPerSecond) {
    RemoteSwitchOptions options;
    options.name = "s1";
    options.remotes = *ParseOvsdbRemotes(switch_.database().remote());
    options.owner = owner;
    options.patience = patience;
    options.first_backoff = 10 * kNanosPerMilli;
    options.longest_backoff = 100 * kNanosPerMilli;
    return std::make_unique<RemoteSwitch>(loop_.base(), clock_, options, nullptr);
  }

  Result<AnalyzerPort> Ensure(RemoteSwitch* one, const std::string& bridge,
                              const std::string& address, TunnelKind kind) {
    Result<AnalyzerPort> got = Status::Error("no answer");
    bool has_answered = false;
    one->EnsureAnalyzerPort(bridge, address, kind, [&](const Result<AnalyzerPort>& answer) {
      got = answer;
      has_answered = true;
    });
    EXPECT_TRUE(loop_.RunUntil([&] { return has_answered; }));
    return got;
  }

  Status Uninstall(RemoteSwitch* one) {
    Status got = Status::Error("no answer");
    bool has_answered = false;
    one->Uninstall([&](const Status& status) {
      got = status;
      has_answered = true;
    });
    EXPECT_TRUE(loop_.RunUntil([&] { return has_answered; }));
    return got;
  }

  // Rows that carry a name of an owner, of all tables that we write.
  std::string Owned() const {
    std::string rows;
    for (const char* table : {"Port", "Mirror"}) {
      rows += switch_.Vsctl(
          {"--bare", "--columns=name", "find", table, "external_ids:trumpet-owner=c1"});
    }
    return rows;
  }

  SystemWireClock clock_;
  OvsdbTestLoop loop_;
  TestVswitch switch_;
};

TEST_F(RemoteSwitchTest, MakesTunnelsOfAllKindsWhoseKeysFlowsSet) {
  switch_.Start();
  switch_.AddBridge("br0");
  switch_.AddBridge("br1");
  const auto one = Open();
  const struct {
    TunnelKind kind;
    const char* address;
    const char* type;
  } cases[] = {{TunnelKind::kGre, "127.0.0.9", "gre"},
               {TunnelKind::kErspan, "127.0.0.9", "erspan"},
               {TunnelKind::kVxlan, "127.0.0.9", "vxlan"},
               {TunnelKind::kGre, "2001:db8::9", "ip6gre"},
               {TunnelKind::kErspan, "2001:db8::9", "ip6erspan"}};
  std::set<std::string> names;
  for (const auto& a : cases) {
    // The same analyzer behind two bridges of one switch, too.
    for (const char* bridge : {"br0", "br1"}) {
      const auto port = Ensure(one.get(), bridge, a.address, a.kind);
      ASSERT_TRUE(port.ok()) << a.type << " " << port.message();
      EXPECT_TRUE(names.insert(port->name).second);
      EXPECT_EQ(switch_.Vsctl({"get", "interface", port->name, "ofport"}),
                std::to_string(port->of_port));
      EXPECT_EQ(switch_.Vsctl({"get", "interface", port->name, "type", "options:out_key"}),
                std::string(a.type) + "\nflow");
      EXPECT_EQ(switch_.Vsctl({"port-to-br", port->name}), bridge);
      const auto again = Ensure(one.get(), bridge, a.address, a.kind);
      ASSERT_TRUE(again.ok()) << again.message();
      EXPECT_EQ(again->of_port, port->of_port);
    }
  }
  EXPECT_EQ(one->counters().changes, std::size(cases) * 2);
  EXPECT_EQ(Uninstall(one.get()).ok(), true);
  EXPECT_EQ(Owned(), "");
  EXPECT_EQ(switch_.Vsctl({"list-ports", "br0"}), "");
}

TEST_F(RemoteSwitchTest, SaysWhyThereIsNoPort) {
  switch_.AddBridge("br0");
  const auto one = Open("c1", 200 * kNanosPerMilli);
  EXPECT_EQ(Ensure(one.get(), "br0", "analyzer", TunnelKind::kGre).message(),
            "s1: 'analyzer' is no IPv4 or IPv6 address of an analyzer");
  EXPECT_EQ(Ensure(one.get(), "br7", "127.0.0.9", TunnelKind::kGre).message(),
            "s1: there is no bridge br7");
  const std::string name = TunnelPortName({"br0", TunnelKind::kGre, "127.0.0.9"});
  EXPECT_EQ(Ensure(one.get(), "br0", "127.0.0.9", TunnelKind::kGre).message(),
            "s1: there is no port " + name + ": it has not been taken up by the switch");
  one->DropAnalyzerPort("br0", "127.0.0.9", TunnelKind::kGre);
  EXPECT_TRUE(loop_.RunUntil([&] { return Owned().empty(); }));
  switch_.Vsctl({"add-port", "br0", name});
  ASSERT_TRUE(loop_.RunUntil([&] { return one->view().FindPort("br0", name) != nullptr; }));
  EXPECT_EQ(Ensure(one.get(), "br0", "127.0.0.9", TunnelKind::kGre).message(),
            "s1: there is another port " + name + ", which is not ours");
  switch_.database().Kill(SIGKILL);
  ASSERT_TRUE(loop_.RunUntil([&] { return !one->is_connected(); }));
  EXPECT_EQ(
      Ensure(one.get(), "br0", "127.0.0.8", TunnelKind::kGre)
          .message()
          .find("s1: there is no port " + TunnelPortName({"br0", TunnelKind::kGre, "127.0.0.8"}) +
                ": its database is away (unix:"),
      0u);
}

TEST_F(RemoteSwitchTest, MirrorsToItsTunnelAndSetsKeys) {
  switch_.Start();
  switch_.AddBridge("br0");
  switch_.Vsctl({"add-port", "br0", "p1", "--", "set", "interface", "p1", "type=dummy"});
  const auto one = Open();
  const auto port = Ensure(one.get(), "br0", "127.0.0.9", TunnelKind::kGre);
  ASSERT_TRUE(port.ok()) << port.message();
  one->WantMirror("br0", "m1", {false, {"p1"}, {"p1"}, port->name, 100});
  one->WantMirror("br0", "m2", {false, {"p9"}, {}, port->name, 0});
  one->WantConfig("", "trumpet-enable", "true");
  one->WantConfig("br0", "mac-aging-time", "77");
  switch_.Vsctl({"set", "bridge", "br0", "other_config:mac-table-size=99"});
  one->WantConfig("br0", "mac-table-size", "100");
  ASSERT_TRUE(loop_.RunUntil([&] {
    const SwitchBridge* const br0 = one->view().FindBridge("br0");
    return br0->mirrors.size() == 1 && br0->row.other_config.count("mac-aging-time") != 0;
  }));
  EXPECT_EQ(switch_.Vsctl({"get", "open", ".", "other_config:trumpet-enable"}), "\"true\"");
  EXPECT_EQ(switch_.Vsctl({"--bare", "get", "mirror", "m1", "snaplen", "select_all"}),
            "100\nfalse");
  EXPECT_EQ(one->problem(),
            "mirror br0/m2: there is no port p9 on bridge br0; other_config br0/mac-table-size: it "
            "is '99' already, and not by us");
  one->DropMirror("br0", "m1");
  one->DropConfig("", "trumpet-enable");
  EXPECT_TRUE(loop_.RunUntil([&] {
    return one->view().FindBridge("br0")->mirrors.empty() && one->view().row.other_config.empty();
  }));
  EXPECT_TRUE(Uninstall(one.get()).ok());
  EXPECT_EQ(switch_.Vsctl({"get", "bridge", "br0", "other_config"}), "{mac-table-size=\"99\"}");
  EXPECT_EQ(switch_.Vsctl({"get", "bridge", "br0", "external_ids"}), "{}");
  EXPECT_EQ(switch_.Vsctl({"list-ports", "br0"}), "p1");
}

TEST_F(RemoteSwitchTest, PutsBackWhatSomebodyTookAway) {
  switch_.Start();
  switch_.AddBridge("br0");
  const auto one = Open();
  const auto port = Ensure(one.get(), "br0", "127.0.0.9", TunnelKind::kGre);
  ASSERT_TRUE(port.ok()) << port.message();
  for (uint64_t round = 1; round <= 3; ++round) {
    if (round == 1) switch_.Vsctl({"del-port", port->name});
    if (round == 2) switch_.Vsctl({"set", "interface", port->name, "options:remote_ip=127.0.0.8"});
    if (round == 3) switch_.Vsctl({"set", "interface", port->name, "type=vxlan"});
    ASSERT_TRUE(loop_.RunUntil([&] { return one->counters().repairs == round; })) << round;
  }
  const auto again = Ensure(one.get(), "br0", "127.0.0.9", TunnelKind::kGre);
  ASSERT_TRUE(again.ok()) << again.message();
  EXPECT_EQ(switch_.Vsctl({"get", "interface", port->name, "options:remote_ip", "type"}),
            "\"127.0.0.9\"\ngre");
}

TEST_F(RemoteSwitchTest, RemovesAfterACrashWhatItNoLongerWants) {
  switch_.Start();
  switch_.AddBridge("br0");
  auto one = Open();
  ASSERT_TRUE(Ensure(one.get(), "br0", "127.0.0.8", TunnelKind::kGre).ok());
  const auto kept = Ensure(one.get(), "br0", "127.0.0.9", TunnelKind::kErspan);
  ASSERT_TRUE(kept.ok());
  one.reset();
  one = Open();
  const auto again = Ensure(one.get(), "br0", "127.0.0.9", TunnelKind::kErspan);
  ASSERT_TRUE(again.ok()) << again.message();
  EXPECT_EQ(again->of_port, kept->of_port) << "it was never taken away";
  EXPECT_EQ(switch_.Vsctl({"list-ports", "br0"}), kept->name);
}

TEST_F(RemoteSwitchTest, ComesBackWhenServerAndSwitchDo) {
  switch_.Start();
  switch_.AddBridge("br0");
  const auto one = Open();
  const auto port = Ensure(one.get(), "br0", "127.0.0.9", TunnelKind::kGre);
  ASSERT_TRUE(port.ok());
  switch_.database().Kill(SIGKILL);
  ASSERT_TRUE(loop_.RunUntil([&] { return !one->is_connected(); }));
  one->DropAnalyzerPort("br0", "127.0.0.9", TunnelKind::kGre);
  switch_.database().Start();
  const auto other = Ensure(one.get(), "br0", "127.0.0.8", TunnelKind::kGre);
  ASSERT_TRUE(other.ok()) << other.message();
  EXPECT_EQ(switch_.Vsctl({"list-ports", "br0"}), other->name);
  switch_.Stop();
  switch_.Start();
  EXPECT_TRUE(Ensure(one.get(), "br0", "127.0.0.7", TunnelKind::kVxlan).ok());
}

TEST_F(RemoteSwitchTest, ControllersOfOneOwnerTakeTurnsAndOthersAreLeftAlone) {
  switch_.Start();
  switch_.AddBridge("br0");
  auto first = Open();
  ASSERT_TRUE(Ensure(first.get(), "br0", "127.0.0.9", TunnelKind::kGre).ok());
  const auto second = Open("c1", 300 * kNanosPerMilli);
  const auto refused = Ensure(second.get(), "br0", "127.0.0.8", TunnelKind::kGre);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.message().find("another controller has the lock"), std::string::npos)
      << refused.message();
  const auto stranger = Open("c2");
  ASSERT_TRUE(Ensure(stranger.get(), "br0", "127.0.0.8", TunnelKind::kVxlan).ok());
  first.reset();
  ASSERT_TRUE(loop_.RunUntil([&] { return second->has_lock(); }));
  EXPECT_TRUE(Uninstall(second.get()).ok());
  EXPECT_EQ(switch_.Vsctl({"list-ports", "br0"}),
            TunnelPortName({"br0", TunnelKind::kVxlan, "127.0.0.8"}));
}

}  // namespace
}  // namespace trumpet
