// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/monitor_memory.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "lib/tpm/generation.h"
#include "lib/tpm/monitor_harness_test.h"
#include "lib/tpm/set_choice.h"
#include "lib/verdict/bucket_store.h"
#include "lib/verdict/flow_state_map.h"

namespace trumpet {
namespace {

TEST(MonitorMemory, DividesEverySizeIntoWhatAMonitorAccepts) {
  for (const uint32_t megabytes : {4u, 5u, 100u, 256u, 4096u, 65536u}) {
    Settings settings;
    settings.memory_mb = megabytes;
    settings.max_flows = 67108864;
    const MonitorOptions options = MonitorOptionsOf(settings, settings, 1);
    EXPECT_GE(options.max_flows, 1024u) << megabytes;
    EXPECT_GE(options.connections.max_connections, 1024u) << megabytes;
    EXPECT_GE(options.stat_megabytes, 1u) << megabytes;
    EXPECT_LT(options.stat_megabytes, megabytes);
    EXPECT_EQ(options.ring_bytes & (options.ring_bytes - 1), 0u) << megabytes;
  }
}

TEST(MonitorMemory, MakesAMonitorOfTheSmallestAndTheDefaultSize) {
  for (const uint32_t megabytes : {4u, 256u}) {
    Settings settings;
    settings.memory_mb = megabytes;
    EXPECT_TRUE(PacketMonitor::Create(MonitorOptionsOf(settings, settings, 1)).ok());
  }
}

TEST(MonitorMemory, StaysWithinTheCapWhateverIsAskedFor) {
  for (const uint32_t megabytes : {4u, 5u, 7u, 16u, 100u, 256u, 1000u, 4096u, 65536u}) {
    for (const uint32_t flows : {1024u, 262144u, 1000000u, 67108864u}) {
      Settings settings;
      settings.memory_mb = megabytes;
      settings.max_flows = flows;
      settings.ring_kb = flows / 1024;
      settings.max_connections = flows / 2;
      const MonitorOptions options = MonitorOptionsOf(settings, settings, 1);
      EXPECT_LE(PacketMonitor::BytesFor(options), uint64_t{megabytes} << 20)
          << megabytes << " MiB, " << flows << " flows";
      EXPECT_GE(options.max_flows, 1024u) << megabytes << " MiB, " << flows << " flows";
    }
  }
}

TEST(MonitorMemory, TakesWhatItSaidAndNoMore) {
  Settings settings;
  settings.memory_mb = 16;
  const MonitorOptions options = MonitorOptionsOf(settings, settings, 1);
  const auto monitor = PacketMonitor::Create(options);
  ASSERT_TRUE(monitor.ok());
  const MonitorMemory& memory = (*monitor)->memory();
  EXPECT_EQ(memory.bytes, PacketMonitor::BytesFor(options));
  EXPECT_GT(memory.bytes, uint64_t{14} << 20);  // and it uses what it may have
  EXPECT_EQ(memory.reserved_bytes, 0u);
  EXPECT_LE(memory.transparent_bytes, memory.bytes);
}

class ForgettingSink : public DeliverySink {
 public:
  void OnPartial(const PartialView&) override {}
  void OnFlowState(const FlowStateUpdate&) override {}
  void OnEpochEnd(Nanos, Nanos, uint32_t) override {}
};

uint64_t ResidentBytes() {
  unsigned long long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%*u %llu", &pages) != 1) pages = 0;
  if (file != nullptr) std::fclose(file);
  return pages * 4096;
}

// All pages are there from the start, so packets meet no page fault and the process does not grow.
TEST(MonitorMemory, DoesNotGrowUnderAFloodOfFlows) {
  Settings settings;
  settings.memory_mb = 16;
  const auto monitor = PacketMonitor::Create(MonitorOptionsOf(settings, settings, 1));
  ASSERT_TRUE(monitor.ok());
  const auto plan = testing::PlanOf(1, FilterExpr(), Variable::kVolume, 1, true);
  ASSERT_TRUE((*monitor)->Publish(TriggerProgram::Make({plan}, 1, INT64_MIN)).ok());
  ForgettingSink sink;
  const uint64_t before = ResidentBytes();
  for (uint32_t i = 0; i < 300000; i++) {
    testing::Send(monitor->get(), testing::UdpFrame(i, i * 7, 1, 2), Nanos{i} * 1000);
    if (i % 512 == 0) (*monitor)->Drain(&sink);
  }
  const MonitorCounters counters = (*monitor)->counters();
  EXPECT_GT(counters.flows_reclaimed + counters.uncounted_packets + counters.withheld_packets,
            100000u);
  EXPECT_LE(counters.flows, (*monitor)->memory().flows);
  EXPECT_LT(ResidentBytes(), before + (1u << 20));
}

TEST(MonitorMemory, SaysWhenTheMachineHasTooLittle) {
  EXPECT_TRUE(CheckMachineHas(1 << 20).ok());
  const Status status = CheckMachineHas(uint64_t{1} << 50);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message().rfind("it takes 1073741824 MiB (trumpet-memory-mb), and", 0), 0u)
      << status.message();
}

// docs/operations.md tells these numbers.
TEST(MonitorMemory, IsDocumentedAsItIs) {
  const char* const top = std::getenv("top_srcdir");
  std::ifstream file(std::string(top == nullptr ? "." : top) + "/docs/operations.md");
  ASSERT_TRUE(file.is_open()) << "set top_srcdir to the project's root";
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::pair<const char*, uint64_t> kRows[] = {
      {"| flow |", BytesPerFlow()},
      {"| TCP connection |", BytesPerConnection()},
      {"| TCP history record |", kBytesPerHistoryRecord},
      {"| distinct set of events, besides its lists |", TriggerSetTable::kBytesPerSet},
      {"| event in a program, for each thread |", sizeof(SweptTrigger) + sizeof(uint32_t) +
                                                      SetChoice::BytesPerTrigger() +
                                                      TriggerSums::BytesPerTrigger()},
      {"| bucket in the agent, besides key and cells |", BucketStore::kBytesPerBucket},
      {"| TCP flow in the agent |", FlowStateMap::kBytesPerFlow},
  };
  for (const auto& [row, bytes] : kRows) {
    EXPECT_NE(text.find(std::string(row) + " " + std::to_string(bytes) + " |"), std::string::npos)
        << "docs/operations.md should say: " << row << " " << bytes << " |";
  }
}

TEST(MonitorMemory, KeepsTheFlowsAskedForWhenThereIsRoom) {
  const Settings settings;
  EXPECT_EQ(MonitorOptionsOf(settings, settings, 1).max_flows, settings.max_flows);
}

TEST(MonitorMemory, TakesAllButSizesFromTheNewSettings) {
  Settings now;
  now.sweep_budget_us = 7;
  now.packet_budget_us = 6;
  now.watchdog_factor = 20;
  now.flow_timeout_ms = 3;
  now.burst_gap_ns = 9;
  now.vxlan_ports = {8472};
  const MonitorOptions options = MonitorOptionsOf(Settings(), now, 1);
  EXPECT_EQ(options.sweep_budget_ns, 7000);
  EXPECT_EQ(options.packet_budget_ns, 6000);
  EXPECT_EQ(options.watchdog_factor, 20u);
  EXPECT_EQ(options.connections.flow_timeout_ns, 3000000);
  EXPECT_EQ(options.connections.burst_gap_ns, 9);
  EXPECT_EQ(options.parse.vxlan_ports[0], 4789);
  EXPECT_EQ(options.parse.vxlan_ports[1], 8472);
}

}  // namespace
}  // namespace trumpet
