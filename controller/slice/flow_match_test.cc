// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/flow_match.h"

#include <gtest/gtest.h>

#include "controller/openflow/openflow_message.h"
#include "lib/lang/event/event_language.h"

namespace trumpet {
namespace {

// "{a | b}", or the error.
std::string Matches(const std::string& filter) {
  const auto event = ParseEventLine(filter + ", sum(packets)>1, 5-tuples, 10ms", "test");
  if (!event.ok()) return event.message();
  const auto matches = FlowMatches(event->filter);
  if (!matches.ok()) return matches.message();
  std::string text;
  for (const std::string& match : *matches) {
    text += (text.empty() ? "" : " | ") + match;
    // Whatever it says, a switch can be told.
    const auto rule = EncodeRule(
        TRUMPET_OF_13, TRUMPET_OF_ADD,
        {OpenflowRule::Kind::kFlow, match + (match.empty() ? "" : ",") + "actions=drop", 1, true},
        1);
    EXPECT_TRUE(rule.ok()) << filter << ": " << rule.message();
  }
  return "{" + text + "}";
}

TEST(FlowMatch, SaysFiltersAsMatches) {
  const std::pair<const char*, const char*> cases[] = {
      {"dstIP=10.1.0.0/16", "{dl_type=0x800,nw_dst=10.1.0.0/255.255.0.0}"},
      {"srcIP=2001:db8::/32", "{dl_type=0x86dd,ipv6_src=2001:db8::/ffff:ffff::}"},
      {"dstIP=10.1.0.0/16 and dstIP=10.1.2.0/24", "{dl_type=0x800,nw_dst=10.1.2.0/255.255.255.0}"},
      {"dstIP=10.1.0.0/16 and dstIP=10.2.0.0/16", "{}"},
      {"dstIP=10.1.0.0/16 and srcIP=2001:db8::/32", "{}"},
      {"srcIP=1.2.3.4 and Protocol=6 and dstPort=80",
       "{dl_type=0x800,nw_proto=0x6,nw_src=1.2.3.4/255.255.255.255,tp_dst=0x50}"},
      {"dstPort=80-83 and srcIP=1.2.3.4 and Protocol=17",
       "{dl_type=0x800,nw_proto=0x11,nw_src=1.2.3.4/255.255.255.255,tp_dst=0x50/0xfffc}"},
      {"vlan=5", "{dl_vlan=0x5}"},
      {"inPort={3,65534}", "{in_port=3 | in_port=65534}"},
      {"Protocol=1", "{dl_type=0x800,nw_proto=0x1 | dl_type=0x86dd,nw_proto=0x1}"},
      {"tcpFlags=+syn-ack and dstIP=1.2.3.4",
       "{dl_type=0x800,nw_proto=0x6,nw_dst=1.2.3.4/255.255.255.255,tcp_flags=0x2/0x12}"},
      {"srcIP=1.2.3.4 or dstIP=1.2.3.4",
       "{dl_type=0x800,nw_dst=1.2.3.4/255.255.255.255 | "
       "dl_type=0x800,nw_src=1.2.3.4/255.255.255.255}"},
      {"not (dstIP=10.1.0.0/16)", "'not' cannot be said to OpenFlow switches"},
      {"inner.dstIP=10.1.0.0/16", "inner.dstIP is out of sight for OpenFlow switches"},
      {"srcPort=1-65534 and dstPort=1-65534", "the filter needs more than 64 OpenFlow matches"},
      {"ttl=1-2 and ethType=0x800", "{dl_type=0x800,nw_ttl=0x1 | dl_type=0x800,nw_ttl=0x2}"},
      {"dscp=8/5 and ethType=0x86dd", "{dl_type=0x86dd,ip_dscp=0x8 | dl_type=0x86dd,ip_dscp=0x9}"},
      {"ttl=1-255", "the filter needs more than 64 OpenFlow matches"},
  };
  for (const auto& [filter, matches] : cases) EXPECT_EQ(Matches(filter), matches) << filter;
}

TEST(FlowMatch, NoFilterFitsEveryPacket) {
  const auto matches = FlowMatches(FilterExpr());
  ASSERT_TRUE(matches.ok());
  EXPECT_EQ(*matches, std::vector<std::string>{""});
}

}  // namespace
}  // namespace trumpet
