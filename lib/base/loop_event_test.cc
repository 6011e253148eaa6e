// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/base/loop_event.h"

#include <event2/event.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace trumpet {
namespace {

struct BaseFree {
  void operator()(event_base* base) const { event_base_free(base); }
};

TEST(LoopEvent, RunsInTheOrderOfItsDelays) {
  std::unique_ptr<event_base, BaseFree> base(event_base_new());
  std::string order;
  LoopEvent late(base.get(), [&] { order += "late "; });
  LoopEvent soon(base.get(), [&] { order += "soon "; });
  late.RunAfter(20 * kNanosPerMilli);
  soon.RunSoon();
  event_base_dispatch(base.get());  // ends when nothing is still to come
  EXPECT_EQ(order, "soon late ");
}

TEST(LoopEvent, LaterDelayTakesThePlaceOfTheEarlierOne) {
  std::unique_ptr<event_base, BaseFree> base(event_base_new());
  int runs = 0;
  LoopEvent event(base.get(), [&] { ++runs; });
  event.RunAfter(1000 * kNanosPerSecond);
  event.RunAfter(kNanosPerMilli);
  event_base_dispatch(base.get());
  EXPECT_EQ(runs, 1);
}

TEST(LoopEvent, CancelledOnesDoNotRun) {
  std::unique_ptr<event_base, BaseFree> base(event_base_new());
  int runs = 0;
  LoopEvent event(base.get(), [&] { ++runs; });
  event.RunSoon();
  event.RunEvery(kNanosPerMilli);
  event.Cancel();
  event_base_dispatch(base.get());
  EXPECT_EQ(runs, 0);
}

}  // namespace
}  // namespace trumpet
