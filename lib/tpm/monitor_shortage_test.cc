// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// A packet monitor whose agent finds no memory: what it could not do can be done again, and nothing
// that was counted is lost.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "lib/base/memory_shortage_test.h"
#include "lib/tpm/monitor_harness_test.h"

namespace trumpet {
namespace {

using testing::DoesWith;
using testing::OneForEachAddress;
using testing::Rig;
using testing::SendToEachAddress;

constexpr Nanos kMs = kNanosPerMilli;
constexpr uint32_t kEvents = 20;

// The events of each other program are of other places in it, so that its sets differ.
std::shared_ptr<const TriggerProgram> NextProgram(Rig* rig) {
  HostVerdicts::Plans plans = OneForEachAddress(kEvents);
  std::rotate(plans.begin(), plans.begin() + ++rig->generation % kEvents, plans.end());
  return TriggerProgram::Make(plans, rig->generation, INT64_MIN);
}

// A packet for each event, and an idle time in which its epoch ends.
void SendAndSweep(Rig* rig, Nanos now) {
  SendToEachAddress(rig, kEvents, 1, now);
  while (rig->monitor->OnIdle(now + 1)) continue;
}

TEST(MonitorShortage, AProgramThatFindsNoMemoryCanBePublishedAgain) {
  Rig rig(OneForEachAddress(kEvents));
  Nanos now = 0;
  uint64_t sent = 0;
  bool is_published = false;
  for (uint64_t calls = 0; !is_published; ++calls) {
    const auto program = NextProgram(&rig);
    const auto publish = [&] { EXPECT_TRUE(rig.monitor->Publish(program).ok()); };
    is_published = DoesWith(calls, publish);
    if (!is_published) publish();
    SendAndSweep(&rig, now += 10 * kMs);
    ++sent;
    EXPECT_EQ(rig.monitor->running_generation(), rig.generation) << calls;
    rig.monitor->Drain(&rig.sink);
  }
  EXPECT_GT(sent, 10u);
  rig.Finish(now + 10 * kMs);
  for (uint32_t id = 1; id <= kEvents; id++) EXPECT_EQ(rig.sink.total_packets[id], sent) << id;
  EXPECT_EQ(rig.sink.reasons, 0u);
}

// Whether it freed, with so many allocations, programs that have come and gone before anybody read
// what they counted.
bool FreesProgramsWith(uint64_t calls) {
  Rig rig(OneForEachAddress(kEvents));
  SendAndSweep(&rig, 0);
  for (Nanos now = 10 * kMs; now <= 20 * kMs; now += 10 * kMs) {
    EXPECT_TRUE(rig.monitor->Publish(NextProgram(&rig)).ok());
    SendAndSweep(&rig, now);
  }
  const bool is_done = DoesWith(calls, [&] { rig.monitor->CollectRetired(); });
  EXPECT_TRUE(rig.monitor->Publish(NextProgram(&rig)).ok());
  rig.Finish(30 * kMs);
  for (uint32_t id = 1; id <= kEvents; id++) EXPECT_EQ(rig.sink.total_packets[id], 3u) << id;
  EXPECT_EQ(rig.sink.reasons, 0u);
  return is_done;
}

TEST(MonitorShortage, ProgramsThatAreFreedLoseNothing) {
  uint64_t calls = 0;
  while (!FreesProgramsWith(calls)) ++calls;
  EXPECT_GT(calls, 10u);
}

TEST(MonitorShortage, NoneIsNeededToEnd) {
  Rig rig(OneForEachAddress(kEvents));
  for (Nanos now = 0; now < 20 * kMs; now += 10 * kMs) {
    SendAndSweep(&rig, now);
    EXPECT_TRUE(rig.monitor->Publish(NextProgram(&rig)).ok());
  }
  SendAndSweep(&rig, 20 * kMs);  // the first program is given up, and what it told unread
  EXPECT_TRUE(DoesWith(0, [&] { rig.monitor.reset(); }));
}

}  // namespace
}  // namespace trumpet
