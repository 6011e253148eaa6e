// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/trace/trace_tests.h"

#include <gtest/gtest.h>

#include "lib/lang/trace/trace_language.h"

namespace trumpet {
namespace {

// A line for each test, or the error.
std::string Tests(const std::string& text) {
  const auto rules = ParseTraceRulesYaml(text, "t");
  if (!rules.ok()) return rules.message();
  const auto tests = TraceTests(*rules);
  if (!tests.ok()) return tests.message();
  std::string lines;
  for (const TraceTest& test : *tests) {
    lines += std::to_string(test.rule) + " [" + test.match + "] " + std::to_string(test.tos) + " " +
             test.actions + "\n";
  }
  return lines;
}

TEST(TraceTests, GoThroughTableZeroOneForEachMatch) {
  EXPECT_EQ(Tests("rules: [{name: a, filter: vlan=1 or vlan=2}, {name: b}]"),
            "0 [dl_vlan=0x1] 0 load:1->NXM_NX_REG13[1],resubmit(,0)\n"
            "0 [dl_vlan=0x2] 0 load:1->NXM_NX_REG13[1],resubmit(,0)\n"
            "1 [] 0 load:1->NXM_NX_REG13[1],resubmit(,0)\n");
}

TEST(TraceTests, HaveTheDebugBitOfRulesForMarkedPackets) {
  EXPECT_EQ(Tests("{debug_bit: 5, rules: [{name: m, filter: ethType=0x800, marked: true}]}"),
            "0 [dl_type=0x800] 128 load:1->NXM_NX_REG13[1],resubmit(,0)\n");
}

TEST(TraceTests, OfPortsAndSamplesGoToTheRulesAtOnce) {
  EXPECT_EQ(Tests("rules: [{name: p, filter: inPort=3 and vlan=1}, {name: q, filter: inPort=4}]"),
            "0 [dl_vlan=0x1] 0 load:1->NXM_NX_REG13[1],resubmit(3,251)\n"
            "1 [] 0 load:1->NXM_NX_REG13[1],resubmit(4,251)\n");
  EXPECT_EQ(Tests("{debug_bit: 0, rules: [{name: s, filter: ethType=0x800, sample: 1/2, marked: "
                  "true}]}"),
            "0 [dl_type=0x800] 4 load:1->NXM_NX_REG13[1],"
            "move:NXM_OF_IP_TOS[]->NXM_NX_REG13[8..15],resubmit(,251)\n");
}

TEST(TraceTests, NameTheRuleThatSwitchesCannotBeTold) {
  EXPECT_EQ(Tests("rules: [{name: b, filter: not vlan=1}]"),
            "t:1:27: rule 'b': 'not' cannot be said to OpenFlow switches");
}

}  // namespace
}  // namespace trumpet
