// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <event2/event.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "controller/slice/demand_book.h"
#include "controller/slice/second_budget.h"
#include "controller/slice/slice_planner.h"
#include "controller/slice/tag_pool.h"
#include "lib/base/loop_event.h"

namespace trumpet {
namespace {

constexpr Nanos kSecond = kNanosPerSecond;

Prefix P(const std::string& text) { return *ParsePrefix(text); }

TEST(TagPool, GoesRoundAndRestsEachTag) {
  TagPool tags(TagPool::kLast - 2);
  EXPECT_EQ(tags.Take(0), TagPool::kLast - 1);
  EXPECT_EQ(tags.Take(0), kFirstTraceTag - 1);
  EXPECT_EQ(tags.Take(0), 1u);
  tags.Release(1, 0);
  tags.Release(TagPool::kLast, 0);
  EXPECT_EQ(tags.Take(0), 2u);
  EXPECT_EQ(tags.taken(), 4u);
  EXPECT_EQ(tags.Take(TagPool::kRest), 3u);
  EXPECT_EQ(tags.taken(), 3u);
}

TEST(TagPool, RefusesRatherThanGivesATagTwice) {
  TagPool tags(0);
  for (size_t i = 0; i < TagPool::kMaxTaken; ++i) ASSERT_NE(tags.Take(0), 0u);
  EXPECT_EQ(tags.Take(0), 0u);
  tags.Release(1, 0);
  EXPECT_EQ(tags.Take(TagPool::kRest - 1), 0u);
  EXPECT_NE(tags.Take(TagPool::kRest), 0u);
}

TEST(SecondBudget, MakesRoomAsTheSecondMovesOn) {
  SecondBudget budget(8000);  // 1000 bytes
  budget.Spend(0, 600, 0);
  budget.Spend(0, 300, kSecond / 2);
  EXPECT_EQ(budget.RoomAt(100, kSecond / 2), kSecond / 2);
  EXPECT_EQ(budget.RoomAt(101, kSecond / 2), kSecond);
  EXPECT_EQ(budget.RoomAt(701, kSecond / 2), kSecond + kSecond / 2);
  EXPECT_EQ(budget.RoomAt(5000, kSecond / 2), kSecond + kSecond / 2);  // alone, then
  EXPECT_FALSE(budget.is_exceeded(kSecond / 2));
  budget.Reserve(200);
  EXPECT_EQ(budget.RoomAt(1, kSecond / 2), kSecond);
  budget.Spend(200, 200, kSecond / 2);
  EXPECT_TRUE(budget.is_exceeded(kSecond / 2));
  EXPECT_FALSE(budget.is_exceeded(kSecond));
  EXPECT_EQ(budget.reserved(), 0);
}

struct Fixed final : DemandSource {
  const char* name() const override { return "counters"; }
  std::optional<int64_t> RateOf(const Prefix& prefix, Nanos) override {
    if (prefix == P("10.0.0.0/8")) return 77;
    return std::nullopt;
  }
};

TEST(DemandBook, PrefersWhatSlicesHaveMeasured) {
  Fixed counters;
  DemandBook book;
  book.AddSource(&counters);
  EXPECT_FALSE(book.Estimate(P("11.0.0.0/8"), 0));
  EXPECT_EQ(book.Estimate(P("10.0.0.0/8"), 0)->source, "counters");
  book.Measured(P("10.0.0.0/8"), 5, 0);
  EXPECT_EQ(book.Estimate(P("10.0.0.0/8"), 0)->source, "slices");
  EXPECT_EQ(book.Estimate(P("10.0.0.0/8"), 300 * kSecond)->rate_bps, 77);
}

TEST(DemandBook, KnowsTheMostOfTheLastMinutes) {
  std::mt19937 random(5);
  DemandBook book(10 * kSecond);
  std::vector<std::pair<Nanos, int64_t>> all;
  for (Nanos now = 0; now < 2000 * kSecond; now += kSecond) {
    if (random() % 3 == 0) {
      all.emplace_back(now, random() % 100);
      book.Measured(P("10.0.0.0/8"), all.back().second, now);
    }
    int64_t most = -1;
    for (const auto& [at, rate] : all) {
      if (at + 10 * kSecond > now) most = std::max(most, rate);
    }
    const auto demand = book.Estimate(P("10.0.0.0/8"), now);
    EXPECT_EQ(demand ? demand->rate_bps : -1, most) << now;
  }
}

TEST(DemandBook, ForgetsTheOldestWhenItIsFull) {
  DemandBook book;
  for (uint32_t i = 0; i < DemandBook::kMaxPrefixes + 1; ++i) {
    Prefix prefix;
    prefix.address = i;
    prefix.length = 32;
    book.Measured(prefix, 1, i + 1);
  }
  EXPECT_EQ(book.prefix_count(), DemandBook::kMaxPrefixes);
  EXPECT_FALSE(book.Estimate(P("0.0.0.0/32"), 0));
  EXPECT_TRUE(book.Estimate(P("0.0.0.1/32"), 0));
}

TEST(SliceMap, TakesBordersAndRoutesFromHosts) {
  auto topology = ParseTopologyYaml(
      "switches: [{name: s1}, {name: s2}]\n"
      "links: [{from: s1, to: s2, weight: 3}]\n"
      "hosts:\n"
      "  - {id: a, attached_to: s1, prefixes: [10.0.1.0/24, 10.0.9.0/24]}\n"
      "  - {id: b, attached_to: s2}\n"
      "  - {id: c}\n",
      "t");
  ASSERT_TRUE(topology) << topology.message();
  topology->hosts[1].prefixes = {P("10.0.9.0/24")};  // an agent says so: it is behind both
  const SliceMap map = MakeSliceMap(*topology, 7);
  EXPECT_EQ(map.version, 7u);
  EXPECT_EQ(map.borders, (std::vector<int>{0, 1}));
  ASSERT_EQ(map.routes.size(), 2u);
  EXPECT_EQ(map.routes[1].egresses, (std::vector<int>{0, 1}));
}

TEST(ThreadedSlicePlanner, AnswersFromTheLoopAndRefusesTooMany) {
  const OwnedLoop loop = NewPreciseLoop();
  auto planner = std::make_unique<ThreadedSlicePlanner>(loop.get());
  auto map = std::make_shared<SliceMap>();
  map->network.AddLink(map->network.AddRouter("A"), map->network.AddRouter("B"), 1);
  SlicePlanRequest request;
  request.source_name = "c";
  request.text = "MIRROR 1.2.3.0/24 ON [A B] USING 200";
  request.campaign = *ParseSlices(request.text, "c");
  request.map = map;
  request.is_explained = true;
  int planned = 0;
  int refused = 0;
  const int count = 1000;
  for (int i = 0; i < count; ++i) {
    planner->Plan(request, [&](const Result<SlicePlanAnswer>& answer) {
      answer.ok() ? ++planned : ++refused;
      if (answer) {
        EXPECT_NE(answer->explanation.find("mirror at: A B"), std::string::npos);
      }
    });
  }
  EXPECT_EQ(planned + refused, 0);
  while (planned + refused < count) event_base_loop(loop.get(), EVLOOP_ONCE);
  EXPECT_GE(planned, static_cast<int>(ThreadedSlicePlanner::kMaxWaiting));
  planner->Plan(request, [](const Result<SlicePlanAnswer>&) { FAIL() << "after its end"; });
  planner.reset();
  event_base_loop(loop.get(), EVLOOP_NONBLOCK);
}

}  // namespace
}  // namespace trumpet
