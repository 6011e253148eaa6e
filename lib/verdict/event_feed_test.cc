// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/verdict/event_feed.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/verdict/verdict_test_kit.h"

namespace trumpet {
namespace {

using namespace kit;

// A host with an event on the volume per port above 100, in intervals of 10 ms.
class Feeding : public FeedSink {
 public:
  explicit Feeding(uint32_t max_buckets = 0, FeedBudget* budget = nullptr) {
    EventSpec spec = Event(1, Op(Sum(Variable::kVolume), ExprOp::kGreater, Num(100)), ByPort());
    spec.max_buckets = max_buckets;
    plan = Plan(spec);
    feed = std::make_unique<EventFeed>(plan, 0, 7, budget);
  }

  bool Packet(int64_t ms, uint32_t port, int64_t volume) {
    const auto words = CellsOf(*plan, Values{{Variable::kPackets, 1}, {Variable::kVolume, volume}});
    const std::string key = PortKey(port);
    return feed->Add(PartialOf(1, Ms(ms), Ms(ms + 10), key, words));
  }

  // What is handed out, as "port@interval-start volume".
  std::vector<std::string> Close(int64_t ms) {
    handed.clear();
    feed->Close(Ms(ms), this);
    return handed;
  }

  std::string Answer(uint32_t port, int64_t ms) {
    PartialView cells;
    switch (feed->Answer(PortKey(port), Ms(ms), &cells)) {
      case FeedAnswer::kValues:
        return std::to_string(static_cast<int64_t>(feed->split().ValueOf(cells.words)));
      case FeedAnswer::kNoPackets:
        return "no packets";
      case FeedAnswer::kNoLongerKnown:
        return "no longer known";
      default:
        return "not yet";
    }
  }

  void OnCells(const PartialView& cells) override {
    const auto port = static_cast<uint8_t>(cells.bucket_key.back());
    const auto volume = static_cast<int64_t>(feed->split().ValueOf(cells.words));
    handed.push_back(std::to_string(port) + "@" +
                     std::to_string(cells.epoch_start / kNanosPerMilli) + " " +
                     std::to_string(volume));
  }
  void OnIncomplete(uint32_t, Nanos start, Nanos, uint32_t reasons) override {
    handed.push_back("incomplete@" + std::to_string(start / kNanosPerMilli) + " " +
                     ReasonsToJson(reasons));
  }

  std::shared_ptr<const TriggerPlan> plan;
  std::unique_ptr<EventFeed> feed;
  std::vector<std::string> handed;
};

using Lines = std::vector<std::string>;

TEST(EventFeed, HandsOutEachBucketOnceMergedOverThreads) {
  Feeding host;
  host.Packet(0, 80, 5);
  host.Packet(0, 22, 1);
  host.Packet(0, 80, 6);
  EXPECT_EQ(host.Close(10), (Lines{"80@0 11", "22@0 1"}));
  EXPECT_EQ(host.Close(20), Lines{});
}

TEST(EventFeed, KeepsWhatComesAheadUntilItsIntervalEnds) {
  Feeding host;
  host.Packet(20, 80, 7);
  EXPECT_EQ(host.Close(20), Lines{});
  EXPECT_EQ(host.Close(30), (Lines{"80@20 7"}));
  EXPECT_FALSE(host.Packet(20, 80, 1));  // closed
}

TEST(EventFeed, ReportsOnlyWhatReachesItsShareAndAnswersForTheRest) {
  Feeding host;
  host.feed->SetShare({1, 50, INT64_MIN});
  host.Packet(0, 80, 49);
  host.Packet(0, 22, 50);
  EXPECT_EQ(host.Answer(80, 0), "not yet");
  EXPECT_EQ(host.Close(10), (Lines{"22@0 50"}));
  EXPECT_EQ(host.Answer(80, 0), "49");
  EXPECT_EQ(host.Answer(22, 0), "50");
  EXPECT_EQ(host.Answer(23, 0), "no packets");
}

TEST(EventFeed, AShareOfOneReportsAlsoBucketsThatSumUpToNothing) {
  Feeding host;
  host.feed->SetShare({1, 1, INT64_MIN});
  host.Packet(0, 80, 0);
  EXPECT_EQ(host.Close(10), (Lines{"80@0 0"}));
}

TEST(EventFeed, KeepsSixteenPastIntervals) {
  Feeding host;
  host.feed->SetShare({1, 50, INT64_MIN});
  host.Packet(0, 80, 9);
  host.Close(160);
  EXPECT_EQ(host.Answer(80, 0), "9");
  host.Close(170);
  EXPECT_EQ(host.Answer(80, 0), "no longer known");
  EXPECT_EQ(host.Answer(80, 10), "no packets");
}

TEST(EventFeed, WithoutAShareNothingIsKept) {
  Feeding host;
  host.Packet(0, 80, 9);
  host.Close(10);
  EXPECT_EQ(host.Answer(80, 0), "no longer known");
}

TEST(EventFeed, ALowerShareCountsAtOnceAndALargerOneFromWhereItSays) {
  Feeding host;
  EXPECT_EQ(host.feed->SetShare({1, 10, INT64_MIN}), 0);
  EXPECT_EQ(host.feed->SetShare({2, 40, Ms(20)}), 0);
  for (const int64_t ms : {0, 10, 20, 30}) host.Packet(ms, 80, 15);
  EXPECT_EQ(host.Close(20), (Lines{"80@0 15", "80@10 15"}));
  EXPECT_EQ(host.Close(30), Lines{});
  EXPECT_EQ(host.feed->SetShare({3, 12, Ms(20)}), Ms(30));
  EXPECT_EQ(host.Close(40), (Lines{"80@30 15"}));
}

// It was raised to 40 from interval 2 on only, and must not count by 20 before that.
TEST(EventFeed, LoweringARaiseToComeDoesNotBringItForward) {
  Feeding host;
  host.feed->SetShare({1, 10, INT64_MIN});
  host.feed->SetShare({2, 40, Ms(20)});
  host.feed->SetShare({3, 20, Ms(20)});
  for (const int64_t ms : {0, 10, 20}) host.Packet(ms, 80, 15);
  EXPECT_EQ(host.Close(30), (Lines{"80@0 15", "80@10 15"}));
}

TEST(EventFeed, AnOlderGenerationIsIgnored) {
  Feeding host;
  host.feed->SetShare({5, 10, INT64_MIN});
  EXPECT_EQ(host.feed->SetShare({4, 1, INT64_MIN}), INT64_MAX);
  host.Packet(0, 80, 9);
  EXPECT_EQ(host.Close(10), Lines{});
}

// A controller that has lost count begins anew.
TEST(EventFeed, AfterSharesWereForgottenAnyGenerationCounts) {
  Feeding host;
  host.feed->SetShare({5, 1000, INT64_MIN});
  host.feed->ForgetShares();
  EXPECT_EQ(host.feed->SetShare({1, 10, INT64_MIN}), 0);
  host.Packet(0, 80, 9);
  host.Packet(0, 22, 11);
  EXPECT_EQ(host.Close(10), (Lines{"22@0 11"}));
}

TEST(EventFeed, TurnsBucketsAwayWhenFullAndSaysSo) {
  Feeding host(1);
  host.feed->SetShare({1, 1, INT64_MIN});
  host.Packet(0, 80, 9);
  host.Packet(0, 22, 9);
  EXPECT_EQ(host.Close(10), (Lines{"80@0 9", "incomplete@0 [\"bucket-evicted\"]"}));
  EXPECT_EQ(host.Answer(22, 0), "no longer known");
  EXPECT_EQ(host.feed->buckets_evicted(), 1u);
}

TEST(EventFeed, ForgetsTheOldestIntervalsWhenTheyTakeTooMuch) {
  Feeding host(2);
  host.feed->SetShare({1, 1000, INT64_MIN});
  for (int64_t ms = 0; ms < 60; ms += 10) {
    host.Packet(ms, 80, 9);
    host.Packet(ms, 22, 9);
  }
  host.Close(60);
  EXPECT_EQ(host.Answer(80, 50), "9");
  EXPECT_EQ(host.Answer(80, 30), "9");
  EXPECT_EQ(host.Answer(80, 20), "no longer known");
}

// A bucket that was forgotten is not one without packets.
TEST(EventFeed, SaysOfWhatItForgotForOthersThatItIsNoLongerKnown) {
  FeedBudget budget;
  budget.max = 4;
  Feeding host(0, &budget);
  host.feed->SetShare({1, 1000, INT64_MIN});
  for (int64_t ms = 0; ms < 30; ms += 10) {
    host.Packet(ms, 80, 9);
    host.Packet(ms, 22, 9);
    host.Close(ms + 10);
  }
  EXPECT_EQ(host.Answer(80, 0), "no longer known");
  EXPECT_EQ(host.Answer(80, 10), "9");
  EXPECT_EQ(host.Answer(443, 10), "no packets");
  EXPECT_EQ(host.feed->buckets_evicted(), 0u);
}

}  // namespace
}  // namespace trumpet
