// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Real agents and the real event manager over the wire.

#include "tests/network/agent_network_test.h"

namespace trumpet::testing {
namespace {

constexpr char kAbove9[] = "- {name: e, event: '*, sum(packets) > 9, 10ms'}";

// Up to the start of an interval, all before it decided.
void Begin(AgentNetwork* network) {
  network->RunMs(30);
  network->RunToBoundary();
  network->TakeReports();
}

std::vector<std::string> Firings(const AgentNetwork& network) {
  std::vector<std::string> lines;
  for (const auto& row : network.reports()) {
    if (!row->is_clear) lines.push_back(row->json);
  }
  return lines;
}

bool Has(const std::string& line, const std::string& what) {
  return line.find(what) != std::string::npos;
}

TEST(AgentNetwork, DecidesWhatNoHostSeesAlone) {
  AgentNetwork network(3);
  ASSERT_TRUE(network.Install(kAbove9));
  Begin(&network);
  for (size_t i = 0; i < 3; ++i) network.host(i).Receive(network.host(i).threads[0], 4);
  network.RunMs(30);
  const auto lines = Firings(network);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(Has(lines[0], "\"value\":12")) << lines[0];
  EXPECT_TRUE(Has(lines[0], "\"complete\":true")) << lines[0];
}

TEST(AgentNetwork, CountsTheSameWithSharesOfTheThreshold) {
  AgentNetworkOptions options;
  options.manager.event.splits_threshold = true;
  AgentNetwork network(4, options);
  ASSERT_TRUE(network.ConnectAll());
  ASSERT_TRUE(network.Install("- {name: e, event: '*, sum(packets) > 9, dstIP, 10ms'}"));
  Begin(&network);
  const uint64_t polls = network.manager().network_counters().polls;
  for (size_t i = 0; i < 4; ++i)
    network.host(i).Receive(network.host(i).threads[0], i == 0 ? 8 : 1);
  network.RunMs(30);
  const auto lines = Firings(network);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(Has(lines[0], "\"value\":11")) << lines[0];
  EXPECT_TRUE(Has(lines[0], "\"complete\":true")) << lines[0];
  const auto view = network.manager().FindEvent("e", Caller());
  EXPECT_EQ(view->mode, "threshold") << view->why_not_threshold;
  EXPECT_GT(network.manager().network_counters().polls, polls);
}

TEST(AgentNetwork, AHostAppliesAnEventOnceItsPacketThreadsRunIt) {
  AgentNetworkOptions options;
  options.threads_per_host = 2;
  AgentNetwork network(2, options);
  ASSERT_TRUE(network.Install("- {name: first, event: '*, sum(packets) > 9, 10ms'}"));
  network.host(1).threads_are_idle = false;  // nor do they get packets: nothing is taken up
  network.manager().Put(kAbove9, DocumentFormat::kYaml, "test.yaml",
                        EventManager::IfThere::kReplace, Caller(),
                        [](const Result<std::vector<EventRecord>>&) {});
  network.RunMs(50);
  EXPECT_EQ(network.manager().FindEvent("e", Caller())->wanted, 2u);
  EXPECT_EQ(network.manager().FindEvent("e", Caller())->applied, 1u);
  network.host(1).threads_are_idle = true;
  network.RunMs(50);
  EXPECT_EQ(network.manager().FindEvent("e", Caller())->applied, 2u);
}

TEST(AgentNetwork, TellsWhatAHostDecidesItself) {
  AgentNetwork network(2);
  ASSERT_TRUE(network.Install("- {name: e, event: '*, sum(packets) > 3, 10ms', scope: host}"));
  Begin(&network);
  network.host(1).Receive(network.host(1).threads[0], 4);
  network.RunMs(30);
  const auto lines = Firings(network);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(Has(lines[0], "\"value\":4")) << lines[0];
  EXPECT_TRUE(Has(lines[0], "h2")) << lines[0];
}

TEST(AgentNetwork, NamesAHostWhoseMonitorIsSwitchedOffUntilItIsOnAgain) {
  AgentNetwork network(2);
  ASSERT_TRUE(network.Install("- {name: e, event: '*, sum(packets) > 3, 10ms'}"));
  network.host(1).Command("trumpet/disable");
  network.RunMs(50);
  EXPECT_TRUE(network.manager().FindHost("h2")->is_monitor_off);
  Begin(&network);
  network.host(0).Receive(network.host(0).threads[0], 4);
  network.RunMs(12);  // before the deadline
  auto lines = Firings(network);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(Has(lines[0], R"("complete":false,"reasons":["monitor-interrupted"])")) << lines[0];
  EXPECT_TRUE(Has(lines[0], R"("monitor_off":["h2"])")) << lines[0];
  // Another session hears of it, too.
  network.RenewSession(1);
  ASSERT_TRUE(network.RunUntil([&] { return network.manager().FindHost("h2")->sessions == 2; }));
  network.RunMs(5);
  EXPECT_TRUE(network.manager().FindHost("h2")->is_monitor_off);
  network.host(1).Command("trumpet/enable");
  network.RunMs(50);
  EXPECT_FALSE(network.manager().FindHost("h2")->is_monitor_off);
  Begin(&network);
  for (size_t i = 0; i < 2; ++i) network.host(i).Receive(network.host(i).threads[0], 2);
  network.RunMs(30);
  lines = Firings(network);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(Has(lines[0], "\"value\":4")) << lines[0];
  EXPECT_TRUE(Has(lines[0], "\"complete\":true")) << lines[0];
}

TEST(AgentNetwork, MissesWhatAHostCountedBeforeItsProcessDied) {
  AgentNetwork network(2);
  ASSERT_TRUE(network.Install("- {name: e, event: '*, sum(packets) > 3, 10ms'}"));
  Begin(&network);
  network.host(0).Receive(network.host(0).threads[0], 4);
  network.RunMs(1);
  network.StopHost(1);
  network.StartHost(1);  // and it ends the interval in time
  network.RunMs(30);
  const auto lines = Firings(network);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(Has(lines[0], "\"complete\":false")) << lines[0];
}

TEST(AgentNetwork, GoesOnCountingWhileTheControllerIsAway) {
  AgentNetwork network(2);
  ASSERT_TRUE(network.Install("- {name: e, event: '*, sum(packets) > 3, 1s'}"));
  network.RunToBoundary(kNanosPerSecond);
  network.TakeReports();
  for (size_t i = 0; i < 2; ++i) network.host(i).Receive(network.host(i).threads[0], 2);
  network.RunMs(10);
  network.StopManager();
  network.RunMs(200);
  for (size_t i = 0; i < 2; ++i) network.host(i).Receive(network.host(i).threads[0], 3);
  network.RunMs(50);
  network.StartManager();
  ASSERT_TRUE(network.ConnectAll());
  ASSERT_TRUE(network.Settle());
  network.RunToBoundary(kNanosPerSecond);
  for (size_t i = 0; i < 2; ++i) network.host(i).Receive(network.host(i).threads[0], 5);
  network.RunMs(2500);
  const auto lines = Firings(network);
  ASSERT_FALSE(lines.empty()) << network.Problems();
  EXPECT_TRUE(Has(lines.back(), "\"value\":10")) << lines.back();
  EXPECT_TRUE(Has(lines.back(), "\"complete\":true")) << lines.back();
  for (size_t i = 0; i < 2; ++i) {
    const AgentStatus agent = network.host(i).plugin.agent().Snapshot();
    EXPECT_EQ(agent.interruptions, 0u);
    EXPECT_EQ(agent.generation, 1u) << "the packet threads noticed nothing";
  }
}

}  // namespace
}  // namespace trumpet::testing
