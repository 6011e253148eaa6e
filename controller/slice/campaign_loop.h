// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CampaignLoop: a CampaignManager on a libevent loop, with a planner of its own.
//
// Threads: that of the loop.  Lifetime: the parts must outlive it.

#ifndef TRUMPET_CONTROLLER_SLICE_CAMPAIGN_LOOP_H
#define TRUMPET_CONTROLLER_SLICE_CAMPAIGN_LOOP_H

#include <algorithm>

#include "controller/slice/campaign_manager.h"
#include "controller/slice/slice_planner.h"
#include "lib/base/loop_event.h"

namespace trumpet {

class CampaignLoop {
 public:
  // Planner and due_changed of `parts` are set here.
  CampaignLoop(event_base* base, CampaignParts parts, const CampaignOptions& options)
      : clock_(parts.clock), planner_(base), timer_(base, [this] { Turn(); }) {
    parts.planner = &planner_;
    parts.due_changed = [this] { timer_.RunSoon(); };
    manager_ = std::make_unique<CampaignManager>(parts, options);
  }

  CampaignManager& manager() { return *manager_; }

 private:
  // Far ahead is looked at again: a loop's timers are not meant for days.
  static constexpr Nanos kLongestWait = 60 * kNanosPerSecond;

  void Turn() {
    const Nanos now = clock_->MonotonicNow();
    if (manager_->due() <= now) manager_->Step();
    const Nanos due = std::max(manager_->due(), now);
    timer_.RunAfter(std::min(due - now, kLongestWait));
  }

  const WireClock* const clock_;
  ThreadedSlicePlanner planner_;
  LoopEvent timer_;
  std::unique_ptr<CampaignManager> manager_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_CAMPAIGN_LOOP_H
