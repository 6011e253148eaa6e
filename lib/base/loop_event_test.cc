// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/base/loop_event.h"

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace trumpet {
namespace {

TEST(LoopEvent, RunsInTheOrderOfItsDelays) {
  OwnedLoop base(event_base_new());
  std::string order;
  LoopEvent late(base.get(), [&] { order += "late "; });
  LoopEvent soon(base.get(), [&] { order += "soon "; });
  late.RunAfter(20 * kNanosPerMilli);
  soon.RunSoon();
  event_base_dispatch(base.get());  // ends when nothing is still to come
  EXPECT_EQ(order, "soon late ");
}

TEST(LoopEvent, LaterDelayTakesThePlaceOfTheEarlierOne) {
  OwnedLoop base(event_base_new());
  int runs = 0;
  LoopEvent event(base.get(), [&] { ++runs; });
  event.RunAfter(1000 * kNanosPerSecond);
  event.RunAfter(kNanosPerMilli);
  event_base_dispatch(base.get());
  EXPECT_EQ(runs, 1);
}

TEST(LoopEvent, CancelledOnesDoNotRun) {
  OwnedLoop base(event_base_new());
  int runs = 0;
  LoopEvent event(base.get(), [&] { ++runs; });
  event.RunSoon();
  event.RunEvery(kNanosPerMilli);
  event.Cancel();
  event_base_dispatch(base.get());
  EXPECT_EQ(runs, 0);
}

TEST(OwnedLoop, ClosesTheStreamsThatWereFreedWithACallStillToCome) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  {
    OwnedLoop base(event_base_new());
    bufferevent* stream = bufferevent_socket_new(base.get(), ends[0],
                                                 BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
    bufferevent_setcb(
        stream, [](bufferevent*, void*) {}, nullptr, nullptr, nullptr);
    bufferevent_trigger(stream, EV_READ, BEV_TRIG_IGNORE_WATERMARKS);
    bufferevent_free(stream);
  }
  char byte;
  EXPECT_EQ(read(ends[1], &byte, 1), 0) << "the other end has not been closed";
  close(ends[1]);
}

}  // namespace
}  // namespace trumpet
