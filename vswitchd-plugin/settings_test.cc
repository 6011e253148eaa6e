// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/settings.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

std::string OnlyComplaint(const std::string& key, const std::string& value) {
  const SettingsResult result = ReadSettings({{key, value}});
  EXPECT_EQ(result.settings, Settings()) << key << "=" << value;
  EXPECT_EQ(result.complaints.size(), 1u) << key << "=" << value;
  return result.complaints.empty() ? "" : result.complaints[0];
}

TEST(Settings, AreTheDefaultsWhenNothingIsSet) {
  const SettingsResult result = ReadSettings({});
  EXPECT_TRUE(result.complaints.empty());
  EXPECT_FALSE(result.settings.enable);
  EXPECT_EQ(result.settings.memory_mb, 256u);
  EXPECT_EQ(result.settings.sweep_budget_us, 5u);
  EXPECT_EQ(result.settings.packet_budget_us, 5u);
}

TEST(Settings, TakeEveryKeyAtBothEndsOfItsRange) {
  const struct {
    const char* key;
    const char* value;
    uint32_t Settings::*member;
    uint32_t expected;
  } kRows[] = {
      {"trumpet-memory-mb", "4", &Settings::memory_mb, 4},
      {"trumpet-memory-mb", "65536", &Settings::memory_mb, 65536},
      {"trumpet-max-flows", "1024", &Settings::max_flows, 1024},
      {"trumpet-max-flows", "67108864", &Settings::max_flows, 67108864},
      {"trumpet-max-connections", "0", &Settings::max_connections, 0},
      {"trumpet-max-connections", "16777216", &Settings::max_connections, 16777216},
      {"trumpet-ring-kb", "0", &Settings::ring_kb, 0},
      {"trumpet-ring-kb", "65536", &Settings::ring_kb, 65536},
      {"trumpet-max-buckets", "1", &Settings::max_buckets, 1},
      {"trumpet-max-buckets", "16777216", &Settings::max_buckets, 16777216},
      {"trumpet-max-total-buckets", "1", &Settings::max_total_buckets, 1},
      {"trumpet-max-total-buckets", "268435456", &Settings::max_total_buckets, 268435456},
      {"trumpet-max-triggers", "1", &Settings::max_triggers, 1},
      {"trumpet-max-triggers", "65536", &Settings::max_triggers, 65536},
      {"trumpet-sweep-budget-us", "1", &Settings::sweep_budget_us, 1},
      {"trumpet-sweep-budget-us", " 1000 ", &Settings::sweep_budget_us, 1000},
      {"trumpet-packet-budget-us", "1", &Settings::packet_budget_us, 1},
      {"trumpet-packet-budget-us", "1000", &Settings::packet_budget_us, 1000},
      {"trumpet-watchdog-factor", "0", &Settings::watchdog_factor, 0},
      {"trumpet-watchdog-factor", "1000", &Settings::watchdog_factor, 1000},
      {"trumpet-flow-timeout-ms", "1", &Settings::flow_timeout_ms, 1},
      {"trumpet-flow-timeout-ms", "3600000", &Settings::flow_timeout_ms, 3600000},
      {"trumpet-burst-gap-ns", "0", &Settings::burst_gap_ns, 0},
      {"trumpet-burst-gap-ns", "1000000000", &Settings::burst_gap_ns, 1000000000},
  };
  for (const auto& row : kRows) {
    const SettingsResult result = ReadSettings({{row.key, row.value}});
    EXPECT_TRUE(result.complaints.empty()) << row.key << "=" << row.value;
    EXPECT_EQ(result.settings.*row.member, row.expected) << row.key << "=" << row.value;
  }
}

TEST(Settings, TakeReservedHugePagesOnlyWhenToldSo) {
  EXPECT_FALSE(ReadSettings({}).settings.reserved_huge_pages);
  EXPECT_TRUE(ReadSettings({{"trumpet-reserved-huge-pages", "true"}}).settings.reserved_huge_pages);
  EXPECT_EQ(OnlyComplaint("trumpet-reserved-huge-pages", "1"),
            "trumpet-reserved-huge-pages is \"1\"; it takes true or false; using false");
}

TEST(Settings, FallBackToTheDefaultAndSayWhatIsAllowed) {
  const struct {
    const char* key;
    const char* value;
    const char* complaint;
  } kRows[] = {
      {"trumpet-enable", "yes", "trumpet-enable is \"yes\"; it takes true or false; using false"},
      {"trumpet-enable", "", "trumpet-enable is \"\"; it takes true or false; using false"},
      {"trumpet-memory-mb", "3", "trumpet-memory-mb is \"3\"; it takes 4 to 65536; using 256"},
      {"trumpet-memory-mb", "lots",
       "trumpet-memory-mb is \"lots\"; it takes 4 to 65536; using 256"},
      {"trumpet-max-flows", "1023",
       "trumpet-max-flows is \"1023\"; it takes 1024 to 67108864; using 262144"},
      {"trumpet-max-buckets", "0",
       "trumpet-max-buckets is \"0\"; it takes 1 to 16777216; using 65536"},
      {"trumpet-max-triggers", "65537",
       "trumpet-max-triggers is \"65537\"; it takes 1 to 65536; using 4096"},
      {"trumpet-sweep-budget-us", "0",
       "trumpet-sweep-budget-us is \"0\"; it takes 1 to 1000; using 5"},
      {"trumpet-packet-budget-us", "1001",
       "trumpet-packet-budget-us is \"1001\"; it takes 1 to 1000; using 5"},
      {"trumpet-sweep-budget-us", "5us",
       "trumpet-sweep-budget-us is \"5us\"; it takes 1 to 1000; using 5"},
      {"trumpet-sweep-budget-us", "-5",
       "trumpet-sweep-budget-us is \"-5\"; it takes 1 to 1000; using 5"},
      {"trumpet-flow-timeout-ms", "1e3",
       "trumpet-flow-timeout-ms is \"1e3\"; it takes 1 to 3600000; using 10000"},
      {"trumpet-burst-gap-ns", "99999999999999999999999",
       "trumpet-burst-gap-ns is \"99999999999999999999999\"; it takes 0 to 1000000000; using "
       "10000"},
      {"trumpet-uplinks", "eth0,,eth1",
       "trumpet-uplinks is \"eth0,,eth1\"; it takes port names or patterns with * and ?, parted by "
       "commas; using the physical ports"},
      {"trumpet-carriers", "eth0,,eth1",
       "trumpet-carriers takes port names or patterns with * and ?, and at most one key:TEXT, "
       "parted by commas; using none"},
      {"trumpet-carriers", "key:a,eth0,key:b",
       "trumpet-carriers takes port names or patterns with * and ?, and at most one key:TEXT, "
       "parted by commas; using none"},
      {"trumpet-zones", "vlan:5000=1",
       "trumpet-zones has \"vlan:5000=1\"; it takes PORT=ZONE, vlan:VID=ZONE and tunnel:ID=ZONE "
       "with VID 0 to 4095 and ZONE 0 to 65535; using zone 0 for all"},
      {"trumpet-zones", "a=1,b",
       "trumpet-zones has \"b\"; it takes PORT=ZONE, vlan:VID=ZONE and tunnel:ID=ZONE with VID 0 "
       "to 4095 and ZONE 0 to 65535; using zone 0 for all"},
      {"trumpet-tunnel-ports", "vxlan:4790,gre:1",
       "trumpet-tunnel-ports has \"gre:1\"; it takes vxlan:PORT and geneve:PORT with PORT 1 to "
       "65535, at most 3 of a kind; using 4789 and 6081 only"},
      {"trumpet-tunnel-ports", "vxlan:0",
       "trumpet-tunnel-ports has \"vxlan:0\"; it takes vxlan:PORT and geneve:PORT with PORT 1 to "
       "65535, at most 3 of a kind; using 4789 and 6081 only"},
      {"trumpet-enabled", "true",
       "unknown setting \"trumpet-enabled\" is ignored; did you mean 'trumpet-enable'?"},
      {"trumpet-flow-timeout", "5",
       "unknown setting \"trumpet-flow-timeout\" is ignored; did you mean "
       "'trumpet-flow-timeout-ms'?"},
      {"trumpet-colour-of-the-sky", "blue",
       "unknown setting \"trumpet-colour-of-the-sky\" is ignored"},
  };
  for (const auto& row : kRows) EXPECT_EQ(OnlyComplaint(row.key, row.value), row.complaint);
}

TEST(Settings, KeepComplaintsOnOneShortLine) {
  const std::string complaint = OnlyComplaint("trumpet-memory-mb", "1\n2" + std::string(5000, 'x'));
  EXPECT_EQ(complaint.find('\n'), std::string::npos);
  EXPECT_LT(complaint.size(), 200u);
}

TEST(Settings, ReadLists) {
  const Settings settings =
      ReadSettings({{"trumpet-uplinks", "eth*, dpdk0"},
                    {"trumpet-carriers", "key:a secret, link-*, dpdk0"},
                    {"trumpet-zones", "vhost1=7, vlan:100=8,tunnel:5001=9"},
                    {"trumpet-tunnel-ports", "vxlan:8472,geneve:6082,vxlan:4790"}})
          .settings;
  EXPECT_EQ(settings.uplinks, (std::vector<std::string>{"eth*", "dpdk0"}));
  EXPECT_EQ(settings.carriers, (std::vector<std::string>{"link-*", "dpdk0"}));
  EXPECT_EQ(settings.carrier_key, "a secret");
  const std::vector<ZoneRule> zones{{ZoneRule::Kind::kPort, "vhost1", 0, 7},
                                    {ZoneRule::Kind::kVlan, "", 100, 8},
                                    {ZoneRule::Kind::kTunnel, "", 5001, 9}};
  EXPECT_EQ(settings.zones, zones);
  EXPECT_EQ(settings.vxlan_ports, (std::vector<uint16_t>{8472, 4790}));
  EXPECT_EQ(settings.geneve_ports, (std::vector<uint16_t>{6082}));
}

TEST(Settings, TellWhichChangesNeedNewMonitorsAndWhichWait) {
  Settings changed;
  changed.uplinks = {"eth0"};
  EXPECT_FALSE(NeedsNewMonitors(Settings(), changed));
  changed.burst_gap_ns = 1;
  EXPECT_TRUE(NeedsNewMonitors(Settings(), changed));
  changed.memory_mb = 512;
  changed.max_buckets = 1;
  EXPECT_EQ(ChangesAtNextStart(Settings(), changed), std::vector<std::string>{"trumpet-memory-mb"});
}

TEST(Settings, MatchNamesAgainstShellPatterns) {
  EXPECT_TRUE(MatchesPattern("eth*", "eth0"));
  EXPECT_TRUE(MatchesPattern("*", ""));
  EXPECT_TRUE(MatchesPattern("d?dk*1", "dpdk-p1"));
  EXPECT_TRUE(MatchesPattern("*a*b", "xaayab"));
  EXPECT_FALSE(MatchesPattern("eth?", "eth"));
  EXPECT_FALSE(MatchesPattern("", "a"));
  EXPECT_FALSE(MatchesPattern("*a*b", "xaayabc"));
}

TEST(Settings, TakeControllersThatStandBy) {
  const auto read = ReadSettings({{"trumpet-controller", "ssl:tem1, ssl:tem2:7000"}});
  EXPECT_EQ(read.settings.controller, "ssl:tem1, ssl:tem2:7000");
  EXPECT_TRUE(read.complaints.empty());
  const auto mixed = ReadSettings({{"trumpet-controller", "ssl:tem1,tcp:127.0.0.1"}});
  EXPECT_EQ(mixed.settings.controller, "");
  ASSERT_EQ(mixed.complaints.size(), 1u);
  EXPECT_EQ(
      mixed.complaints[0],
      "trumpet-controller is \"ssl:tem1,tcp:127.0.0.1\"; some addresses are with TLS and some "
      "without; using no controller");
}

}  // namespace
}  // namespace trumpet
