// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/probe/via_route.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

const std::vector<BounceLink>& Links() {
  static const std::vector<BounceLink> links = {{"a", 9, "b", 2}, {"a", 4, "b", 3},
                                                {"b", 5, "c", 6}, {"c", 6, "b", 5},
                                                {"c", 0, "d", 0}, {"b", 3, "a", 4}};
  return links;
}

std::string Found(const std::vector<std::string>& via) {
  const auto hops = FindVia("a", 1, via, Links());
  if (!hops.ok()) return hops.message();
  std::string text;
  for (const ViaHop& hop : *hops) {
    text += (text.empty() ? "" : " > ") + std::to_string(hop.in_port) + ":" + hop.switch_name +
            ":" + std::to_string(hop.out_port);
  }
  return text;
}

TEST(ViaRoute, GoesOverALinkToEachFromTheOneBefore) {
  EXPECT_EQ(Found({"b"}), "1:a:4 > 3:b:0") << "of two links the one with the lower port";
  EXPECT_EQ(Found({"b", "c"}), "1:a:4 > 3:b:5 > 6:c:0");
}

TEST(ViaRoute, SaysWhyThereIsNone) {
  EXPECT_EQ(Found({"c"}), "no link of switch 'a' to switch 'c' has been found by LLDP");
  EXPECT_EQ(Found({"b", "c", "d"}), "no link of switch 'c' to switch 'd' has been found by LLDP");
  EXPECT_EQ(Found({"b", "a"}), "'via' would take packets to switch 'a' twice");
  EXPECT_EQ(Found({"a"}), "'via' would take packets to switch 'a' twice");
}

// One for packets of this probe only, which ends by itself and is known as ours.
TEST(ViaRoute, FlowsAreForPacketsToAnAddressOfNobodyAndEnd) {
  const ViaFlow flow = {
      0x123456789abcdef0, {2, 1, 2, 3, 4, 5}, {2, 0, 0, 0, 0, 2}, 40 * kNanosPerSecond};
  const OpenflowRule through = ViaRuleOf({"a", 1, 4}, flow);
  EXPECT_EQ(through.text,
            "table=0,priority=64899,hard_timeout=41,in_port=1,dl_dst=02:01:02:03:04:05,"
            "actions=output:4");
  EXPECT_EQ(through.cookie, kOpenflowCookie | uint64_t{8} << 40 | 0x789abcdef0);
  EXPECT_FALSE(through.lasts);
  EXPECT_EQ(ViaRuleOf({"c", 6, 0}, flow).text,
            "table=0,priority=64899,hard_timeout=41,in_port=6,dl_dst=02:01:02:03:04:05,"
            "actions=set_field:02:00:00:00:00:02->eth_dst,resubmit(,0)");
}

}  // namespace
}  // namespace trumpet
