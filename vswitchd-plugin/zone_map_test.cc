// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/zone_map.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

const std::vector<PortInfo> kPorts{{3, "vhost1", "dpdkvhostuserclient"}, {4, "eth0", "system"}};

ZoneMap MapOf(const char* zones) {
  return ZoneMap(ReadSettings({{"trumpet-zones", zones}}).settings.zones, kPorts);
}

ParsedPacket PacketWith(Field field, uint32_t value) {
  ParsedPacket packet;
  packet.innermost.present = FieldBit(field);
  packet.innermost.vlan = static_cast<uint16_t>(value);
  packet.innermost.tunnel_id = value;
  return packet;
}

TEST(ZoneMap, PutsEverythingIntoZoneZeroWithoutRules) {
  EXPECT_TRUE(MapOf("").is_empty());
  EXPECT_EQ(MapOf("").ZoneOf(3), 0);
}

TEST(ZoneMap, FindsAPortByItsName) {
  const ZoneMap map = MapOf("vhost1=7,eth0=8");
  EXPECT_FALSE(map.reads_headers());
  EXPECT_EQ(map.ZoneOf(3), 7);
  EXPECT_EQ(map.ZoneOf(4), 8);
  EXPECT_EQ(map.ZoneOf(5), 0);
}

TEST(ZoneMap, LeavesOutPortsThatDoNotExist) { EXPECT_TRUE(MapOf("vhost9=7").is_empty()); }

TEST(ZoneMap, TellsAVlanFromATunnelOfTheSameNumber) {
  const ZoneMap map = MapOf("vlan:100=1,tunnel:100=2");
  EXPECT_TRUE(map.reads_headers());
  EXPECT_EQ(map.ZoneOf(3, PacketWith(Field::kVlan, 100)), 1);
  EXPECT_EQ(map.ZoneOf(3, PacketWith(Field::kTunnelId, 100)), 2);
  EXPECT_EQ(map.ZoneOf(3, PacketWith(Field::kVlan, 101)), 0);
}

TEST(ZoneMap, LetsTheFirstRuleWin) {
  EXPECT_EQ(MapOf("vhost1=7,vlan:100=1").ZoneOf(3, PacketWith(Field::kVlan, 100)), 7);
  EXPECT_EQ(MapOf("vlan:100=1,vhost1=7").ZoneOf(3, PacketWith(Field::kVlan, 100)), 1);
}

TEST(PortTable, KnowsPortsUntilTheyGo) {
  PortTable table;
  table.Add(4, "eth0", "system");
  table.Add(3, "vhost1", "dpdkvhostuserclient");
  ASSERT_EQ(table.List().size(), 2u);
  EXPECT_EQ(table.List()[0].name, "vhost1");
  table.Remove(3);
  ASSERT_EQ(table.List().size(), 1u);
  EXPECT_EQ(table.List()[0].name, "eth0");
}

TEST(PortTable, KnowsTunnels) {
  EXPECT_TRUE(IsTunnel({1, "vxlan_sys_4789", "vxlan"}));
  EXPECT_FALSE(IsTunnel({1, "vxlan", "system"}));
}

TEST(PortTable, TakesPhysicalPortsForUplinksUnlessToldOtherwise) {
  EXPECT_TRUE(IsUplink({1, "dpdk0", "dpdk"}, {}));
  EXPECT_FALSE(IsUplink({1, "vhost1", "dpdkvhostuser"}, {}));
  EXPECT_FALSE(IsUplink({1, "no-such-device", "system"}, {}));
  EXPECT_TRUE(IsUplink({1, "vhost1", "dpdkvhostuser"}, {"eth0", "vh*"}));
  EXPECT_FALSE(IsUplink({1, "dpdk0", "dpdk"}, {"eth0", "vh*"}));
}

}  // namespace
}  // namespace trumpet
