// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "controller/plan/slice/knapsack.h"
#include "controller/plan/slice/slice_kit_test.h"

namespace trumpet::slice {
namespace {

using Costs = std::vector<int64_t>;

Deadline In(double seconds) {
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                std::chrono::duration<double>(seconds));
}
Deadline Never() { return In(600); }

Costs RandomCosts(Random* random, int most, int64_t budget) {
  Costs costs(static_cast<size_t>(Draw(random, 1, most)));
  for (int64_t& cost : costs) cost = Draw(random, 1, static_cast<int>(budget));
  return costs;
}

int64_t CostOf(const Costs& costs, const Slot& slot) {
  int64_t sum = 0;
  for (int query : slot) sum += costs[static_cast<size_t>(query)];
  return sum;
}

// Every query once, and no slot above the budget.
::testing::AssertionResult IsPacking(const Costs& costs, int64_t budget,
                                     const std::vector<Slot>& slots) {
  std::multiset<int> queries;
  for (const Slot& slot : slots) {
    if (CostOf(costs, slot) > budget) return ::testing::AssertionFailure() << "above the budget";
    queries.insert(slot.begin(), slot.end());
  }
  std::multiset<int> all;
  for (size_t i = 0; i < costs.size(); ++i) all.insert(static_cast<int>(i));
  if (queries == all) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "not every query once";
}

std::vector<Slot> PlainFirstFit(const Costs& costs, int64_t budget) {
  std::vector<int> order(costs.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&costs](int a, int b) {
    return costs[static_cast<size_t>(a)] > costs[static_cast<size_t>(b)];
  });
  std::vector<Slot> slots;
  for (int query : order) {
    auto slot = slots.begin();
    while (slot != slots.end() &&
           CostOf(costs, *slot) + costs[static_cast<size_t>(query)] > budget) {
      ++slot;
    }
    if (slot == slots.end()) slot = slots.insert(slots.end(), Slot());
    slot->push_back(query);
  }
  return slots;
}

// Tries every slot for every query.
int FewestSlots(const Costs& costs, int64_t budget) {
  int fewest = static_cast<int>(costs.size());
  Costs rooms;
  const std::function<void(size_t)> place = [&](size_t query) {
    if (static_cast<int>(rooms.size()) >= fewest) return;
    if (query == costs.size()) {
      fewest = static_cast<int>(rooms.size());
      return;
    }
    for (size_t slot = 0; slot < rooms.size(); ++slot) {
      if (rooms[slot] < costs[query]) continue;
      rooms[slot] -= costs[query];
      place(query + 1);
      rooms[slot] += costs[query];
    }
    rooms.push_back(budget - costs[query]);
    place(query + 1);
    rooms.pop_back();
  };
  place(0);
  return fewest;
}

TEST(Knapsack, IsTheBestOfAllChoices) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    std::vector<KnapsackItem> items(static_cast<size_t>(Draw(&random, 1, 5)));
    for (KnapsackItem& item : items) {
      item = {Draw(&random, 0, 9), static_cast<double>(Draw(&random, -1, 9)), Draw(&random, 1, 4)};
    }
    const int64_t capacity = Draw(&random, 0, 30);
    const std::function<double(size_t, int64_t)> best = [&](size_t i, int64_t room) {
      if (i == items.size()) return 0.0;
      double value = 0;
      for (int n = 0; n <= items[i].copies && n * items[i].cost <= room; ++n) {
        value = std::max(value, n * items[i].value + best(i + 1, room - n * items[i].cost));
      }
      return value;
    };
    const KnapsackChoice choice = FillKnapsack(items, capacity);
    double value = 0;
    int64_t cost = 0;
    for (size_t i = 0; i < items.size(); ++i) {
      ASSERT_LE(choice.copies[i], items[i].copies);
      value += choice.copies[i] * items[i].value;
      cost += choice.copies[i] * items[i].cost;
    }
    ASSERT_EQ(choice.most, choice.value) << "seed " << seed;
    ASSERT_EQ(value, choice.value) << "seed " << seed;
    ASSERT_EQ(value, best(0, capacity)) << "seed " << seed;
    ASSERT_LE(cost, capacity) << "seed " << seed;
  }
}

TEST(Knapsack, CountsInTheCommonDivisorOfItsCosts) {
  const std::vector<KnapsackItem> items{{5'000'000'000, 1, 1}, {15'000'000'000, 2, 1}};
  const KnapsackChoice choice = FillKnapsack(items, 19'999'999'999);
  EXPECT_TRUE(choice.is_best);
  EXPECT_EQ(choice.copies, (std::vector<int>{0, 1}));
}

TEST(Knapsack, OfHugeCostsStaysWithinThem) {
  std::vector<KnapsackItem> items;
  for (int64_t i = 1; i <= 50; ++i) items.push_back({i * 1'000'000'007 + i * i, 1.0 + i % 7, 1});
  const int64_t capacity = 300'000'000'000;
  const KnapsackChoice choice = FillKnapsack(items, capacity);
  EXPECT_FALSE(choice.is_best);
  int64_t cost = 0;
  for (size_t i = 0; i < items.size(); ++i) cost += choice.copies[i] * items[i].cost;
  EXPECT_LE(cost, capacity);
  EXPECT_GT(choice.value, 50);
  EXPECT_GE(choice.most, choice.value);
  EXPECT_LE(choice.most, choice.value + 7);
}

TEST(Packing, ByFirstFitIsThePlainOne) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    const int64_t budget = Draw(&random, 1, 200);
    const Costs costs = RandomCosts(&random, 60, budget);
    ASSERT_EQ(PackFirstFit(costs, budget), PlainFirstFit(costs, budget)) << "seed " << seed;
    ASSERT_TRUE(IsPacking(costs, budget, PackBestFit(costs, budget))) << "seed " << seed;
  }
}

TEST(Packing, IsShortestAndProvenInRandomCases) {
  std::map<PackingProof, int> proofs;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    const int64_t budget = Draw(&random, 1, 30);
    const Costs costs = RandomCosts(&random, 9, budget);
    const Packing packing = Pack(costs, budget, Never());
    ASSERT_TRUE(IsPacking(costs, budget, packing.slots)) << "seed " << seed;
    ASSERT_EQ(static_cast<int>(packing.slots.size()), FewestSlots(costs, budget))
        << "seed " << seed;
    ASSERT_LE(LeastSlots(costs, budget), packing.least) << "seed " << seed;
    ASSERT_EQ(packing.least, static_cast<int>(packing.slots.size())) << "seed " << seed;
    ++proofs[packing.proof];
  }
  EXPECT_GT(proofs[PackingProof::kCounting], 0);
}

// First fit needs 3 slots, and counting cannot tell that 2 are enough.
TEST(Packing, FindsWhatFirstFitMisses) {
  const Costs costs{6, 5, 4, 3, 3, 3};
  EXPECT_EQ(PackFirstFit(costs, 12).size(), 3u);
  const Packing packing = Pack(costs, 12, Never());
  EXPECT_TRUE(IsPacking(costs, 12, packing.slots));
  EXPECT_EQ(packing.slots.size(), 2u);
  EXPECT_EQ(packing.proof, PackingProof::kPatterns);
}

// Three to a slot, of which only two fit: only patterns prove it.
TEST(Packing, ProvesByPatternsWhatCountingDoesNot) {
  const Costs costs(20, 34);
  EXPECT_LT(LeastSlots(costs, 100), 10);
  const Packing packing = Pack(costs, 100, Never());
  EXPECT_EQ(packing.slots.size(), 10u);
  EXPECT_EQ(packing.proof, PackingProof::kPatterns);
}

TEST(Packing, WithoutTimeIsFirstFitOrBetter) {
  Random random(1);
  for (int round = 0; round < 100; ++round) {
    const Costs costs = RandomCosts(&random, 200, 60);
    const Packing packing = Pack(costs, 100, In(-1));
    ASSERT_TRUE(IsPacking(costs, 100, packing.slots));
    ASSERT_LE(packing.slots.size(), PackFirstFit(costs, 100).size());
    ASSERT_LE(packing.least, static_cast<int>(packing.slots.size()));
  }
}

// Of as many costs as queries, patterns are few of many.
TEST(Packing, OfManyCostsEndsSoonAfterItsTime) {
  Random random(1);
  Costs costs;
  for (int i = 0; i < 10'000; ++i) costs.push_back(Draw(&random, 200'000, 600'000));
  constexpr int64_t kBudget = 1'000'000;
  const double first_fit = ProcessorSeconds([&] { PackFirstFit(costs, kBudget); });
  Packing packing;
  const double taken = ProcessorSeconds([&] { packing = Pack(costs, kBudget, In(-1)); });
  EXPECT_TRUE(IsPacking(costs, kBudget, packing.slots));
  EXPECT_TRUE(packing.is_cut_short);
  EXPECT_LT(taken, 100 * first_fit);
}

// How often each query is there, least often first.
struct Allocations {
  int sum = 0;
  int least = 0;
};

Allocations Count(const ScheduleProblem& problem, const std::vector<Slot>& slots) {
  std::vector<int> counts(problem.costs.size(), 0);
  for (const Slot& slot : slots) {
    for (int query : slot) ++counts[static_cast<size_t>(query)];
  }
  return {std::accumulate(counts.begin(), counts.end(), 0),
          *std::min_element(counts.begin(), counts.end())};
}

// Tries every set that fits, for every slot; `held` is what each holds already.
double BestFill(const ScheduleProblem& problem, const std::vector<Slot>& held, int required) {
  double best = -1;
  std::vector<int> added(problem.costs.size(), 0);
  const std::function<void(size_t)> fill = [&](size_t slot) {
    if (slot == held.size()) {
      const int least = *std::min_element(added.begin(), added.end()) - required;
      const int sum = std::accumulate(added.begin(), added.end(), 0);
      if (least >= 0) best = std::max(best, sum + 10.0 * least);
      return;
    }
    for (uint32_t set = 0; set < (1u << problem.costs.size()); ++set) {
      Slot queries;
      for (size_t query = 0; query < problem.costs.size(); ++query) {
        if ((set >> query & 1) != 0) queries.push_back(static_cast<int>(query));
      }
      Slot all = held[slot];
      all.insert(all.end(), queries.begin(), queries.end());
      const bool is_twice = std::set<int>(all.begin(), all.end()).size() < all.size();
      if (is_twice || CostOf(problem.costs, all) > problem.budget) continue;
      for (int query : queries) ++added[static_cast<size_t>(query)];
      fill(slot + 1);
      for (int query : queries) --added[static_cast<size_t>(query)];
    }
  };
  fill(0);
  return best;
}

struct FillCase {
  ScheduleProblem problem;
  std::vector<Slot> pack;
  std::vector<Slot> repeated;  // the packing, and empty slots
  int repetitions = 0;
};

// Small enough to try everything; false when the queries do not fit into the slots.
bool DrawFillCase(Random* random, FillCase* one) {
  ScheduleProblem& problem = one->problem;
  problem.budget = Draw(random, 3, 12);
  problem.costs = RandomCosts(random, 4, problem.budget);
  problem.weights.assign(problem.costs.size(), 1);
  problem.slots = Draw(random, 1, 4);
  one->pack = Pack(problem.costs, problem.budget, Never()).slots;
  one->repetitions = problem.slots / static_cast<int>(one->pack.size());
  for (int i = 0; i < one->repetitions; ++i) {
    one->repeated.insert(one->repeated.end(), one->pack.begin(), one->pack.end());
  }
  one->repeated.resize(static_cast<size_t>(problem.slots));
  return one->repetitions > 0;
}

void ExpectSchedule(const FillCase& one, const Schedule& schedule, double best, uint32_t seed) {
  ASSERT_EQ(static_cast<int>(schedule.slots.size()), one.problem.slots) << "seed " << seed;
  for (const Slot& slot : schedule.slots) {
    ASSERT_LE(CostOf(one.problem.costs, slot), one.problem.budget) << "seed " << seed;
    ASSERT_EQ(std::set<int>(slot.begin(), slot.end()).size(), slot.size()) << "seed " << seed;
  }
  const Allocations counted = Count(one.problem, schedule.slots);
  const int queries = static_cast<int>(one.problem.costs.size());
  const int least = counted.least - one.repetitions;
  ASSERT_GE(least, 0) << "seed " << seed;
  ASSERT_EQ(schedule.fill.objective, counted.sum - one.repetitions * queries + 10 * least)
      << "seed " << seed;
  if (schedule.fill.is_proven) {
    ASSERT_EQ(schedule.fill.objective, best) << "seed " << seed;
  }
  ASSERT_LE(schedule.fill.objective, best) << "seed " << seed;
  ASSERT_GE(schedule.fill.bound, best - 1e-6) << "seed " << seed;
}

TEST(Schedule, AroundAPackingIsTheFullest) {
  int proven = 0;
  int cases = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    FillCase one;
    if (!DrawFillCase(&random, &one)) continue;
    const Schedule schedule = FillAroundPacking(one.problem, one.pack, Never());
    ExpectSchedule(one, schedule, BestFill(one.problem, one.repeated, 0), seed);
    if (HasFatalFailure()) return;
    ++cases;
    proven += schedule.fill.is_proven ? 1 : 0;
  }
  EXPECT_GE(proven, cases * 95 / 100) << cases;
}

TEST(Schedule, FilledFreelyIsTheFullestOfAll) {
  int proven = 0;
  int cases = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    FillCase one;
    if (!DrawFillCase(&random, &one)) continue;
    const std::vector<Slot> empty(static_cast<size_t>(one.problem.slots));
    const int queries = static_cast<int>(one.problem.costs.size());
    const double best = BestFill(one.problem, empty, one.repetitions) - one.repetitions * queries;
    const Schedule schedule = FillFreely(one.problem, one.pack, Never());
    ExpectSchedule(one, schedule, best, seed);
    if (HasFatalFailure()) return;
    EXPECT_GE(schedule.fill.objective,
              FillAroundPacking(one.problem, one.pack, Never()).fill.objective);
    ++cases;
    proven += schedule.fill.is_proven ? 1 : 0;
  }
  EXPECT_GE(proven, cases * 95 / 100) << cases;
}

TEST(Schedule, PrefersHeavyQueries) {
  ScheduleProblem problem{{5, 5, 5}, {1, 1, 70}, 10, 3};
  const Schedule schedule = FillFreely(problem, {{0, 1}, {2}}, Never());
  std::vector<int> counts(3, 0);
  for (const Slot& slot : schedule.slots) {
    for (int query : slot) ++counts[static_cast<size_t>(query)];
  }
  EXPECT_EQ(counts[2], 3);
}

// 0.1, 0.2 and 0.3, three times each, are a little less than three times their sum.
TEST(Schedule, NeverAddsLessThanNothing) {
  ScheduleProblem problem{{5, 5, 5}, {0.1, 0.2, 0.3}, 5, 9};
  const FillResult fill = FillFreely(problem, {{0}, {1}, {2}}, Never()).fill;
  EXPECT_FALSE(std::signbit(fill.objective)) << fill.objective;
  EXPECT_GE(fill.bound, fill.objective);
}

TEST(Schedule, WithoutTimeIsTheRepeatedPacking) {
  ScheduleProblem problem{{4, 4, 4}, {1, 1, 1}, 10, 6};
  const Schedule schedule = FillFreely(problem, {{0, 1}, {2}}, In(-1));
  EXPECT_EQ(schedule.slots.size(), 6u);
  EXPECT_GE(Count(problem, schedule.slots).least, 3);
  EXPECT_FALSE(schedule.fill.is_proven);
}

TEST(Schedule, SaysWhatIsWrong) {
  const auto error = [](const Costs& costs, int64_t budget, int slots) {
    const std::vector<double> weights(costs.size(), 1);
    const Status status = CheckScheduleProblem({costs, weights, budget, slots});
    return status.ok() ? "" : status.message();
  };
  EXPECT_EQ(error({1, 10}, 10, 1), "");
  EXPECT_EQ(error({1, 11}, 10, 1),
            "query 1 costs 11, more than the budget of 10 allows even alone");
  EXPECT_EQ(error({1}, 0, 1), "the budget is 0; it takes 1 to 1000000000000");
  EXPECT_EQ(error({1}, 1, 0), "a campaign of 0 slots; it takes 1 to 100000");
  EXPECT_EQ(error(Costs(1000, 1), 1, 100000),
            "1000 queries in 100000 slots; at most 10000000 pairs are planned");
  EXPECT_EQ(CheckScheduleProblem({{1}, {1}, 1, 100000, 100}).message(),
            "101 queries in 100000 slots; at most 10000000 pairs are planned");
}

TEST(Schedule, CountsSlots) {
  const auto slots = [](double during_s, double path_ms, double slice_ms, double spacing_ms) {
    return CountSlots(during_s, path_ms, slice_ms, spacing_ms)->slots;
  };
  EXPECT_EQ(slots(0.45, 20, 23, 10), 13);
  EXPECT_EQ(slots(0.5, 120, 23, 40), 3);
  EXPECT_EQ(slots(5, 50, 25, 5), 90);
  EXPECT_EQ(slots(100, 1, 1, 0), kMaxSlots);
  EXPECT_EQ(slots(0.01, 20, 23, 0), 0);
  EXPECT_EQ(CountSlots(100.001, 1, 1, 0).message(),
            "a campaign of 100001 slots; it takes 1 to 100000");
  EXPECT_EQ(CountSlots(1e300, 1, 1, 0).message(),
            "a campaign of 1e+303 slots; it takes 1 to 100000");
  EXPECT_EQ(CountSlots(1, 0, 0, 0).message(), "a slot takes 0 ms; the shortest slice takes more");
  EXPECT_EQ(slots(1e308, 1e308, 1, 1e308), 0);
}

// In floating point 1.001 s is a little less than 143 times 7 ms.
TEST(Schedule, CountsWholeSlotsWithoutLosingOne) {
  const auto slots = [](Nanos during, double slice_ms, double spacing_ms) {
    const auto times = CountWholeSlots(during, 0, slice_ms, spacing_ms);
    return times ? std::to_string(times->slots) : times.message();
  };
  EXPECT_EQ(slots(1001 * kNanosPerMilli, 7, 0), "143");
  EXPECT_EQ(slots(1001 * kNanosPerMilli - 1, 7, 0), "142");
  for (int count = 1; count <= 20'000; ++count) {
    ASSERT_EQ(slots(count * 4 * kNanosPerMilli / 10, 0.1, 0.3), std::to_string(count));
  }
  EXPECT_EQ(slots(kNanosPerSecond, 0.0001, 0),
            "a campaign of 10000000 slots; it takes 1 to 100000");
  EXPECT_EQ(slots(1, 0, 0), "a slot takes 0 ms; the shortest slice takes more");
}

}  // namespace
}  // namespace trumpet::slice
