// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/loop_event.h"

#include <event2/event.h>

#include <utility>

namespace trumpet {
namespace {

void Run(evutil_socket_t /*fd*/, short /*what*/, void* action) {
  (*static_cast<const std::function<void()>*>(action))();
}

void* Argument(const std::function<void()>& action) {
  return const_cast<std::function<void()>*>(&action);
}

}  // namespace

LoopEvent::LoopEvent(event_base* base, std::function<void()> action)
    : action_(std::move(action)),
      once_(event_new(base, -1, 0, Run, Argument(action_))),
      periodic_(event_new(base, -1, EV_PERSIST, Run, Argument(action_))) {}

LoopEvent::~LoopEvent() {
  event_free(once_);
  event_free(periodic_);
}

void LoopEvent::RunSoon() {
  const timeval now{0, 0};
  event_add(once_, &now);
}

void LoopEvent::RunEvery(Nanos period) {
  const timeval interval{period / kNanosPerSecond, period % kNanosPerSecond / kNanosPerMicro};
  event_add(periodic_, &interval);
}

}  // namespace trumpet
