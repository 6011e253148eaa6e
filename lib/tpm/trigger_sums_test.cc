// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/trigger_sums.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <vector>

#include "lib/tpm/generation.h"
#include "lib/tpm/monitor_harness_test.h"

namespace trumpet {
namespace {

using testing::DstPrefix;
using testing::kRack;
using testing::PlanOf;
using testing::SummingSink;

constexpr Nanos kMs = kNanosPerMilli;

// Events 1 to `count`, odd ones of packets and even ones of volume, every fifth one by flow.
HostVerdicts::Plans SomeEvents(uint32_t count) {
  HostVerdicts::Plans plans;
  for (uint32_t id = 1; id <= count; id++) {
    const Variable variable = id % 2 == 0 ? Variable::kVolume : Variable::kPackets;
    plans.push_back(PlanOf(id, DstPrefix(kRack, 0), variable, 10, id % 5 == 0));
  }
  return plans;
}

// A generation with a ring towards its agent.
struct Teller {
  explicit Teller(const HostVerdicts::Plans& plans, size_t ring_bytes = 1 << 16)
      : ring(ring_bytes), sink(plans) {
    PageSource source({/*touches=*/false, /*takes_reserved=*/false});
    TriggerSetTable sets;
    EXPECT_TRUE(sets.Init(1000, 1 << 20, &source));
    generation = std::make_unique<Generation>(TriggerProgram::Make(plans, 1, INT64_MIN), &sets);
  }
  // Triggers by their place: 0 is event 1.
  uint32_t SetOf(const std::vector<uint32_t>& triggers) {
    return generation->sets.Intern(triggers.data(), static_cast<uint32_t>(triggers.size()));
  }
  // Packets, then bytes of volume: the words of a set that has both.
  void Tell(uint32_t set, const std::vector<uint64_t>& words, bool is_unscaled = false) {
    SetTotals totals;
    totals.generation = generation.get();
    totals.set = set;
    totals.word_count = generation->sets.ProgramAt(set).word_count;
    totals.words = words.data();
    totals.is_unscaled = is_unscaled;
    ASSERT_TRUE(DeliverSetTotals(&ring, totals));
  }
  void Begin(Nanos start) { ASSERT_TRUE(DeliverEpochBegin(&ring, {start, start + 10 * kMs})); }
  void End(Nanos start) { ASSERT_TRUE(DeliverEpochEnd(&ring, {start, start + 10 * kMs}, 0)); }
  void Drain() { DrainRecords(&ring, &sums, &sink); }
  uint64_t PacketsIn(uint32_t event, int64_t interval) {
    return sink.packets[{event, "", interval}];
  }

  SpscRing ring;
  SummingSink sink;
  EpochSums sums;
  std::unique_ptr<Generation> generation;
};

TEST(TriggerSums, AreToldAtTheEndOfTheirEpoch) {
  Teller teller(SomeEvents(4));
  const uint32_t set = teller.SetOf({0, 1});
  teller.Begin(0);
  teller.Tell(set, {3, 300});
  teller.Drain();
  EXPECT_TRUE(teller.sink.packets.empty());
  teller.End(0);
  teller.Drain();
  EXPECT_EQ(teller.PacketsIn(1, 0), 3u);
  EXPECT_EQ(teller.PacketsIn(2, 0), 3u);
  EXPECT_EQ(teller.sink.total_sums[2], 300u);
  EXPECT_EQ(teller.sink.packets.size(), 2u) << "events 3 and 4 are in no set";
  EXPECT_EQ(teller.sums.partials(), 2u);
}

// Only events that read the window care, and only in that epoch.
TEST(TriggerSums, SayThatAWindowWasUnscaled) {
  class Marks : public SummingSink {
   public:
    using SummingSink::SummingSink;
    void OnPartial(const PartialView& partial) override {
      marks.emplace_back(partial.event_id, partial.is_unscaled);
    }
    std::vector<std::pair<uint32_t, bool>> marks;
  };
  const HostVerdicts::Plans plans = {PlanOf(1, DstPrefix(kRack, 0), Variable::kRwnd, 10),
                                     PlanOf(2, DstPrefix(kRack, 0), Variable::kPackets, 10)};
  Teller teller(plans);
  Marks sink(plans);
  const uint32_t set = teller.SetOf({0, 1});
  const std::vector<uint64_t> words(teller.generation->sets.ProgramAt(set).word_count, 1);
  for (const bool is_unscaled : {true, false}) {
    teller.Begin(0);
    teller.Tell(set, words, is_unscaled);
    teller.End(0);
  }
  DrainRecords(&teller.ring, &teller.sums, &sink);
  const std::vector<std::pair<uint32_t, bool>> expected = {
      {1, true}, {2, false}, {1, false}, {2, false}};
  EXPECT_EQ(sink.marks, expected);
}

TEST(TriggerSums, OfASweepThatWasGivenUpGoWithItsEpoch) {
  Teller teller(SomeEvents(2));
  const uint32_t set = teller.SetOf({0});
  teller.Begin(0);
  teller.Tell(set, {3});
  teller.Begin(10 * kMs);
  teller.Tell(set, {5});
  teller.End(0);
  teller.End(10 * kMs);
  teller.Drain();
  EXPECT_EQ(teller.PacketsIn(1, 0), 3u);
  EXPECT_EQ(teller.PacketsIn(1, 1), 5u);
}

TEST(TriggerSums, OfAProgramThatIsFreedComeBeforeTheEndOfTheirEpoch) {
  Teller teller(SomeEvents(2));
  teller.Begin(0);
  teller.Tell(teller.SetOf({0}), {3});
  teller.Drain();
  teller.sums.GiveUp(teller.generation.get(), &teller.sink);
  EXPECT_EQ(teller.PacketsIn(1, 0), 3u);
  EXPECT_EQ(teller.sums.partials(), 1u);
  teller.generation.reset();
  teller.End(0);
  teller.Drain();
  EXPECT_EQ(teller.PacketsIn(1, 0), 3u);
}

// Against adding up each set's packets for each of its events.
TEST(TriggerSums, AgreeWithASumByHandOnRandomSets) {
  for (uint32_t seed = 1; seed <= 300; seed++) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const uint32_t events = 1 + random() % 40;
    Teller teller(SomeEvents(events), 1 << 18);
    std::map<std::tuple<uint32_t, std::string, int64_t>, uint64_t> packets;
    std::map<uint32_t, uint64_t> volumes;
    for (int64_t epoch = 0; epoch < 5; epoch++) {
      teller.Begin(epoch * 10 * kMs);
      for (uint32_t told = random() % 30; told > 0; told--) {
        std::vector<uint32_t> triggers;
        for (uint32_t i = 0; i < events; i++) {
          if (random() % 3 == 0) triggers.push_back(i);
        }
        const uint32_t set = teller.SetOf(triggers);
        const uint64_t count = random() % 4;
        const uint64_t volume = random() % 1000;
        if (!triggers.empty()) teller.Tell(set, {count, volume});
        for (const uint32_t trigger : triggers) {
          const uint32_t id = trigger + 1;
          if (id % 5 == 0 || count == 0) continue;
          packets[{id, "", epoch}] += count;
          if (id % 2 == 0) volumes[id] += volume;
        }
        if (random() % 7 == 0) teller.Drain();
      }
      teller.End(epoch * 10 * kMs);
    }
    teller.Drain();
    EXPECT_EQ(teller.sink.packets, packets);
    for (const auto& [id, volume] : volumes) EXPECT_EQ(teller.sink.total_sums[id], volume) << id;
  }
}

}  // namespace
}  // namespace trumpet
