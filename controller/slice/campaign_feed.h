// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CampaignFeed: what happens to the runs of campaigns, as it happens, numbered.
//
// The last kKept pieces of news stay in memory, so that a listener who comes again goes on where he
// was.  Numbers rise over restarts, too, if `first` does.
//
// Threads: one, that of the libevent loop.  Memory: kKept pieces, shared with those still sending.

#ifndef TRUMPET_CONTROLLER_SLICE_CAMPAIGN_FEED_H
#define TRUMPET_CONTROLLER_SLICE_CAMPAIGN_FEED_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/slice/campaign_run.h"

namespace trumpet {

struct CampaignNews {
  uint64_t number = 0;
  std::string name;
  std::string tenant;
  SliceMoment moment;
  SliceRunSummary run;
};

class CampaignFeed {
 public:
  static constexpr size_t kKept = 4096;
  using Rows = std::vector<std::shared_ptr<const CampaignNews>>;

  // The first piece gets the number after `last_number`.
  explicit CampaignFeed(uint64_t last_number) : last_number_(last_number) {}

  void Publish(CampaignNews news) {
    news.number = ++last_number_;
    kept_.push_back(std::make_shared<const CampaignNews>(std::move(news)));
    if (kept_.size() > kKept) kept_.pop_front();
    if (listener_) listener_(*kept_.back());
  }

  // Called with each piece; null ends it.
  void SetListener(std::function<void(const CampaignNews&)> listener) {
    listener_ = std::move(listener);
  }

  uint64_t last_number() const { return last_number_; }
  // The kept ones after `number`, at most `limit`; others between are lost.
  Rows After(uint64_t number, size_t limit) const {
    const uint64_t first = last_number_ - kept_.size() + 1;
    const uint64_t from = std::max(number + 1, first) - first;
    if (number >= last_number_) return {};
    const auto begin = kept_.begin() + static_cast<std::ptrdiff_t>(from);
    const auto count = std::min<size_t>(limit, kept_.size() - from);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
  }

 private:
  uint64_t last_number_;
  std::deque<std::shared_ptr<const CampaignNews>> kept_;
  std::function<void(const CampaignNews&)> listener_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_CAMPAIGN_FEED_H
