// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "controller/slice/latency_prober.h"
#include "controller/slice/slice_twin_test.h"

namespace trumpet {
namespace {

constexpr Nanos kMs = kNanosPerMilli;

TEST(LatencyBook, TakesTheMedianOfTheProbesThatWereBackSoonest) {
  LatencyBook book;
  EXPECT_FALSE(book.Find("A", 0));
  book.Add("A", {1 * kMs, 90 * kMs, 80 * kMs, 5});
  book.Add("A", {2 * kMs, 12 * kMs, 4 * kMs, 7});  // 10
  book.Add("A", {3 * kMs, 20 * kMs, 2 * kMs, 6});  // 19
  book.Add("A", {4 * kMs, 2 * kMs, 3 * kMs, 6});   // 0.5: so soon was none of the others
  book.Add("A", {4 * kMs, 40 * kMs, 70 * kMs, 9});
  const auto view = book.Find("A", 5 * kMs);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->latency.switch_name, "A");
  EXPECT_EQ(view->latency.latency, 10 * kMs);
  EXPECT_EQ(view->latency.error, 2 * kMs + 7);
  EXPECT_EQ(view->age, 1 * kMs);
  EXPECT_EQ(view->samples, 5u);
}

// Copies from A wait longer than those from B, as probes do: what is told of the way between them
// must not show it.
TEST(LatencyBook, TellsWhatCopiesUsuallyTakeWithinItsError) {
  for (const Nanos queue : {kMs / 10, kMs, 20 * kMs}) {
    std::mt19937_64 random(static_cast<uint64_t>(queue));
    const auto wait = [&](Nanos most) {
      return static_cast<Nanos>(random() % static_cast<uint64_t>(most));
    };
    LatencyBook book;
    for (Nanos at = 0; at < LatencyBook::kMemory; at += kNanosPerSecond / 2) {
      const Nanos there = kMs + wait(kMs);
      const Nanos back = kMs + wait(3 * kMs);
      book.Add("A", {at, there + 2 * kMs + wait(queue), there + back, 0});
    }
    const CopyLatency told = book.Find("A", LatencyBook::kMemory)->latency;
    EXPECT_LE(std::abs(told.latency - (2 * kMs + queue / 2)), told.error + queue / 10);
    EXPECT_LE(told.error, 3 * kMs);
  }
}

TEST(LatencyBook, ForgetsAfterAMinute) {
  LatencyBook book;
  book.Add("A", {0, 10, 2, 0});
  book.Add("A", {LatencyBook::kMemory, 20, 4, 0});
  book.Add("B", {1, 5, 0, 0});
  EXPECT_EQ(book.Find("A", LatencyBook::kMemory)->latency.latency, 9);
  EXPECT_EQ(book.Find("A", LatencyBook::kMemory + 1)->latency.latency, 18);
  ASSERT_EQ(book.All(LatencyBook::kMemory + 1).size(), 2u);
  ASSERT_EQ(book.All(LatencyBook::kMemory + 2).size(), 1u);
  EXPECT_TRUE(book.All(3 * LatencyBook::kMemory).empty());
}

// Switches that take their time, and an analyzer whose clock is told right.
class ProbedNetwork final : public SliceDriver, public CopyCollector {
 public:
  struct Way {
    Nanos there = kMs;
    Nanos back = kMs;
    Nanos to_analyzer = 3 * kMs;
    Nanos queue = 0;     // on top of each, at most
    double loss = 0;     // of what goes to the analyzer
    double silence = 0;  // likewise, of what comes back
  };

  ProbedNetwork(TwinClock* clock, Agenda* agenda) : clock_(clock), agenda_(agenda) {}

  std::map<std::string, Way> ways;
  Nanos work = 0;
  bool has_analyzer = true;
  std::optional<Nanos> clock_error = 0;
  Nanos clock_jump = 0;
  std::map<uint32_t, ExpectedSlice> expected;
  size_t most_in_round = 0;

  const char* name() const override { return "probed"; }
  bool Serves(const std::string&) const override { return true; }
  uint16_t NumberOf(const std::string& switch_name) const override {
    return static_cast<uint16_t>(switch_name[0]);
  }
  void TurnOn(const std::string&, const SliceSpec&, Done) override { ADD_FAILURE(); }
  void TurnOff(const std::string&, uint32_t, Done) override { ADD_FAILURE(); }
  void OnEnd(Ended) override {}
  std::vector<std::string> ProbeTargets() const override {
    std::vector<std::string> names;
    for (const auto& [name, way] : ways) names.push_back(name);
    return names;
  }
  void Probe(const std::string& name, uint32_t tag, std::function<void()> back) override {
    const Way way = ways.at(name);
    // One process is all switches, and takes this long for each.
    busy_until_ = std::max(busy_until_, clock_->now) + work;
    const Nanos wait = busy_until_ - clock_->now;
    agenda_->After(wait + way.there + Queue(way), [this, name, tag, way, back] {
      if (std::uniform_real_distribution<double>()(random_) >= way.silence) {
        agenda_->After(way.back + Queue(way), back);
      }
      if (std::uniform_real_distribution<double>()(random_) < way.loss) return;
      agenda_->After(way.to_analyzer + Queue(way), [this, name, tag] { Arrive(name, tag); });
    });
  }

  bool is_ready() const override { return has_analyzer; }
  std::optional<Nanos> ClockError() const override { return clock_error; }
  void Expect(const std::vector<ExpectedSlice>& slices) override {
    for (const ExpectedSlice& slice : slices) {
      expected[slice.tag] = slice;
      tallies_[slice.tag].clear();
      most_in_round = std::max(most_in_round, slice.locations.size());
    }
  }
  void AskTallies(const std::vector<uint32_t>& tags, Tallies answer) override {
    std::vector<SliceTally> told;
    for (const uint32_t tag : tags) {
      for (const auto& [name, tally] : tallies_[tag]) told.push_back(tally);
    }
    agenda_->After(kMs, [told, answer] { answer(told); });
  }
  void Finish(uint64_t, std::function<void(const Result<std::string>&)>) override {}

 private:
  Nanos Queue(const Way& way) {
    return way.queue == 0 ? 0 : static_cast<Nanos>(random_() % static_cast<uint64_t>(way.queue));
  }
  void Arrive(const std::string& name, uint32_t tag) {
    SliceTally& tally = tallies_[tag][name];
    tally.tag = tag;
    tally.switch_name = name;
    ++tally.packets;
    if (tally.first == 0) tally.first = clock_->UnixNow() + clock_jump;
  }

  TwinClock* const clock_;
  Agenda* const agenda_;
  Nanos busy_until_ = 0;
  std::mt19937_64 random_{1};
  std::map<uint32_t, std::map<std::string, SliceTally>> tallies_;
};

class LatencyProberTest : public testing::Test {
 protected:
  void Run(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      prober_.Round();
      const Nanos next = clock_.now + LatencyProber::kInterval;
      while (agenda_.next() <= next) agenda_.RunNext();
      clock_.now = next;
    }
  }
  Nanos Of(const std::string& name) {
    const auto view = book_.Find(name, clock_.now);
    return view ? view->latency.latency : -1;
  }

  TwinClock clock_;
  Agenda agenda_{&clock_};
  ProbedNetwork network_{&clock_, &agenda_};
  LatencyBook book_;
  LatencyProber prober_{clock_, &network_, &network_, &book_};
};

TEST_F(LatencyProberTest, MeasuresWhatIsThere) {
  network_.ways["A"].to_analyzer = 30 * kMs;
  network_.ways["B"].to_analyzer = 2 * kMs;
  Run(2);
  EXPECT_EQ(Of("A"), 30 * kMs);
  EXPECT_EQ(Of("B"), 2 * kMs);
}

TEST_F(LatencyProberTest, SeesThroughQueuesAndLosses) {
  for (const std::string name : {"A", "B", "C"}) {
    ProbedNetwork::Way& way = network_.ways[name];
    way.to_analyzer = 3 * kMs * (name[0] - '@');
    way.queue = 5 * kMs;
    way.loss = 0.2;
  }
  Run(100);
  for (const auto& [name, way] : network_.ways) {
    const Nanos usual = way.to_analyzer + way.queue / 2;
    EXPECT_NEAR(static_cast<double>(Of(name)), static_cast<double>(usual), 1.5e6) << name;
  }
}

// Nobody can tell when the switch did it, only that it lies between.
TEST_F(LatencyProberTest, HoldsTheTruthWithinItsErrorWhateverTheWays) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 40; ++i) {
    ProbedNetwork::Way& way = network_.ways[std::string(1, static_cast<char>('A' + i))];
    way.there = static_cast<Nanos>(random() % (20 * kMs));
    way.back = static_cast<Nanos>(random() % (20 * kMs));
    way.to_analyzer = static_cast<Nanos>(random() % (100 * kMs));
  }
  Run(10);
  for (const auto& [name, way] : network_.ways) {
    const CopyLatency told = book_.Find(name, clock_.now)->latency;
    EXPECT_LE(std::abs(told.latency - way.to_analyzer), told.error) << name;
  }
}

TEST_F(LatencyProberTest, ComesToAllOfManySwitches) {
  for (int i = 0; i < 150; ++i) network_.ways["s" + std::to_string(i)] = {};
  Run(4);
  EXPECT_EQ(book_.All(clock_.now).size(), 150u);
  EXPECT_EQ(network_.most_in_round, LatencyProber::kPerRound);
}

TEST_F(LatencyProberTest, FindsNoSwitchFurtherForBeingLastInLine) {
  for (char name = 'A'; name < 'P'; ++name) network_.ways[std::string(1, name)] = {};
  network_.work = 2 * kMs;
  Run(3);
  for (const auto& [name, way] : network_.ways) {
    // Half of the work for one, whose end nobody sees, is taken for a way.
    EXPECT_EQ(Of(name), way.to_analyzer + kMs) << name;
    EXPECT_EQ(book_.Find(name, clock_.now)->latency.error, 2 * kMs) << name;
  }
}

TEST_F(LatencyProberTest, GoesOnBehindASwitchThatDoesNotAnswer) {
  for (char name = 'A'; name < 'K'; ++name) network_.ways[std::string(1, name)] = {};
  network_.ways["C"].silence = 1;
  network_.ways["H"].silence = 0.5;
  Run(30);
  for (const auto& [name, way] : network_.ways) {
    EXPECT_EQ(Of(name), name == "C" ? -1 : way.to_analyzer) << name;
  }
}

TEST_F(LatencyProberTest, UsesOnlyTagsThatNoSliceHas) {
  network_.ways["A"] = {};
  Run(30);
  EXPECT_EQ(network_.expected.size(), kProbeTags);
  EXPECT_EQ(network_.expected.begin()->first, kFirstProbeTag);
  EXPECT_EQ(network_.expected.rbegin()->first, kMaxSliceTag);
}

TEST_F(LatencyProberTest, SaysNothingWithoutAnAnalyzerOrItsClock) {
  network_.ways["A"] = {};
  network_.has_analyzer = false;
  Run(3);
  network_.has_analyzer = true;
  network_.clock_error.reset();
  Run(3);
  EXPECT_TRUE(network_.expected.empty());
  EXPECT_EQ(Of("A"), -1);
}

TEST_F(LatencyProberTest, DropsWhatCannotBe) {
  network_.ways["A"] = {};
  network_.clock_jump = -kNanosPerSecond;  // a copy from before it was sent
  Run(5);
  network_.clock_jump = 5 * kNanosPerSecond;
  Run(5);
  EXPECT_EQ(Of("A"), -1);
  network_.clock_jump = 0;
  Run(2);
  EXPECT_EQ(Of("A"), 3 * kMs);
}

TEST_F(LatencyProberTest, CountsNoCopyThatComesTooLate) {
  network_.ways["A"].to_analyzer = 2 * kNanosPerSecond;
  Run(50);
  EXPECT_EQ(Of("A"), -1);
}

}  // namespace
}  // namespace trumpet
