// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/trace/trace_language.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

// The canonical form, or the error.
std::string Canonical(const std::string& text) {
  const auto rules = ParseTraceRulesYaml(text, "t");
  if (!rules.ok()) return rules.message();
  std::string printed = PrintTraceRules(*rules);
  const auto again = ParseTraceRulesYaml(printed, "printed");
  EXPECT_TRUE(again.ok()) << printed << again.message();
  EXPECT_TRUE(again.ok() && *again == *rules) << printed;
  return printed;
}

TEST(TraceLanguage, SaysRulesInTheirCanonicalForm) {
  EXPECT_EQ(Canonical("debug_bit: 5\n"
                      "switch_rate: 20000\n"
                      "network_rate: 100000\n"
                      "rules:\n"
                      "  - {name: web, filter: 'dstPort=80 and Protocol=TCP', sample: 1/1024}\n"
                      "  - {name: on \"host\" 1, marked: true, truncate: 192, rate: 50}\n"),
            "debug_bit: 5\n"
            "switch_rate: 20000\n"
            "network_rate: 100000\n"
            "rules:\n"
            "  - name: \"web\"\n"
            "    filter: \"dstPort=80 and Protocol=TCP\"\n"
            "    sample: 1/1024\n"
            "  - name: \"on \\\"host\\\" 1\"\n"
            "    filter: \"*\"\n"
            "    marked: true\n"
            "    truncate: 192\n"
            "    rate: 50\n");
  EXPECT_EQ(Canonical("rules:"), "rules: []\n");
}

TEST(TraceLanguage, TheBaseSetComesFirstAndHasTheDebugBitIfThereIsOne) {
  const auto names = [](const std::string& text) {
    const auto rules = ParseTraceRulesYaml(text, "t");
    if (!rules.ok()) return rules.message();
    std::string all;
    for (const TraceRule& rule : rules->rules) all += rule.name + " ";
    return all;
  };
  EXPECT_EQ(names("base: true"), "handshakes bgp pfc roce-cnp ");
  EXPECT_EQ(names("{base: true, debug_bit: 0, rules: [{name: all}]}"),
            "handshakes bgp pfc roce-cnp marked all ");
  EXPECT_EQ(Canonical("base: true"),
            "rules:\n"
            "  - name: \"handshakes\"\n"
            "    filter: \"tcpFlags=+syn or tcpFlags=+fin or tcpFlags=+rst\"\n"
            "  - name: \"bgp\"\n"
            "    filter: \"Protocol=TCP and (srcPort=179 or dstPort=179)\"\n"
            "  - name: \"pfc\"\n"
            "    filter: \"ethType=0x8808\"\n"
            "  - name: \"roce-cnp\"\n"
            "    filter: \"Protocol=UDP and dstPort=4791 and dscp=48\"\n");
}

TEST(TraceLanguage, JsonSaysTheSame) {
  const auto json = ParseTraceRulesJson(
      R"({"debug_bit": 2, "base": false, "rules": [{"name": "a", "filter": "vlan=7",
          "marked": true, "sample": "1/2", "truncate": 64, "rate": 9}]})",
      "t");
  const auto yaml = ParseTraceRulesYaml(
      "{debug_bit: 2, rules: [{name: a, filter: vlan=7, marked: true, sample: 1/2, truncate: 64, "
      "rate: 9}]}",
      "t");
  ASSERT_TRUE(json.ok()) << json.message();
  ASSERT_TRUE(yaml.ok()) << yaml.message();
  EXPECT_TRUE(*json == *yaml);
}

TEST(TraceLanguage, RulesOfTheEdgeGoWithOneForWhateverIsMarked) {
  const std::string rules =
      "debug_bit: 5\nrules:\n  - name: \"e\"\n    filter: \"vlan=7\"\n    edge: true\n"
      "    rate: 9\n  - name: \"m\"\n    filter: \"*\"\n    marked: true\n";
  EXPECT_EQ(Canonical(rules), rules);
  const auto base = ParseTraceRulesYaml(
      "{base: true, debug_bit: 5, rules: [{name: a}, {name: e, edge: true}, {name: b}]}", "t");
  ASSERT_TRUE(base.ok()) << base.message();
  // What takes all that is marked goes behind them, and before what comes then.
  std::string names;
  for (const TraceRule& rule : base->rules) names += rule.name + " ";
  EXPECT_EQ(names, "handshakes bgp pfc roce-cnp a e marked b ");
  EXPECT_TRUE(base->rules[5].is_at_edge);
  EXPECT_TRUE(base->rules[5].needs_bit());
}

TEST(TraceLanguage, MarksAreOfSomeHostsOrOfAll) {
  const std::string rules =
      "debug_bit: 5\nrules:\n  - name: \"m\"\n    filter: \"*\"\n    marked: true\n";
  EXPECT_EQ(Canonical(rules + "marks: [{name: a, hosts: [h1, 7], filter: dstPort=80}, {name: b}]"),
            rules +
                "marks:\n"
                "  - name: \"a\"\n"
                "    filter: \"dstPort=80\"\n"
                "    hosts: [\"h1\", \"7\"]\n"
                "  - name: \"b\"\n"
                "    filter: \"*\"\n");
  EXPECT_EQ(Canonical(rules + "marks:"), rules);
  const auto mark = ParseTraceMarkJson(R"({"hosts": ["h1"], "filter": "dscp=1"})", "t", "slow");
  ASSERT_TRUE(mark.ok()) << mark.message();
  EXPECT_EQ(mark->name, "slow");
  EXPECT_EQ(mark->hosts, std::vector<std::string>{"h1"});
  EXPECT_EQ(ParseTraceMarkYaml("{}", "t", "").ok(), false);
  EXPECT_EQ(ParseTraceMarkYaml("{name: a}", "t", "a").message(),
            "t:1:2: 'name' is not a key of a mark");
}

TEST(TraceLanguage, NamesThePlaceOfAMistake) {
  const std::string start = "debug_bit: 1\nrules:\n  - name: a\n    ";
  const std::pair<std::string, const char*> cases[] = {
      {"[]", "t:1:1: a set of trace rules is a map of keys"},
      {"ruls: []", "t:1:1: 'ruls' is not a key of a set of trace rules; did you mean 'rules'?"},
      {"base: yes", "t:1:7: 'base' takes true or false"},
      {"debug_bit: 6", "t:1:12: 'debug_bit' takes a whole number from 0 to 5"},
      {"switch_rate: 0", "t:1:14: 'switch_rate' takes a whole number from 1 to 10000000"},
      {"rules: 7", "t:1:8: 'rules' must be a list"},
      {"rules: [7]", "t:1:9: a trace rule is a map of keys"},
      {"rules: [{}]", "t:1:9: this rule has no 'name'"},
      {"rules: [{name: a}, {name: a}]", "t:1:27: there is another rule named 'a'"},
      {"base: true\nrules: [{name: bgp}]", "t:2:16: there is another rule named 'bgp'"},
      {"rules: [{name: a, marked: true}]",
       "t:1:27: a rule for marked packets needs a 'debug_bit' beside 'rules'"},
      {"marks: [{name: a}]", "t:1:8: marks need a 'debug_bit' beside 'rules'"},
      {"{debug_bit: 1, rules: [{name: a}], marks: [{name: a}]}",
       "t:1:43: no rule copies what is marked: there is none with 'marked'"},
      {"rules: [{name: a, edge: true}]",
       "t:1:25: a rule of the edge needs a 'debug_bit' beside 'rules'"},
      {start + "edge: maybe", "t:4:11: 'edge' takes true or false"},
      {start + "edge: true\n    marked: true",
       "t:4:11: a rule is 'marked' or of the 'edge', not both"},
      {start + "edge: true\n    sample: 1/2",
       "t:4:11: a rule of the edge takes all of its packets: it has no 'sample'"},
      {"{debug_bit: 1, rules: [{name: m, marked: true}, {name: a, edge: true}]}",
       "t:1:1: rule 'a' of the edge would take nothing: rule 'm' before it takes whatever is "
       "marked"},
      {start + "edge: true",
       "t:1:1: rule 'a' is of the edge, and no rule behind it copies whatever is marked there: "
       "have 'base: true', or a rule with 'marked: true' and no filter"},
      {start + "edge: true\n  - {name: b, marked: true, filter: vlan=1}",
       "t:1:1: rule 'a' is of the edge, and no rule behind it copies whatever is marked there: "
       "have 'base: true', or a rule with 'marked: true' and no filter"},
      {"marks: 7", "t:1:8: 'marks' must be a list"},
      {"marks: [{}]", "t:1:9: this mark has no 'name'"},
      {"marks: [{name: a}, {name: a}]", "t:1:27: there is another mark named 'a'"},
      {"marks: [{name: a, hosts: []}]", "t:1:26: 'hosts' must be a list of hosts of the topology"},
      {"marks: [{name: a, hosts: [[]]}]", "t:1:27: a host is named by its 'id' in the topology"},
      {"marks: [{name: a, filter: x}]", "t:1:27: 'x' is not a packet field"},
      {start + "name: b", "t:4:5: 'name' stands twice here"},
      {start + "filter: 'dstPort=80 and dstIp=1'",
       "t:4:29: 'dstIp' is not a packet field; did you mean 'dstIP'?"},
      {start + "filter: [a]", "t:4:13: 'filter' must be a text"},
      {start + "sample: 1/3",
       "t:4:13: 'sample' takes 1/N, where N is a power of two from 2 to 65536"},
      {start + "sample: 1/131072",
       "t:4:13: 'sample' takes 1/N, where N is a power of two from 2 to 65536"},
      {start + "truncate: 63", "t:4:15: 'truncate' takes a whole number from 64 to 65535"},
      {start + "rate: -1", "t:4:11: 'rate' takes a whole number from 1 to 10000000"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(Canonical(text), error) << text;
}

TEST(TraceLanguage, TakesSixtyFourRules) {
  std::string text = "rules:\n";
  for (size_t i = 0; i < kMaxTraceRules; ++i) text += "  - name: r" + std::to_string(i) + "\n";
  EXPECT_TRUE(ParseTraceRulesYaml(text, "t").ok());
  EXPECT_EQ(Canonical(text + "  - name: last"), "t:66:5: there are more than 64 rules");
}

TEST(TraceTags, TellRuleAndPortAndAreNoTagsOfSlices) {
  for (const uint32_t rule : {0u, 1u, 63u}) {
    for (const uint32_t port : {0u, 1u, 4095u}) {
      const uint32_t tag = TraceTag(rule, port);
      EXPECT_TRUE(IsTraceTag(tag));
      EXPECT_EQ(TraceTagRule(tag), rule);
      EXPECT_EQ(TraceTagPort(tag), port);
      EXPECT_LE(tag, kMaxSliceTag);
    }
  }
  EXPECT_FALSE(IsTraceTag(kFirstTraceTag - 1));
  EXPECT_FALSE(IsTraceTag(kFirstProbeTag));
}

}  // namespace
}  // namespace trumpet
