// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// A controller with one campaign, in the network of the paper's Fig. 2, for tests.

#ifndef TRUMPET_CONTROLLER_SLICE_CAMPAIGN_LAB_TEST_H
#define TRUMPET_CONTROLLER_SLICE_CAMPAIGN_LAB_TEST_H

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "controller/slice/slice_twin_test.h"

namespace trumpet {

constexpr Nanos kMs = kNanosPerMilli;
constexpr char kPrefix[] = "1.2.3.0/24";

struct Lab {
  explicit Lab(uint32_t seed = 1) : agenda(&clock), network(&clock, &agenda, seed), tags(seed) {
    auto drawn = std::make_shared<SliceMap>();
    drawn->network = slice::PaperNetwork();
    drawn->borders = slice::Named(drawn->network, "A123D");
    map = drawn;
    parts.clock = &clock;
    parts.planner = &network;
    parts.drivers = {&network};
    parts.collector = &network;
    parts.demands = &demands;
    parts.tags = &tags;
    parts.shared = &shared;
    network.OnEnd([this](const SliceEnd& end) {
      if (run) run->OnEnd(end);
    });
  }

  TwinFlow& AddFlow(const std::string& prefix, const std::string& routers, int64_t rate_bps) {
    TwinFlow& flow = network.flows.emplace_back();
    flow.prefix = *ParsePrefix(prefix);
    for (char router : routers) flow.routers.insert(std::string(1, router));
    flow.rates[0] = rate_bps;
    return flow;
  }
  void Begin(const std::string& text) {
    auto campaign = ParseSlices(text, "c");
    ASSERT_TRUE(campaign) << campaign.message();
    run = std::make_unique<CampaignRun>(parts, options, ++runs, "c", text, *campaign, map, 0);
    run->Start();
  }
  // One thing more; false: nothing is left to happen by then.
  bool Turn(Nanos until = INT64_MAX) {
    const Nanos due = run && !run->is_over() ? run->due() : INT64_MAX;
    const Nanos next = std::min(due, agenda.next());
    if (next == INT64_MAX || next > until) return false;
    if (agenda.next() <= due) {
      agenda.RunNext();
    } else {
      clock.now = std::max(clock.now, due);
      run->Step();
    }
    return true;
  }
  void RunUntil(Nanos until) {
    while (Turn(until)) {
    }
    clock.now = std::max(clock.now, until);
  }
  void RunToEnd() {
    while (!run->is_over() && Turn()) {
    }
    ASSERT_TRUE(run->is_over()) << NameOf(run->view().state);
  }
  void Settle() {
    while (Turn()) {
    }
  }

  TwinClock clock;
  Agenda agenda;
  TwinNetwork network;
  DemandBook demands;
  TagPool tags;
  SecondBudget shared{0};
  SliceRunParts parts;
  SliceRunOptions options;
  std::shared_ptr<const SliceMap> map;
  std::unique_ptr<CampaignRun> run;
  uint64_t runs = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_CAMPAIGN_LAB_TEST_H
