// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/monitor_memory.h"

#include <gtest/gtest.h>

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

TEST(MonitorMemory, KeepsTheFlowsAskedForWhenThereIsRoom) {
  const Settings settings;
  EXPECT_EQ(MonitorOptionsOf(settings, settings, 1).max_flows, settings.max_flows);
}

TEST(MonitorMemory, TakesAllButSizesFromTheNewSettings) {
  Settings now;
  now.sweep_budget_us = 7;
  now.flow_timeout_ms = 3;
  now.burst_gap_ns = 9;
  now.vxlan_ports = {8472};
  const MonitorOptions options = MonitorOptionsOf(Settings(), now, 1);
  EXPECT_EQ(options.sweep_budget_ns, 7000);
  EXPECT_EQ(options.connections.flow_timeout_ns, 3000000);
  EXPECT_EQ(options.connections.burst_gap_ns, 9);
  EXPECT_EQ(options.parse.vxlan_ports[0], 4789);
  EXPECT_EQ(options.parse.vxlan_ports[1], 8472);
}

}  // namespace
}  // namespace trumpet
