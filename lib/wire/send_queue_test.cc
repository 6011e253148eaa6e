// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/send_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "lib/wire/limits.h"

namespace trumpet {
namespace {

using Outcome = SendQueue::Outcome;

constexpr size_t kFrame = 100;
constexpr size_t kEach = kFrame + SendQueue::kOverheadBytes;

Outcome PushOne(SendQueue* queue, MessageKind kind, char label) {
  return queue->Push(kind, std::string(kFrame, label));
}

IntervalEnd EndAt(Nanos until) {
  IntervalEnd end;
  end.until_ns = until;
  return end;
}

// Everything in order: labels of messages; ends as "|until,reports,partials|".
std::string Drained(SendQueue* queue) {
  std::string text;
  while (auto item = queue->Pop()) {
    if (item->end) {
      text += "|" + std::to_string(item->end->until_ns) + "," +
              std::to_string(item->end->dropped_reports) + "," +
              std::to_string(item->end->dropped_partials) + "|";
    } else {
      text += item->frame[0];
    }
  }
  return text;
}

TEST(SendQueue, SendsControlThenReportsThenPartials) {
  SendQueue queue(100 * kEach);
  PushOne(&queue, MessageKind::kPartials, 'p');
  PushOne(&queue, MessageKind::kReport, 'r');
  PushOne(&queue, MessageKind::kTriggerAck, 'c');
  PushOne(&queue, MessageKind::kFlowStates, 'q');
  PushOne(&queue, MessageKind::kPollReply, 's');
  PushOne(&queue, MessageKind::kKeepAlive, 'd');
  EXPECT_EQ(Drained(&queue), "cdrspq");
  EXPECT_TRUE(queue.empty());
}

TEST(SendQueue, LosesTheOldestPartialsFirst) {
  SendQueue queue(3 * kEach);
  for (const char label : {'a', 'b', 'c', 'd', 'e'}) PushOne(&queue, MessageKind::kPartials, label);
  EXPECT_EQ(queue.dropped()[static_cast<size_t>(MessageKind::kPartials)], 2u);
  EXPECT_EQ(PushOne(&queue, MessageKind::kReport, 'r'), Outcome::kTaken);
  EXPECT_EQ(Drained(&queue), "rde");
}

TEST(SendQueue, LosesReportsOnlyForReportsAndControl) {
  SendQueue queue(2 * kEach);
  PushOne(&queue, MessageKind::kReport, 'a');
  PushOne(&queue, MessageKind::kReport, 'b');
  EXPECT_EQ(PushOne(&queue, MessageKind::kPartials, 'p'), Outcome::kLost);
  EXPECT_EQ(PushOne(&queue, MessageKind::kReport, 'c'), Outcome::kTaken);
  EXPECT_EQ(PushOne(&queue, MessageKind::kTriggerAck, 'k'), Outcome::kTaken);
  EXPECT_EQ(queue.dropped()[static_cast<size_t>(MessageKind::kReport)], 2u);
  EXPECT_EQ(queue.dropped()[static_cast<size_t>(MessageKind::kPartials)], 1u);
  EXPECT_EQ(Drained(&queue), "kc");
}

TEST(SendQueue, SaysSoWhenControlItselfDoesNotFit) {
  SendQueue queue(2 * kEach);
  EXPECT_EQ(PushOne(&queue, MessageKind::kTriggerSet, 'a'), Outcome::kTaken);
  EXPECT_EQ(PushOne(&queue, MessageKind::kTriggerSet, 'b'), Outcome::kTaken);
  EXPECT_EQ(PushOne(&queue, MessageKind::kTriggerSet, 'c'), Outcome::kStuck);
  EXPECT_EQ(Drained(&queue), "ab");
}

TEST(SendQueue, TellsLostPartialsInTheEndThatFollowsThem) {
  SendQueue queue(3 * kEach);
  PushOne(&queue, MessageKind::kPartials, 'a');
  queue.PushIntervalEnd(EndAt(10));
  PushOne(&queue, MessageKind::kPartials, 'b');
  PushOne(&queue, MessageKind::kPartials, 'c');  // throws out a
  queue.PushIntervalEnd(EndAt(20));
  EXPECT_EQ(Drained(&queue), "|10,0,1|bc|20,0,0|");
}

TEST(SendQueue, DoesNotBlameAnEndForWhatIsLostBehindIt) {
  SendQueue queue(2 * kEach + SendQueue::kOverheadBytes - 1);
  queue.PushIntervalEnd(EndAt(10));
  PushOne(&queue, MessageKind::kPartials, 'a');
  PushOne(&queue, MessageKind::kPartials, 'b');  // throws out a, behind the first end
  queue.PushIntervalEnd(EndAt(20));
  EXPECT_EQ(Drained(&queue), "|10,0,0|b|20,0,1|");
}

TEST(SendQueue, JoinsEndsWithNothingLeftBetweenThem) {
  SendQueue queue(2 * kEach);
  IntervalEnd end = EndAt(10);
  end.incomplete.push_back({1, 2, kRingFull, 7});
  queue.PushIntervalEnd(end);
  for (Nanos until = 20; until <= 100000; until += 10) {
    PushOne(&queue, MessageKind::kReport, 'r');
    PushOne(&queue, MessageKind::kPartials, 'p');
    end.until_ns = until;
    queue.PushIntervalEnd(end);
  }
  EXPECT_LE(queue.bytes(),
            2 * kEach + SendQueue::kOverheadBytes + kMaxIncompleteRanges * sizeof(IncompleteRange));
  std::optional<SendQueue::Item> item;
  do item = queue.Pop();
  while (item && !item->end);
  ASSERT_TRUE(item);
  EXPECT_EQ(item->end->until_ns, 100000);
  EXPECT_GT(item->end->dropped_partials, 9000u);
  EXPECT_GT(item->end->dropped_reports, 9000u);
  EXPECT_EQ(item->end->incomplete.size(), kMaxIncompleteRanges);
  EXPECT_EQ(item->end->incomplete.back().event_id, 7u);
}

TEST(SendQueue, AddsUpWhatJoinedEndsSayWasDropped) {
  SendQueue queue(2 * kEach);
  for (const Nanos until : {10, 20}) {
    IntervalEnd end = EndAt(until);
    end.dropped_reports = 3;
    end.dropped_partials = 2;
    queue.PushIntervalEnd(end);
  }
  EXPECT_EQ(Drained(&queue), "|20,6,4|");
}

TEST(SendQueue, CountsWhatWaitsAsDroppedWhenItIsCleared) {
  SendQueue queue(10 * kEach);
  PushOne(&queue, MessageKind::kTriggerAck, 'c');
  PushOne(&queue, MessageKind::kReport, 'r');
  PushOne(&queue, MessageKind::kReport, 's');
  queue.PushIntervalEnd(EndAt(10));
  PushOne(&queue, MessageKind::kPartials, 'p');
  ASSERT_EQ(queue.Pop()->kind, MessageKind::kTriggerAck);
  queue.Clear();
  EXPECT_TRUE(queue.empty());
  EXPECT_FALSE(queue.Pop());
  EXPECT_EQ(queue.dropped()[static_cast<size_t>(MessageKind::kTriggerAck)], 0u);
  EXPECT_EQ(queue.dropped()[static_cast<size_t>(MessageKind::kReport)], 2u);
  EXPECT_EQ(queue.dropped()[static_cast<size_t>(MessageKind::kPartials)], 1u);
}

// Many random pushes and pops: room is kept, order is kept within a class, and each interval that
// lost something is told so by its end (or by a later one that it was joined with).
TEST(SendQueue, NeverHidesALossAndNeverGrows) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const size_t max_bytes = (3 + random() % 10) * kEach;
    SendQueue queue(max_bytes);
    std::map<Nanos, std::set<int>> sent_partials;  // by interval
    std::map<Nanos, std::set<int>> sent_reports;
    std::map<Nanos, std::set<int>> got_partials;
    std::map<Nanos, std::set<int>> got_reports;
    Nanos interval = 1;
    Nanos told = 0;
    int serial = 0;
    const auto take = [&](const SendQueue::Item& item) {
      if (!item.end) {
        const Nanos of = std::stoll(item.frame);
        const int number = std::stoi(item.frame.substr(item.frame.find(':') + 1));
        (item.kind == MessageKind::kReport ? got_reports : got_partials)[of].insert(number);
        return;
      }
      bool lost_partials = false;
      bool lost_reports = false;
      for (Nanos of = told + 1; of <= item.end->until_ns; ++of) {
        lost_partials = lost_partials || got_partials[of] != sent_partials[of];
        lost_reports = lost_reports || got_reports[of] != sent_reports[of];
      }
      ASSERT_EQ(item.end->dropped_partials > 0, lost_partials)
          << "seed " << seed << ", ends " << told + 1 << " to " << item.end->until_ns;
      if (lost_reports) {
        ASSERT_GT(item.end->dropped_reports, 0u) << "seed " << seed;
      }
      told = item.end->until_ns;
    };
    for (int step = 0; step < 2000; ++step) {
      const int number = ++serial;
      std::string frame = std::to_string(interval) + ":" + std::to_string(number) + " ";
      frame.resize(kFrame, '.');
      switch (random() % 6) {
        case 0:
        case 1:
          sent_partials[interval].insert(number);
          queue.Push(MessageKind::kPartials, frame);
          break;
        case 2:
          sent_reports[interval].insert(number);
          queue.Push(MessageKind::kReport, frame);
          break;
        case 3:
          queue.PushIntervalEnd(EndAt(interval++));
          break;
        default:
          if (auto item = queue.Pop()) take(*item);
      }
      ASSERT_LE(queue.bytes(),
                max_bytes + (queue.count(SendClass::kPartial) + 1) * SendQueue::kOverheadBytes);
    }
    queue.PushIntervalEnd(EndAt(interval));
    while (auto item = queue.Pop()) take(*item);
    EXPECT_EQ(told, interval);
    EXPECT_TRUE(queue.empty());
  }
}

}  // namespace
}  // namespace trumpet
