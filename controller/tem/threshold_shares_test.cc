// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/tem/threshold_shares.h"

#include <gtest/gtest.h>

#include <random>

namespace trumpet {
namespace {

// A host as far as shares go: it is somewhere in its intervals, orders and answers are on their
// way.
struct ShareHost {
  bool is_member = false;
  std::vector<ThresholdShare> on_the_way;
  std::vector<ThresholdShare> answers;  // `from` is its own
  std::map<int64_t, Int128> shares;     // by interval; 1 where it was told nothing
  int64_t next = 0;                     // number of the interval it closes next
  std::map<int64_t, Int128> counted_by;
};

constexpr int64_t kEnd = 400;  // no story gets so far

// Intervals have length 1, so that their numbers are instants.
class ShareStory {
 public:
  ShareStory(uint64_t seed, Int128 least)
      : random_(seed), least_(least), shares_(1, least, 0, 1 + seed % 9) {}

  void Run(int steps) {
    hosts_.resize(1 + random_() % 9);
    for (int step = 0; step < steps; ++step) {
      const auto host = static_cast<uint32_t>(random_() % hosts_.size());
      Act(host, &hosts_[host]);
      for (const ShareOrder& order : orders_) hosts_[order.host].on_the_way.push_back(order.share);
      order_count_ += orders_.size();
      orders_.clear();
    }
  }

  // In every interval, the shares of those that counted add up to too little to miss anything.
  void ExpectNothingCanBeMissed() const {
    std::map<int64_t, Int128> sums;
    for (const ShareHost& host : hosts_) {
      for (const auto& [interval, share] : host.counted_by) sums[interval] += share - 1;
    }
    for (const auto& [interval, sum] : sums) ASSERT_LT(sum, least_) << "interval " << interval;
  }

  size_t order_count() const { return order_count_; }
  Int128 LargestShare() const {
    Int128 largest = 0;
    for (const ShareHost& host : hosts_) {
      for (const auto& [interval, share] : host.counted_by) largest = std::max(largest, share);
    }
    return largest;
  }

 private:
  void Act(uint32_t number, ShareHost* host) {
    switch (random_() % 8) {
      case 0:
        Enter(number, host);
        break;
      case 1:
        if (host->is_member && random_() % 4 == 0) Leave(number, host);
        break;
      case 2:
      case 3:
        Receive(host);
        break;
      case 4:
      case 5:
        if (!host->answers.empty()) {
          const ThresholdShare answer = host->answers.front();
          host->answers.erase(host->answers.begin());
          shares_.Applied(number, answer.generation, answer.from, &orders_);
        }
        break;
      default:
        Close(host);
    }
  }

  void Enter(uint32_t number, ShareHost* host) {
    if (host->is_member) return;
    host->is_member = true;
    shares_.Add(number, &orders_);
  }

  // From an instant that lies ahead of all that was closed; orders under way are void.
  void Leave(uint32_t number, ShareHost* host) {
    host->is_member = false;
    host->on_the_way.clear();
    host->answers.clear();
    host->shares.clear();
    shares_.Remove(number, host->next, &orders_);
  }

  void Receive(ShareHost* host) {
    if (host->on_the_way.empty()) return;
    ThresholdShare order = host->on_the_way.front();
    host->on_the_way.erase(host->on_the_way.begin());
    for (int64_t interval = host->next; interval < kEnd; ++interval) {
      Int128& share = host->shares.try_emplace(interval, 1).first->second;
      share = interval >= order.from ? order.share : std::min(share, order.share);
    }
    order.from = host->next;
    if (random_() % 10 != 0) host->answers.push_back(order);  // some answers are lost
  }

  // Hosts are up to some intervals apart.  One that was told nothing reports everything.
  void Close(ShareHost* host) {
    for (const ShareHost& other : hosts_) {
      if (host->next > other.next + 5) return;
    }
    if (host->is_member) {
      host->counted_by[host->next] = host->shares.try_emplace(host->next, 1).first->second;
    }
    ++host->next;
  }

  std::mt19937_64 random_;
  Int128 least_;
  ThresholdShares shares_;
  std::vector<ShareHost> hosts_;
  std::vector<ShareOrder> orders_;
  size_t order_count_ = 0;
};

TEST(ThresholdShares, LeaveNoGapWhateverTheOrderOfOrdersAndAnswers) {
  Int128 largest = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    ShareStory story(seed, static_cast<Int128>(1 + seed % 200));
    story.Run(600);
    story.ExpectNothingCanBeMissed();
    if (HasFatalFailure()) FAIL() << "seed " << seed;
    largest = std::max(largest, story.LargestShare());
  }
  EXPECT_GT(largest, 50);  // they are not all 1
}

TEST(ThresholdShares, EndAsEqualPartsOfHalfOnceAllHaveAnswered) {
  ThresholdShares shares(1, 1000);
  std::vector<ShareOrder> orders;
  for (uint32_t host = 0; host < 8; ++host) shares.Add(host, &orders);
  for (size_t i = 0; i < orders.size(); ++i) {
    const ShareOrder order = orders[i];
    shares.Applied(order.host, order.share.generation, 100, &orders);
  }
  std::map<uint32_t, Int128> last;
  for (const ShareOrder& order : orders) last[order.host] = order.share.share;
  ASSERT_EQ(last.size(), 8u);
  for (const auto& [host, share] : last) EXPECT_EQ(share, 63) << host;
}

TEST(ThresholdShares, ARaiseWaitsForTheInstantAtWhichOthersCountByLess) {
  ThresholdShares shares(1, 100);
  std::vector<ShareOrder> orders;
  shares.Add(0, &orders);
  shares.Applied(0, orders.back().share.generation, 0, &orders);
  shares.Applied(0, orders.back().share.generation, 0, &orders);  // 100: it is alone
  shares.Add(1, &orders);
  shares.Applied(1, orders[2].share.generation, 30, &orders);
  const ShareOrder lower = orders[3];
  EXPECT_EQ(lower.host, 0u);
  EXPECT_EQ(lower.share.share, 25);
  ASSERT_EQ(orders.size(), 4u);  // nothing for the newcomer yet
  shares.Applied(0, lower.share.generation, 70, &orders);
  ASSERT_EQ(orders.size(), 5u);
  EXPECT_EQ(orders[4].host, 1u);
  EXPECT_EQ(orders[4].share.share, 25);
  EXPECT_EQ(orders[4].share.from, 70);
}

TEST(ThresholdShares, AThousandHostsThatComeOneByOneAreToldAFewTimesEach) {
  ThresholdShares shares(1, 1000000);
  std::vector<ShareOrder> orders;
  size_t answered = 0;
  for (uint32_t host = 0; host < 1000; ++host) {
    shares.Add(host, &orders);
    for (; answered < orders.size(); ++answered) {
      const ShareOrder order = orders[answered];
      shares.Applied(order.host, order.share.generation, host, &orders);
    }
  }
  EXPECT_LT(orders.size(), 10 * 1000u);
}

TEST(ThresholdShares, AskForEverythingWhereSplittingDoesNotPay) {
  ThresholdShares shares(1, 1000, 0, 2);
  std::vector<ShareOrder> orders;
  std::map<uint32_t, Int128> told;
  const auto settle = [&] {
    while (!orders.empty()) {
      const std::vector<ShareOrder> now = std::move(orders);
      orders.clear();
      for (const ShareOrder& order : now) {
        told[order.host] = order.share.share;
        shares.Applied(order.host, order.share.generation, 1, &orders);
      }
    }
  };
  for (uint32_t host = 0; host < 4; ++host) shares.Add(host, &orders);
  settle();
  EXPECT_GT(told[0], 1);
  EXPECT_FALSE(shares.reports_all());
  shares.Add(4, &orders);
  settle();
  for (uint32_t host = 0; host < 5; ++host) EXPECT_EQ(told[host], 1) << host;
  EXPECT_TRUE(shares.reports_all());
  shares.Remove(4, 2, &orders);
  shares.Remove(3, 2, &orders);
  settle();
  EXPECT_EQ(told[0], 1) << "not yet";
  shares.Remove(2, 2, &orders);
  settle();
  EXPECT_GT(told[0], 1);
}

}  // namespace
}  // namespace trumpet
