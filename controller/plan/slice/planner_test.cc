// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/planner.h"

#include <gtest/gtest.h>

#include <set>

#include "controller/plan/slice/link_rates.h"
#include "controller/plan/slice/slice_kit_test.h"

namespace trumpet::slice {
namespace {

class Planning : public ::testing::Test {
 protected:
  Planning() {
    options_.borders = Named(network_, "A123D");
    options_.rate_bps = 5'000'000;
    options_.longest_path_ms = 20;
    options_.spacing_ms = 10;
  }
  Result<SlicePlan> Plan(const std::string& text) {
    auto campaign = ParseSlices(text, "f");
    if (!campaign) return campaign.status();
    campaign_ = std::move(*campaign);
    return PlanSlices(campaign_, {"f", text}, network_, options_);
  }
  std::string ErrorOf(const std::string& text) {
    const auto plan = Plan(text);
    return plan ? "" : plan.message();
  }
  std::set<std::string> Places(const PlannedQuery& query) {
    std::set<std::string> places;
    for (int router : query.locations) places.insert(network_.NameOf(router));
    return places;
  }

  const Network network_ = PaperNetwork();
  SlicePlanOptions options_;
  SliceCampaign campaign_;
};

// Fig. 2b.
TEST_F(Planning, OfThePapersExampleIsThePapers) {
  const auto plan = Plan(
      "CONFINE { 1.2.3.0/24 } ON { [A B L C D] }\n"
      "MIRROR { 1.2.3.0/24 } ON { [A B C D], [A L C D] }\n"
      "USING 15 Mb/s DURING 450 ms EVERY 5 s");
  ASSERT_TRUE(plan) << plan.message();
  ASSERT_EQ(plan->confined.size(), 1u);
  EXPECT_EQ(Places(plan->confined[0]), (std::set<std::string>{"F", "H", "P"}));
  ASSERT_EQ(plan->mirrored.size(), 2u);
  EXPECT_EQ(Places(plan->mirrored[0]), (std::set<std::string>{"A", "B", "D"}));
  EXPECT_EQ(plan->mirrored[0].cost_bps, 15'000'000);
  EXPECT_EQ(plan->times.slots, 12);
  EXPECT_EQ(plan->packing.slots.size(), 2u);
  EXPECT_EQ(plan->schedule.slots.size(), 12u);
  EXPECT_TRUE(plan->warnings.empty());
}

TEST_F(Planning, GivesEveryEqualCostPathAQueryOfItsOwn) {
  const auto plan = Plan("MIRROR 1.2.3.0/24 ON [A -> D], [A B C D] USING 15");
  ASSERT_TRUE(plan) << plan.message();
  EXPECT_EQ(plan->mirrored.size(), 3u);
}

TEST_F(Planning, ConfinesARegionOnceForAPrefix) {
  const auto plan = Plan(
      "CONFINE 1.2.3.0/24, 1.2.3.0/24, 9.0.0.0/8 ON [A B L C D], [D C L B A]\n"
      "CONFINE 1.2.3.0/24 ON [A B L C D]");
  ASSERT_TRUE(plan) << plan.message();
  EXPECT_EQ(plan->confined.size(), 3u);
  EXPECT_TRUE(plan->warnings.empty());
}

TEST_F(Planning, HasNoMeaningWithoutAnEgress) {
  options_.borders.clear();
  EXPECT_EQ(ErrorOf("CONFINE 1.2.3.0/24 ON [A B C]"),
            "f:1:23: no egress router is known, so a way out of the region has no meaning");
  EXPECT_EQ(ErrorOf("MIRROR 1.2.3.0/24 ON [A ->]"),
            "f:1:22: no egress router is known, so an arrow at the end has no meaning");
  options_.routes = {{*ParsePrefix("1.2.0.0/16"), Named(network_, "D")}};
  EXPECT_EQ(ErrorOf("CONFINE 1.2.3.0/24 ON [A B C D]"), "");
}

TEST_F(Planning, EndsAtTheEgressOfTheLongestRoute) {
  options_.routes = {{*ParsePrefix("1.0.0.0/8"), Named(network_, "1")},
                     {*ParsePrefix("1.2.0.0/16"), Named(network_, "2")},
                     {*ParsePrefix("1.2.3.0/25"), Named(network_, "3")}};
  const auto plan = Plan("MIRROR 1.2.3.0/24, 9.0.0.0/8 ON [P ->] USING 100");
  ASSERT_TRUE(plan) << plan.message();
  std::set<std::string> ends;
  for (const PlannedQuery& query : plan->mirrored) {
    ends.insert(PrintPrefix(query.prefix) + " " + network_.NameOf(query.routers.back()));
  }
  EXPECT_EQ(ends, (std::set<std::string>{"1.2.3.0/24 2", "9.0.0.0/8 1", "9.0.0.0/8 2",
                                         "9.0.0.0/8 3", "9.0.0.0/8 A", "9.0.0.0/8 D"}));
}

TEST_F(Planning, TakesThePriceOfEachPrefixAsMeasured) {
  options_.rates = {{*ParsePrefix("1.2.3.0/24"), 2'000'000}};
  const std::string text = "MIRROR 1.2.3.0/24, 9.0.0.0/8 ON [A B C D] USING 15";
  const auto plan = Plan(text);
  ASSERT_TRUE(plan) << plan.message();
  EXPECT_EQ(plan->mirrored[0].cost_bps, 6'000'000);
  EXPECT_EQ(plan->mirrored[1].cost_bps, 15'000'000);
  options_.rates.push_back({*ParsePrefix("9.0.0.0/8"), 5'000'001});
  EXPECT_FALSE(Plan(text));
  options_.is_capped = true;
  const auto capped = Plan(text);
  ASSERT_TRUE(capped) << capped.message();
  EXPECT_TRUE(capped->mirrored[1].is_capped);
  EXPECT_EQ(capped->mirrored[1].cost_bps, 15'000'000);
  // However much somebody says that it is.
  options_.rates.back().rate_bps = INT64_MAX;
  const auto most = Plan(text);
  ASSERT_TRUE(most) << most.message();
  EXPECT_EQ(most->mirrored[1].cost_bps, 15'000'000);
}

TEST_F(Planning, TellsWhatCopiesPutOnTheLinksToTheAnalyzer) {
  const auto plan = Plan("MIRROR 1.2.3.0/24, 9.0.0.0/8 ON [A B C D] USING 15 Mb/s");
  ASSERT_TRUE(plan) << plan.message();
  std::string text;
  for (const LinkRate& link : ExpectedLinkRates(network_, *plan, Named(network_, "U")[0])) {
    text += network_.NameOf(link.from) + network_.NameOf(link.to) + "=" +
            std::to_string(link.bps / 1'000'000) + " ";
  }
  // From A over F, from B and D over C; one query at a time.
  EXPECT_EQ(text, "AF=5 BC=5 FU=5 CU=10 DC=5 ");
}

TEST_F(Planning, WarnsOfARegionThatAllTrafficLeaves) {
  const auto plan = Plan("CONFINE 1.2.3.0/24 ON [B C]");
  ASSERT_TRUE(plan) << plan.message();
  EXPECT_EQ(plan->warnings,
            std::vector<std::string>{"f:1:23: no egress router of 1.2.3.0/24 is in the region, so "
                                     "every delivered packet leaves it"});
}

TEST(PlanningForAWhile, EndsWhenTheSecondsAreOver) {
  const DenseCase dense;
  std::string region;
  for (const std::string& name : dense.network.NamesOf(dense.region)) region += name + " ";
  const std::string text = "CONFINE 1.2.3.0/24, 2.0.0.0/8 ON [" + region + "]";
  SlicePlanOptions options;
  options.borders = dense.egresses;
  options.seconds = 0.1;
  const auto start = std::chrono::steady_clock::now();
  const auto plan = PlanSlices(*ParseSlices(text, "f"), {"f", text}, dense.network, options);
  EXPECT_GT(SecondsUntil(start), -5);  // sanitizers are slow; without an end it takes minutes
  ASSERT_TRUE(plan) << plan.message();
  ASSERT_EQ(plan->confined.size(), 2u);
  for (const PlannedQuery& query : plan->confined) {
    EXPECT_NE(query.why.find("the search was cut short"), std::string::npos) << query.why;
  }
}

TEST_F(Planning, PointsAtWhatCannotBe) {
  EXPECT_EQ(ErrorOf("MIRROR 1.2.3.0/24 ON [A a]"),
            "f:1:25: 'a' is no router of the network; did you mean 'A'?");
  EXPECT_EQ(ErrorOf("MIRROR 1.2.3.0/24 ON [A D]"), "f:1:22: there is no link from 'A' to 'D'");
  EXPECT_EQ(ErrorOf("MIRROR 1.2.3.0/24 ON [A B A]"), "f:1:22: the path visits 'A' twice");
  EXPECT_EQ(ErrorOf("CONFINE 1.2.3.0/24 ON [\"1\" D]"), "f:1:23: there is no link from '1' to 'D'");
  EXPECT_EQ(ErrorOf("MIRROR 1.2.3.0/24 ON [A B C D] USING 14"),
            "f:1:22: copies of 1.2.3.0/24 from 3 routers take 15000000 b/s, and USING allows "
            "14000000");
  EXPECT_EQ(ErrorOf("MIRROR 1.2.3.0/24 ON [A B], [B C] USING 10 DURING 30 ms"),
            "f: the campaign: a campaign of 0 slots; it takes 1 to 100000");
  EXPECT_EQ(ErrorOf("MIRROR 1.2.3.0/24 ON [A B], [B C] USING 10 DURING 3501 s EVERY 2 h"),
            "f: the campaign: a campaign of 100028 slots; it takes 1 to 100000");
  EXPECT_EQ(ErrorOf("MIRROR 1.2.3.0/24 ON [A B], [B C] USING 10 DURING 40 ms"),
            "f: the campaign: its queries need 2 slots within the budget, and there are 1 in "
            "DURING");
}

TEST_F(Planning, CountsSmallBudgetsInWholeBits) {
  options_.rate_bps = 500;
  for (const auto& [budget, cost] : {std::pair("1500 b", 1000), std::pair("15 Mb", 2000)}) {
    const auto plan = Plan(std::string("MIRROR 1.2.3.0/24 ON [A B] USING ") + budget);
    ASSERT_TRUE(plan) << plan.message();
    EXPECT_EQ(plan->mirrored[0].cost_bps, cost) << budget;
  }
}

TEST(Packings, ThatAreTooManySayWhatIsProven) {
  const std::vector<int64_t> costs = {395, 352, 253, 266, 315, 419, 280, 376, 344};
  Packing packing = Pack(costs, 1000, DeadlineIn(600));
  EXPECT_EQ(packing.slots.size(), 3u);
  EXPECT_EQ(PackingProblem(packing, 2), "need 3 slots");
  packing = Pack(costs, 1000, DeadlineIn(-1));
  ASSERT_EQ(packing.slots.size(), 4u);
  EXPECT_EQ(PackingProblem(packing, 3),
            "were packed into 4 slots in the time that there was, which is not proven to be the "
            "least; 3 might do");
  EXPECT_EQ(PackingProblem(packing, 2), "need at least 3 slots");
}

TEST_F(Planning, CountsSlotsInWholeNanoseconds) {
  options_.longest_path_ms = 0;
  options_.shortest_slice_ms = 7;
  options_.spacing_ms = 0;
  const auto plan = Plan("MIRROR 1.2.3.0/24 ON [A B] USING 10 DURING 1001 ms");
  ASSERT_TRUE(plan) << plan.message();
  EXPECT_EQ(plan->times.slots, 143);
  EXPECT_EQ(plan->schedule.slots.size(), 143u);
}

TEST_F(Planning, ExplainsItself) {
  const auto plan = Plan(
      "CONFINE 1.2.3.0/24 ON [A B L C D]\n"
      "(name: q2) MIRROR 1.2.3.0/24 ON [A B C D] USING 15 Mb/s DURING 80 ms");
  ASSERT_TRUE(plan) << plan.message();
  const std::string text = ExplainPlan(*plan, campaign_, network_);
  EXPECT_EQ(
      text,
      "Q1  CONFINE 1.2.3.0/24 ON [A B L C D]\n"
      "    region:    A B L C D\n"
      "    mirror at: F H P\n"
      "    why:       every way out that still reaches an egress crosses one of them, without "
      "loops and black holes (Theorem 3); no fewer are enough (flow); 5 neighbours, 8 links "
      "out\n"
      "Q2  MIRROR 1.2.3.0/24 ON [A B C D] (q2)\n"
      "    path:      A B C D\n"
      "    mirror at: A B D\n"
      "    why:       between two of them no other simple path has the same length, so the "
      "TTL proves the path (Theorem 1); no fewer prove it (dynamic programming)\n"
      "    cost:      15 Mb/s\n"
      "slots: 2 of 25 ms, each within 15 Mb/s; CONFINE queries in all of them\n"
      "packing: every MIRROR query once in 1 slots; no fewer do (bound L2)\n"
      "fill: 0 beyond the repeated packing, the most there is\n"
      "    slots 1-2: Q2, 15 Mb/s\n"
      "copies towards the collector, at most:\n"
      "    A: 5 Mb/s\n"
      "    B: 5 Mb/s\n"
      "    D: 5 Mb/s\n");
}

TEST_F(Planning, SaysThatTimeRanOutOnlyWhenItDid) {
  auto plan = Plan("MIRROR 1.2.3.0/24 ON [A B C D] USING 15 Mb/s DURING 80 ms");
  ASSERT_TRUE(plan) << plan.message();
  plan->packing = {{{0}, {}, {}}, 1, PackingProof::kNone, false};
  plan->schedule.fill.bound = 7.5;
  plan->schedule.fill.is_proven = false;
  const auto says = [&](const char* words) {
    return ExplainPlan(*plan, campaign_, network_).find(words) != std::string::npos;
  };
  EXPECT_TRUE(says("in 3 slots; not fewer than 1 do\n"));
  EXPECT_TRUE(says("fill: 0 beyond the repeated packing, and no more than 7.5 can be\n"));
  plan->packing.is_cut_short = true;
  plan->schedule.fill.is_cut_short = true;
  EXPECT_TRUE(says("not fewer than 1 do (time ran out)\n"));
  EXPECT_TRUE(says("no more than 7.5 can be (time ran out)\n"));
}

TEST_F(Planning, SearchesForKeyPointsOfAPathOnceForAllPrefixes) {
  const auto one = Plan("MIRROR 1.2.3.0/24 ON [A B C D] USING 15");
  const auto three = Plan("MIRROR { 1.2.3.0/24, 1.2.4.0/24, 1.2.5.0/24 } ON [A B C D] USING 15");
  ASSERT_TRUE(one && three);
  EXPECT_EQ(three->mirrored.size(), 3u);
  EXPECT_GT(one->steps, 0u);
  EXPECT_EQ(three->steps, one->steps);
}

TEST_F(Planning, MirrorsAtAllRoutersWhenNoStepIsLeft) {
  options_.most_steps = 1;
  options_.rate_bps = 1'000'000;
  const auto plan = Plan("MIRROR 1.2.3.0/24 ON { [A B C D], [A L C D] }");
  ASSERT_TRUE(plan) << plan.message();
  EXPECT_EQ(Places(plan->mirrored[0]), (std::set<std::string>{"A", "B", "C", "D"}));
  EXPECT_EQ(Places(plan->mirrored[1]), (std::set<std::string>{"A", "L", "C", "D"}));
  EXPECT_NE(plan->mirrored[0].why.find("perhaps fewer prove it"), std::string::npos);
}

}  // namespace
}  // namespace trumpet::slice
