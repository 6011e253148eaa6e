// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/sent_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace trumpet {
namespace {

constexpr uint16_t kSwitch = 7;
constexpr Nanos kStart = 1000 * kNanosPerSecond;

Nanos At(double seconds) { return kStart + static_cast<Nanos>(seconds * 1e9); }

// Copies that are sent, some of which do not come, and a counter that lags.
class Story {
 public:
  explicit Story(Nanos lag = 300 * kNanosPerMilli) : lag_(lag) {}
  void Send(double at, bool is_lost = false) { sent_.push_back({At(at), is_lost}); }
  // Plays it, with a reading every 400 ms.
  void Play(double until) {
    std::sort(sent_.begin(), sent_.end(),
              [](const Sent& a, const Sent& b) { return a.time < b.time; });
    auto next = sent_.begin();
    for (Nanos now = kStart; now <= At(until); now += 400 * kNanosPerMilli) {
      for (; next != sent_.end() && next->time <= now; ++next) {
        if (!next->is_lost) counts.Take(kSwitch, next->time);
      }
      const auto counted = std::count_if(sent_.begin(), sent_.end(),
                                         [&](const Sent& one) { return one.time <= now - lag_; });
      counts.Tell(kSwitch, static_cast<uint64_t>(counted), now, now);
      counts.Advance(now);
    }
  }
  SentCounts::Around Around(double at) const {
    return counts.Between(kSwitch, At(at) - kNanosPerMilli, At(at) + kNanosPerMilli);
  }
  SentCounts counts;

 private:
  struct Sent {
    Nanos time;
    bool is_lost;
  };
  const Nanos lag_;
  std::vector<Sent> sent_;
};

TEST(SentCounts, GoOnWhenTheClockWasSetBack) {
  SentCounts counts;
  uint64_t sent = 0;
  for (const double begin : {3600.0, 0.0}) {
    for (int i = 0; i < 100; ++i) {  // ten seconds
      const Nanos now = At(begin + i * 0.1);
      if (i == 0 || (i >= 40 && i < 45)) {
        ++sent;
        counts.Take(kSwitch, now);
      }
      if (i % 4 == 3) counts.Tell(kSwitch, sent, now, now);
      counts.Advance(now);
    }
    const Nanos at = At(begin + 4.2);
    EXPECT_TRUE(counts.Between(kSwitch, at - 1, at + 1).is_known) << begin;
    EXPECT_TRUE(counts.Between(kSwitch, at - 1, at + 1).is_none) << begin;
  }
  EXPECT_FALSE(counts.Between(kSwitch, At(3604.2), At(3604.3)).is_known);
  EXPECT_EQ(counts.lost(kSwitch), 0u);
}

TEST(SentCounts, KnowsThatNoneWasLostOfFewCopiesBetweenPauses) {
  Story story;
  for (int i = 0; i < 5; ++i) story.Send(4 + i * 0.01);
  story.Play(10);
  const SentCounts::Around around = story.Around(4.02);
  EXPECT_TRUE(around.is_known);
  EXPECT_TRUE(around.is_none);
  EXPECT_EQ(story.counts.lost(kSwitch), 0u);
}

TEST(SentCounts, KnowsWhichPauseALostCopyLiesBetween) {
  Story story;
  for (int second = 4; second < 20; second += 4) {
    for (int i = 0; i < 10; ++i) story.Send(second + i * 0.01, second == 8 && i == 5);
  }
  story.Play(24);
  EXPECT_TRUE(story.Around(4.05).is_none);
  EXPECT_FALSE(story.Around(8.05).is_none);
  EXPECT_NEAR(story.Around(8.05).least, 0.1, 0.01);
  EXPECT_TRUE(story.Around(12.05).is_none);
  EXPECT_EQ(story.counts.lost(kSwitch), 1u);
}

TEST(SentCounts, KnowsNothingBeforeTheFirstReadingNorBehindTheLast) {
  Story story;
  story.Send(4);
  story.Play(10);
  EXPECT_FALSE(story.Around(-0.5).is_known);
  EXPECT_FALSE(story.Around(9.9).is_known);
  EXPECT_TRUE(story.Around(5).is_known);
  EXPECT_FALSE(story.counts.IsSettled(kSwitch, At(9.5)));
  EXPECT_FALSE(story.counts.Between(8, At(4), At(5)).is_known);
  EXPECT_FALSE(story.counts.IsTold(8));
  EXPECT_FALSE(story.counts.Between(60000, At(4), At(5)).is_known);
}

TEST(SentCounts, OfCopiesThatComeAllTheTimeKnowsAShareThatFallsWithTime) {
  double before = 1;
  for (const double length : {8.0, 60.0, 240.0}) {
    Story story;
    for (double at = 1; at < length; at += 0.005) story.Send(at);
    story.Play(length);
    const SentCounts::Around around = story.Around(length - 2);
    ASSERT_TRUE(around.is_known);
    EXPECT_FALSE(around.is_none);
    EXPECT_EQ(around.least, 0);
    EXPECT_LT(around.most, before / 2) << length;
    before = around.most;
  }
  EXPECT_LT(before, 0.005);
}

TEST(SentCounts, FindsOutThatACounterLagsMoreThanWasThought) {
  Story story(2 * kNanosPerSecond);
  for (double at = 1; at < 30; at += 0.3) story.Send(at);
  for (double at = 36; at < 90; at += 10) story.Send(at);
  story.Play(94);
  // Until then nothing is said that is not so, and in the end all that is.
  for (double at = 2; at < 90; ++at) EXPECT_EQ(story.Around(at).least, 0) << at;
  EXPECT_FALSE(story.Around(36).is_none);
  EXPECT_TRUE(story.Around(86).is_none);
}

TEST(SentCounts, BeginsAnewWithASwitchThatDoes) {
  SentCounts counts;
  for (int i = 0; i < 40; ++i) {
    const Nanos now = At(i * 0.4);
    counts.Tell(kSwitch, i < 20 ? 1000 : 5, now, now);
    counts.Advance(now);
  }
  EXPECT_FALSE(counts.Between(kSwitch, At(7), At(9)).is_known);
  EXPECT_TRUE(counts.Between(kSwitch, At(11), At(11.1)).is_none);
}

// Whatever is said of a time holds of what was lost then, however it came about.
TEST(SentCounts, SaysNothingThatIsNotSo) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](uint64_t bound) { return random() % bound; };
    std::vector<std::pair<Nanos, bool>> sent;
    const Nanos spacing = static_cast<Nanos>(1 + below(400)) * kNanosPerMilli / 4;
    const uint64_t losses = below(3) * 40;  // of a thousand
    for (Nanos time = At(1); time < At(40);) {
      sent.emplace_back(time, below(1000) < losses);
      time += static_cast<Nanos>(below(static_cast<uint64_t>(2 * spacing)));
      if (below(50) == 0) time += static_cast<Nanos>(below(3000)) * kNanosPerMilli;
    }
    SentCounts counts;
    size_t next = 0;
    uint64_t highest = 0;
    for (Nanos now = kStart; now < At(46);
         now += static_cast<Nanos>(100 + below(600)) * kNanosPerMilli) {
      for (; next < sent.size() && sent[next].first <= now; ++next) {
        const Nanos way = static_cast<Nanos>(below(5)) * kNanosPerMilli;
        if (!sent[next].second) counts.Take(kSwitch, sent[next].first + way);
      }
      const Nanos lag = static_cast<Nanos>(below(550)) * kNanosPerMilli;
      uint64_t counted = 0;
      for (const auto& [time, is_lost] : sent) counted += time <= now - lag ? 1 : 0;
      highest = std::max(highest, counted);  // a counter does not fall
      counts.Tell(kSwitch, highest, now, now + static_cast<Nanos>(below(30)) * kNanosPerMilli);
      counts.Advance(now);
    }
    for (const auto& [time, is_lost] : sent) {
      if (!is_lost) continue;
      const auto around = counts.Between(kSwitch, time - kNanosPerMilli, time + kNanosPerMilli);
      EXPECT_FALSE(around.is_known && around.is_none) << "seed " << seed;
    }
    if (losses == 0) {
      EXPECT_EQ(counts.lost(kSwitch), 0u) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace trumpet
