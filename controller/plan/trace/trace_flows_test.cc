// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the flows say; whether a switch does with packets what the rules say is tested with a real
// one (tests/system/trace_cases.py).

#include "controller/plan/trace/trace_flows.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lib/lang/trace/trace_language.h"

namespace trumpet {
namespace {

TraceSwitch SwitchFive() {
  TraceSwitch at;
  at.number = 5;
  at.port = 11;
  at.switch_count = 3;
  return at;
}

Result<TraceFlows> Compile(const std::string& text, const TraceSwitch& at = SwitchFive()) {
  const auto rules = ParseTraceRulesYaml(text, "t");
  if (!rules.ok()) return rules.status();
  return CompileTraceRules(*rules, at);
}

// All lines that begin so, or the error.
std::string Lines(const Result<TraceFlows>& flows, const std::string& start) {
  if (!flows.ok()) return flows.message();
  std::string text;
  const auto add = [&](const std::string& line) {
    if (line.rfind(start, 0) == 0) text += line + "\n";
  };
  for (const std::string& meter : flows->meters) add(meter);
  for (const TraceFlow& flow : flows->flows) add(flow.text);
  return text;
}

TEST(TraceFlows, ForwardFirstAndThenLookThroughTheRules) {
  EXPECT_EQ(Lines(Compile("rules: [{name: pfc, filter: ethType=0x8808}]"), ""),
            "table=0,priority=64999,reg13=0/0x1,in_port=11,"
            "actions=load:1->NXM_NX_REG13[0],resubmit(,0)\n"
            "table=0,priority=64999,reg13=0x3/0x3,actions=drop\n"
            "table=0,priority=64900,reg13=0/0x1,dl_type=0x8808,"
            "actions=clone(load:1->NXM_NX_REG13[0],resubmit(,0)),resubmit(,251)\n"
            "table=251,priority=40000,dl_type=0x8808,actions=set_field:5767168->tun_id,"
            "move:NXM_OF_IN_PORT[0..11]->NXM_NX_TUN_ID[0..11],output:11\n");
}

// Each by itself is within the limits.
TEST(TraceFlows, OfManyMatchesAndManyPrefixesAreAsManyAsTheirProduct) {
  TraceSwitch at = SwitchFive();
  for (uint32_t i = 0; i < 64; ++i) {
    at.local.push_back(*ParsePrefix("10." + std::to_string(i) + ".0.0/16"));
    at.hosts.push_back({"h" + std::to_string(i), {at.local.back()}});
  }
  const auto flows = Compile(
      "{debug_bit: 5, base: true, rules: [{name: web, sample: 1/8, filter: 'Protocol=TCP and "
      "dstPort={80,443,8080,8443}'}],\n"
      "marks: [{name: app, filter: 'Protocol=TCP and dstPort={80,443,8080,8443}'}]}",
      at);
  ASSERT_TRUE(flows.ok()) << flows.message();
  const auto count = [&](const std::string& start) {
    const std::string lines = Lines(flows, start);
    return std::count(lines.begin(), lines.end(), '\n');
  };
  EXPECT_EQ(count("table=0,priority=64904,"), 4 * 64);
  EXPECT_EQ(count("table=0,priority=64990,"), 4 * 64);
}

TEST(TraceFlows, NoRulesNeedNothingButThePassOfCopies) {
  EXPECT_EQ(Lines(Compile("rules: []"), "table=0,priority=649").find("clone"), std::string::npos);
  EXPECT_EQ(Lines(Compile("rules: []"), "table=25"), "");
}

TEST(TraceFlows, TunnelsToAnalyzersPassBeforeAllRules) {
  TraceSwitch at = SwitchFive();
  at.analyzers = {*ParsePrefix("192.0.2.9"), *ParsePrefix("2001:db8::9")};
  EXPECT_EQ(Lines(Compile("rules: [{name: all}]", at), "table=0,priority=64999,reg13=0/0x1"),
            "table=0,priority=64999,reg13=0/0x1,in_port=11,"
            "actions=load:1->NXM_NX_REG13[0],resubmit(,0)\n"
            "table=0,priority=64999,reg13=0/0x1,ip,nw_proto=47,nw_dst=192.0.2.9/32,"
            "actions=load:1->NXM_NX_REG13[0],resubmit(,0)\n"
            "table=0,priority=64999,reg13=0/0x1,ipv6,nw_proto=47,ipv6_dst=2001:db8::9/128,"
            "actions=load:1->NXM_NX_REG13[0],resubmit(,0)\n");
}

TEST(TraceFlows, TheDebugBitIsReadFromARegisterAndTakenOffAtTheLastHop) {
  TraceSwitch at = SwitchFive();
  at.local = {*ParsePrefix("10.9.0.0/16")};
  const auto flows = Compile("{debug_bit: 5, rules: [{name: m, marked: true}]}", at);
  EXPECT_EQ(Lines(flows, "table=0,priority=64902"),
            "table=0,priority=64902,reg13=0/0x1,dl_type=0x800,nw_dst=10.9.0.0/255.255.0.0,"
            "actions=clone(load:0->NXM_OF_IP_TOS[7],load:1->NXM_NX_REG13[0],resubmit(,0)),"
            "move:NXM_OF_IP_TOS[]->NXM_NX_REG13[8..15],resubmit(,251)\n");
  EXPECT_EQ(Lines(flows, "table=0,priority=64901,reg13=0/0x1,dl_type=0x86dd"),
            "table=0,priority=64901,reg13=0/0x1,dl_type=0x86dd,"
            "actions=clone(load:1->NXM_NX_REG13[0],resubmit(,0)),"
            "move:NXM_OF_IP_TOS[]->NXM_NX_REG13[8..15],resubmit(,251)\n");
  EXPECT_EQ(Lines(flows, "table=251").find("reg13=0x8000/0x8000,dl_type=0x800,actions=") ==
                std::string::npos,
            false);
}

TEST(TraceFlows, HostsOfTheSwitchHaveTheirPacketsMarked) {
  TraceSwitch at = SwitchFive();
  at.hosts = {{"h1", {*ParsePrefix("10.9.1.0/24")}}, {"h2", {*ParsePrefix("2001:db8::2")}}};
  const std::string start = "{debug_bit: 5, rules: [{name: m, marked: true}], marks: ";
  const std::string mark = "table=0,priority=64990,reg13=0/0x7";
  const std::string actions =
      ",actions=load:1->NXM_OF_IP_TOS[7],load:1->NXM_NX_REG13[2],resubmit(,0)\n";
  EXPECT_EQ(Lines(Compile(start + "[{name: a, hosts: [h1], filter: Protocol=TCP}]}", at), mark),
            mark + ",dl_type=0x800,nw_proto=0x6,nw_src=10.9.1.0/255.255.255.0" + actions);
  EXPECT_EQ(Lines(Compile(start + "[{name: a}, {name: b, hosts: [h2]}]}", at), mark),
            mark + ",dl_type=0x800,nw_src=10.9.1.0/255.255.255.0" + actions + mark +
                ",dl_type=0x86dd,ipv6_src=2001:db8::2/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff" +
                actions);
  EXPECT_EQ(Lines(Compile(start + "[{name: a, hosts: [h3]}]}", at), mark), "");
  EXPECT_EQ(Lines(Compile(start + "[{name: a, filter: not vlan=1}]}", at), ""),
            "t:1:76: mark 'a': 'not' cannot be said to OpenFlow switches");
}

TEST(TraceFlows, RulesOfTheEdgeMarkThereAndTakeWhatIsMarked) {
  TraceSwitch at = SwitchFive();
  at.hosts = {{"h1", {*ParsePrefix("10.9.1.0/24")}}};
  const std::string start = "{debug_bit: 5, rules: [{name: e, filter: ";
  const std::string end = ", edge: true}, {name: m, marked: true}]}";
  const auto flows = Compile(start + "Protocol=TCP" + end, at);
  EXPECT_EQ(
      Lines(flows, "table=0,priority=64990"),
      "table=0,priority=64990,reg13=0/0x7,dl_type=0x800,nw_proto=0x6,nw_src=10.9.1.0/"
      "255.255.255.0,actions=load:1->NXM_OF_IP_TOS[7],load:1->NXM_NX_REG13[2],resubmit(,0)\n");
  EXPECT_NE(Lines(flows, "table=251,priority=40000,reg13=0x8000/0x8000,dl_type=0x800,nw_proto=0x6"),
            "");
  // Where there are no hosts nothing is marked, and what is marked is copied.
  const auto inner = Compile(start + "Protocol=TCP" + end);
  EXPECT_EQ(Lines(inner, "table=0,priority=64990"), "");
  EXPECT_EQ(Lines(inner, "table=251"), Lines(flows, "table=251"));
  EXPECT_EQ(Lines(Compile(start + "not vlan=1" + end, at), ""),
            "t:1:42: rule 'e': 'not' cannot be said to OpenFlow switches");
}

TEST(TraceFlows, OnlyWhatASampledRuleMayTakeIsHashed) {
  const auto flows = Compile(
      "rules: [{name: some, filter: 'dstPort=80 and Protocol=6', sample: 1/1024}, {name: pfc, "
      "filter: ethType=0x8808}]");
  EXPECT_EQ(Lines(flows, "table=0,priority=64903,reg13=0/0x1,dl_type=0x800"),
            "table=0,priority=64903,reg13=0/0x1,dl_type=0x800,nw_proto=0x6,tp_dst=0x50,"
            "actions=clone(load:1->NXM_NX_REG13[0],resubmit(,0)),"
            "multipath(symmetric_l3l4+udp,0,modulo_n,65536,0,NXM_NX_REG12[0..15]),"
            "resubmit(,251)\n");
  EXPECT_EQ(Lines(flows, "table=0,priority=64900").find("multipath"), std::string::npos);
  EXPECT_NE(Lines(flows, "table=251,priority=40000,reg12=0/0x3ff,dl_type=0x800,nw_proto=0x6"), "");
}

TEST(TraceFlows, BudgetsAreMetersBehindForwarding) {
  const auto flows = Compile(
      "{switch_rate: 100, network_rate: 200, rules: [{name: a, filter: vlan=1, rate: 7, truncate: "
      "64}, {name: b, filter: 'vlan=2 or vlan=3', rate: 9}]}");
  EXPECT_EQ(Lines(flows, "meter"),
            "meter=60101,pktps,burst,stats,band=type=drop,rate=7,burst_size=7\n"
            "meter=60102,pktps,burst,stats,band=type=drop,rate=9,burst_size=9\n"
            "meter=60100,pktps,burst,stats,band=type=drop,rate=66,burst_size=66\n");
  EXPECT_EQ(Lines(flows, "table=251,priority=40000"),
            "table=251,priority=40000,dl_vlan=0x1,actions=meter:60101,set_field:5767168->tun_id,"
            "move:NXM_OF_IN_PORT[0..11]->NXM_NX_TUN_ID[0..11],load:64->NXM_NX_REG12[16..31],"
            "resubmit(,252)\n");
  // What a meter drops is lost to the copy only.
  EXPECT_EQ(Lines(flows, "table=0,priority=64900,reg13=0/0x1,dl_vlan=0x1"),
            "table=0,priority=64900,reg13=0/0x1,dl_vlan=0x1,"
            "actions=clone(load:1->NXM_NX_REG13[0],resubmit(,0)),clone(resubmit(,251),"
            "load:65279->NXM_OF_IN_PORT[],output(port=65279,max_len=14))\n");
  // Test packets do not wait for them.
  EXPECT_EQ(Lines(flows, "table=251,priority=40001"),
            "table=251,priority=40001,reg13=0x2/0x2,dl_vlan=0x1,actions=set_field:5767168->tun_id,"
            "move:NXM_OF_IN_PORT[0..11]->NXM_NX_TUN_ID[0..11],output(port=11,max_len=64)\n");
  EXPECT_NE(Lines(flows, "table=251,priority=39998,dl_vlan=0x3,actions=meter:60102"), "");
  EXPECT_NE(Lines(Compile("{debug_bit: 5, switch_rate: 9, rules: [{name: m, marked: true}]}"),
                  "table=251,priority=40001,reg13=0x8002/0x8002,dl_type=0x800,actions=set_field"),
            "");
  EXPECT_EQ(Lines(flows, "table=252"),
            "table=252,priority=40000,reg12=0x0/0xffff0000,actions=meter:60100,output:11\n"
            "table=252,priority=40000,reg12=0x400000/0xffff0000,"
            "actions=meter:60100,output(port=11,max_len=64)\n");
}

TEST(TraceFlows, ErspanHasTheSwitchInItsSessionAndTheRestInItsIndex) {
  TraceSwitch at = SwitchFive();
  at.is_erspan = true;
  EXPECT_EQ(Lines(Compile("rules: [{name: a, filter: vlan=1}]", at), "table=251"),
            "table=251,priority=40000,dl_vlan=0x1,actions=set_field:5->tun_id,"
            "set_field:524288->tun_erspan_idx,"
            "move:NXM_OF_IN_PORT[0..11]->tun_erspan_idx[0..11],output:11\n");
}

TEST(TraceFlows, CopiesCountForTheirRule) {
  const auto flows = Compile("base: true");
  ASSERT_TRUE(flows.ok()) << flows.message();
  for (const TraceFlow& flow : flows->flows) {
    EXPECT_EQ(flow.rule >= 0, flow.text.rfind("table=251", 0) == 0) << flow.text;
  }
  EXPECT_EQ(std::count_if(flows->flows.begin(), flows->flows.end(),
                          [](const TraceFlow& flow) { return flow.rule == 1; }),
            4);
}

TEST(TraceFlows, NamesTheRuleThatSwitchesCannotBeTold) {
  EXPECT_EQ(Lines(Compile("rules: [{name: a}, {name: b, filter: not vlan=1}]"), ""),
            "t:1:38: rule 'b': 'not' cannot be said to OpenFlow switches");
  EXPECT_EQ(Lines(Compile("rules: [{name: in, filter: inner.dstPort=1}]"), ""),
            "t:1:28: rule 'in': inner.dstPort is out of sight for OpenFlow switches");
}

}  // namespace
}  // namespace trumpet
