// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <set>

#include "controller/plan/flow_match.h"
#include "controller/plan/trace/sonic_export.h"
#include "controller/plan/trace/sonic_import.h"
#include "lib/lang/trace/trace_language.h"

namespace trumpet {
namespace {

// A config_db with one rule of a table of that type; and what becomes of it, notes included.
std::string Imported(const std::string& type, const std::string& fields,
                     const std::string& more = "") {
  const std::string text =
      R"({"MIRROR_SESSION": {"everflow0": {"src_ip": "10.1.0.32", "dst_ip": "10.0.0.7"}},
          "PORT": {"Ethernet0": {"lanes": [1, 2]}},
          "ACL_TABLE": {"T": {"type": ")" +
      type + R"(", "stage": "ingress", "ports": ["Ethernet0"]}},
          "ACL_RULE": {"T|R": {"PRIORITY": "10", "MIRROR_ACTION": "everflow0")" +
      (fields.empty() ? "" : ", ") + fields + "}}" + more + "}";
  const auto import = ImportSonic(text, "db", {{"Ethernet0", 1}, {"Ethernet4", 5}});
  if (!import.ok()) return import.message();
  std::string said;
  for (const TraceRule& rule : import->rules.rules) {
    TraceRules one;
    one.rules = {rule};
    const std::string printed = PrintTraceRules(one);
    const size_t start = printed.find("filter: \"") + 9;
    said += printed.substr(start, printed.find("\"\n", start) - start);
  }
  for (const std::string& note : import->notes) said += "! " + note;
  return said;
}

TEST(SonicImport, SaysTheMatchesOfAclRulesAsFilters) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"MIRROR", R"("SRC_IP": "5.5.5.5/16", "DST_IP": "9.9.9.9/32")",
       "dstIP=9.9.9.9 and srcIP=5.5.0.0/16"},
      {"MIRROR", R"("L4_SRC_PORT": 43, "L4_DST_PORT_RANGE": "10-20", "IP_PROTOCOL": 6)",
       "Protocol=TCP and dstPort=10-20 and srcPort=43 and ethType=0x0800"},
      {"MIRROR", R"("TCP_FLAGS": "0x12/0x12")", "tcpFlags=+syn+ack and ethType=0x0800"},
      {"MIRROR", R"("TCP_FLAGS": "0x02/0x13")", "tcpFlags=-fin+syn-ack and ethType=0x0800"},
      {"MIRRORV6", R"("SRC_IPV6": "2001:db8::1/32", "NEXT_HEADER": "17")",
       "Protocol=UDP and srcIP=2001:db8::/32"},
      {"MIRRORV6", R"("tcp_flags": "4/4")", "tcpFlags=+rst and ethType=0x86dd"},
      {"MIRROR_DSCP", R"("DSCP": "8/62")", "dscp={8,9}"},
      {"MIRROR_DSCP", R"("DSCP": "32/33")",
       "dscp={32,34,36,38,40,42,44,46,48,50,52,54,56,58,60,62}"},
      {"MIRROR", R"("ETHER_TYPE": "0x8808", "VLAN_ID": "100")", "ethType=0x8808 and vlan=100"},
      {"MIRROR", R"("IP_TYPE": "IPv4ANY")", "ethType=0x0800"},
      {"MIRROR", R"("IN_PORTS": "Ethernet0,Ethernet4", "IP_TYPE": "ANY")", "inPort={1,5}"},
      {"MIRROR", "", "ethType=0x0800"},
  };
  for (const auto& [type, fields, filter] : cases) EXPECT_EQ(Imported(type, fields), filter);
}

TEST(SonicImport, TellsWhatItLeavesOut) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("ICMP_TYPE": "8")", "ICMP_TYPE '8' cannot be said"},
      {R"("INNER_SRC_IP": "1.1.1.1")", "INNER_SRC_IP '1.1.1.1' cannot be said"},
      {R"("IN_PORTS": "Ethernet8")", "IN_PORTS 'Ethernet8' cannot be said"},
      {R"("SRC_IP": "5.5.5/16")", "SRC_IP '5.5.5/16' cannot be said"},
      {R"("DSCP": "64")", "DSCP '64' cannot be said"},
      {R"("L4_SRC_PORT_RANGE": "20-10")", "L4_SRC_PORT_RANGE '20-10' cannot be said"},
      {R"("L4_SRC_PORT_RANGE": "1-65534", "L4_DST_PORT_RANGE": "1-65534")",
       "the filter needs more than 64 OpenFlow matches"},
  };
  for (const auto& [fields, why] : cases) {
    EXPECT_EQ(Imported("MIRROR", fields), "! rule 'T|R' is left out: " + std::string(why));
  }
  EXPECT_EQ(Imported("MIRROR", R"("MIRROR_ACTION": "other")"),
            "! rule 'T|R' is left out: there is no session 'other'");
}

TEST(SonicImport, KeepsTheOrderOfPrioritiesAndWhatSessionsSay) {
  const auto import = ImportSonic(
      R"({"MIRROR_SESSION": {
            "slow": {"src_ip": "1.1.1.1", "dst_ip": "2.2.2.2", "policer": "p",
                     "truncate_size": "128", "sample_rate": "50000"},
            "short": {"src_ip": "1.1.1.1", "dst_ip": "2.2.2.2", "truncate_size": "63"},
            "ports": {"type": "SPAN", "dst_port": "Ethernet8", "src_port": "Ethernet0"}},
          "POLICER": {"p": {"meter_type": "packets", "cir": "100", "cbs": "100"}},
          "ACL_TABLE": {"E": {"type": "MIRROR", "stage": "egress"}, "L": {"type": "L3"}},
          "ACL_RULE": {
            "E|low": {"PRIORITY": "5", "MIRROR_ACTION": "slow", "IP_PROTOCOL": "17"},
            "E|last": {"PRIORITY": "x", "MIRROR_ACTION": "short", "IP_PROTOCOL": "1"},
            "E|hide": {"PRIORITY": "7", "PACKET_ACTION": "FORWARD", "IP_PROTOCOL": "17"},
            "E|high": {"PRIORITY": "9", "MIRROR_EGRESS_ACTION": "slow", "IP_PROTOCOL": "6"},
            "L|drop": {"PRIORITY": "1", "PACKET_ACTION": "DROP"}}})",
      "db", {});
  ASSERT_TRUE(import.ok()) << import.message();
  EXPECT_EQ(PrintTraceRules(import->rules),
            "rules:\n"
            "  - name: \"E|high\"\n"
            "    filter: \"Protocol=TCP and ethType=0x0800\"\n"
            "    sample: 1/32768\n"
            "    truncate: 128\n"
            "    rate: 100\n"
            "  - name: \"E|low\"\n"
            "    filter: \"Protocol=UDP and ethType=0x0800\"\n"
            "    sample: 1/32768\n"
            "    truncate: 128\n"
            "    rate: 100\n"
            "  - name: \"E|last\"\n"
            "    filter: \"Protocol=ICMP and ethType=0x0800\"\n"
            "    truncate: 64\n");
  const std::vector<std::string> notes = {
      "session 'ports' goes to a port, not to an analyzer",
      "session 'ports' mirrors whole ports, which is no rule",
      "rule 'E|high' copies packets as they come, not as they leave",
      "rule 'E|high': of packets one in 50000 becomes of connections one in 32768",
      "rule 'E|hide' is left out: it mirrors nothing, but may hide packets",
      "rule 'E|low' copies packets as they come, not as they leave",
      "rule 'E|low': of packets one in 50000 becomes of connections one in 32768",
      "rule 'E|last' comes last: its PRIORITY is 'x'",
      "rule 'E|last' copies packets as they come, not as they leave",
      "rule 'E|last': copies have at least 64 bytes, not 63"};
  EXPECT_EQ(import->notes, notes);
  EXPECT_EQ(SonicSessionTable(import->sessions),
            "ERSPAN Sessions\n"
            "Name    Status    SRC IP    DST IP    GRE    DSCP    TTL    Queue    Policer    "
            "Monitor Port    SRC Port    Direction\n"
            "------  --------  --------  --------  -----  ------  -----  -------  ---------  "
            "--------------  ----------  -----------\n"
            "slow    inactive  1.1.1.1   2.2.2.2                                  p\n"
            "short   inactive  1.1.1.1   2.2.2.2\n"
            "\n"
            "SPAN Sessions\n"
            "Name    Status    DST Port    SRC Port    Direction    Queue    Policer\n"
            "------  --------  ----------  ----------  -----------  -------  ---------\n"
            "ports   inactive  Ethernet8   Ethernet0\n");
}

TEST(SonicImport, NamesAreNoWayIntoTheRules) {
  const auto import = ImportSonic(
      R"({"MIRROR_SESSION": {"s": {}}, "ACL_TABLE": {"T\"\\": {"type": "MIRROR"}, "-T": {}},
          "ACL_RULE": {"T\"\\|a'": {"MIRROR_ACTION": "s"}, "-T|b": {"MIRROR_ACTION": "s"}}})",
      "db", {});
  ASSERT_TRUE(import.ok()) << import.message();
  ASSERT_EQ(import->rules.rules.size(), 1u);
  EXPECT_EQ(import->rules.rules[0].name, "T\"\\|a'");
  EXPECT_EQ(import->notes.size(), 1u);
  const auto again = ParseTraceRulesYaml(PrintTraceRules(import->rules), "printed");
  EXPECT_TRUE(again.ok() && *again == import->rules) << again.message();
}

TEST(SonicImport, RefusesWhatIsNoConfigDb) {
  EXPECT_EQ(ImportSonic("[]", "db", {}).message(), "db:1:1: a config_db is a map of tables");
  EXPECT_EQ(ImportSonic("{", "db", {}).ok(), false);
  EXPECT_TRUE(ImportSonic(R"({"ACL_RULE": [], "ACL_TABLE": {"T": 7}})", "db", {}).ok());
}

// The matches of all rules of a set.
std::set<std::string> AllMatches(const TraceRules& rules) {
  std::set<std::string> all;
  for (const TraceRule& rule : rules.rules) {
    const auto matches = FlowMatches(rule.filter);
    EXPECT_TRUE(matches.ok()) << rule.name;
    if (matches.ok()) all.insert(matches->begin(), matches->end());
  }
  return all;
}

TEST(SonicExport, ComesBackAsTheSameMatches) {
  for (const char* filter :
       {"dstPort=80", "srcIP=10.0.0.0/8 and dstPort=10-20 and Protocol=6", "ethType=0x8808",
        "tcpFlags=+syn-ack or tcpFlags=+fin", "srcIP=2001:db8::/32 and Protocol=UDP",
        "dscp={8,9} and vlan=7 and ethType=0x0800", "Protocol=TCP and (srcPort=179 or dstPort=179)",
        "dstIP=0.0.0.0/0", "srcIP={10.0.0.1,10.0.0.3} and ethType={0x0800,0x86dd}"}) {
    const auto rules =
        ParseTraceRulesYaml("rules: [{name: 'a|b', filter: '" + std::string(filter) + "'}]", "t");
    ASSERT_TRUE(rules.ok()) << rules.message();
    const auto exported = ExportSonic(*rules, {"10.1.0.32", "10.0.0.7"});
    ASSERT_TRUE(exported.ok()) << exported.message();
    EXPECT_TRUE(exported->notes.empty()) << exported->notes[0];
    const auto import = ImportSonic(exported->text, "exported", {});
    ASSERT_TRUE(import.ok()) << import.message();
    EXPECT_TRUE(import->notes.empty()) << import->notes[0];
    EXPECT_EQ(AllMatches(import->rules), AllMatches(*rules)) << filter << "\n" << exported->text;
  }
}

TEST(SonicExport, WaysToCopyAreSessions) {
  const auto rules = ParseTraceRulesYaml(
      "{debug_bit: 5, rules: [{name: a, marked: true, filter: ethType=0x0800}, {name: b, filter: "
      "vlan=1 and ethType=0x86dd, sample: 1/8, truncate: 128, rate: 9}]}",
      "t");
  ASSERT_TRUE(rules.ok()) << rules.message();
  const auto exported = ExportSonic(*rules, {"10.1.0.32", "10.0.0.7"});
  ASSERT_TRUE(exported.ok()) << exported.message();
  for (const char* part :
       {R"("TRUMPET|RULE_1_a": {)", R"("DSCP": "32/32")", R"("TRUMPETV6|RULE_2_b": {)",
        R"("MIRROR_INGRESS_ACTION": "trumpet2")", R"("sample_rate": "8")",
        R"("truncate_size": "128")", R"("policer": "trumpet2")", R"("cir": "9")"}) {
    EXPECT_NE(exported->text.find(part), std::string::npos) << part << " in " << exported->text;
  }
}

TEST(SonicImport, SaysWhyARuleIsNotLimited) {
  const struct {
    const char* policer;
    const char* why;
  } cases[] = {
      {R"("p": {"meter_type": "packets", "cir": "10000001"})",
       "policer 'p' has a rate of '10000001'; a rule takes 1 to 10000000 copies per second"},
      {R"("p": {"meter_type": "packets", "cir": "50000000000"})",
       "policer 'p' has a rate of '50000000000'; a rule takes 1 to 10000000 copies per second"},
      {R"("p": {"meter_type": "packets", "cir": "0"})",
       "policer 'p' has a rate of '0'; a rule takes 1 to 10000000 copies per second"},
      {R"("p": {"meter_type": "packets"})", "policer 'p' has no rate of packets"},
      {R"("p": {"meter_type": "bytes", "cir": "100"})", "policer 'p' has no rate of packets"},
      {R"("q": {"meter_type": "packets", "cir": "100"})", "there is no policer 'p'"},
  };
  for (const auto& one : cases) {
    const auto import =
        ImportSonic(std::string(R"({"MIRROR_SESSION": {"s": {"policer": "p"}}, "POLICER": {)") +
                        one.policer + R"(}, "ACL_TABLE": {"T": {"type": "MIRROR"}},)" +
                        R"("ACL_RULE": {"T|r": {"MIRROR_ACTION": "s", "IP_PROTOCOL": "6"}}})",
                    "db", {});
    ASSERT_TRUE(import.ok()) << import.message();
    EXPECT_EQ(import->rules.rules[0].copies_per_second, 0u);
    EXPECT_EQ(import->notes,
              std::vector<std::string>({std::string("rule 'T|r' is not limited: ") + one.why}));
  }
}

TEST(SonicImport, NamesThePlaceOfANumberThatIsNone) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("sample_rate": "1/8")",
       "db:2:16: sample_rate of session 's' is '1/8'; it takes 0 to 4294967295"},
      {R"("truncate_size": "99999")",
       "db:2:18: truncate_size of session 's' is '99999'; it takes 0 to 65535"},
      {R"("truncate_size": "-1")",
       "db:2:18: truncate_size of session 's' is '-1'; it takes 0 to 65535"},
      {R"("truncate_size": "", "sample_rate": "0x100")", ""},
  };
  for (const auto& [field, error] : cases) {
    const auto import =
        ImportSonic("{\"MIRROR_SESSION\": {\"s\": {\n" + std::string(field) + "}}}", "db", {});
    EXPECT_EQ(import.ok() ? "" : import.message(), error) << field;
  }
}

TEST(SonicExport, TellsWhatItLeavesOut) {
  const auto rules = ParseTraceRulesYaml(
      "{debug_bit: 0, switch_rate: 500, network_rate: 7000,\n"
      "rules: [{name: b, edge: true, filter: vlan=2}, {name: c, marked: true}],\n"
      "marks: [{name: m, filter: vlan=3}]}",
      "t");
  ASSERT_TRUE(rules.ok()) << rules.message();
  const auto exported = ExportSonic(*rules, {"10.1.0.32", "10.0.0.7"});
  ASSERT_TRUE(exported.ok()) << exported.message();
  EXPECT_EQ(exported->notes,
            std::vector<std::string>({
                "the limit of 500 copies per second of each switch is left out: limits of SONiC "
                "are of sessions",
                "the limit of 7000 copies per second of all switches together is left out: limits "
                "of SONiC are of sessions",
                "t:2:39: rule 'b' marks no packets at the edge: every switch copies what its "
                "filter fits",
                "t:3:27: mark 'm' is left out: Everflow marks no packets",
            }));
}

TEST(SonicExport, NamesTheRuleThatSonicCannotBeTold) {
  const auto error = [](const std::string& filter) {
    const auto rules = ParseTraceRulesYaml("rules: [{name: a, filter: '" + filter + "'}]", "t");
    return rules.ok() ? ExportSonic(*rules, {}).message() : rules.message();
  };
  EXPECT_EQ(error("ttl=1"), "t:1:27: rule 'a': ttl cannot be said to SONiC");
  EXPECT_EQ(error("not vlan=1"), "t:1:27: rule 'a': 'not' cannot be said to SONiC");
  EXPECT_EQ(error("outer.vlan=1"), "t:1:27: rule 'a': outer.vlan cannot be said to SONiC");
  for (const char* flags : {"+ns", "0x102"}) {
    EXPECT_EQ(error(std::string("tcpFlags=") + flags),
              "t:1:27: rule 'a': TCP flags beyond CWR cannot be said to SONiC");
  }
  EXPECT_EQ(error("vlan=4095"), "t:1:27: rule 'a': vlan=4095 cannot be said to SONiC");
  EXPECT_EQ(error("vlan=1-100"), "t:1:27: rule 'a': it needs more than 64 rules");
  EXPECT_EQ(error("vlan=1 and vlan=2"),
            "t:1:27: rule 'a': two tests of VLAN_ID cannot be said to SONiC");
  EXPECT_EQ(error("srcIP=10.0.0.1-10.0.0.3"),
            "t:1:27: rule 'a': addresses from 10.0.0.1 to 10.0.0.3 are no prefix");
}

}  // namespace
}  // namespace trumpet
