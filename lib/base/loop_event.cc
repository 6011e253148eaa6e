// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/base/loop_event.h"

#include <event2/event.h>
#include <signal.h>

#include <utility>

namespace trumpet {
namespace {

void Run(evutil_socket_t /*fd*/, short /*what*/, void* action) {
  (*static_cast<const std::function<void()>*>(action))();
}

void* Argument(const std::function<void()>& action) {
  return const_cast<std::function<void()>*>(&action);
}

timeval ToTimeval(Nanos span) {
  return {span / kNanosPerSecond, span % kNanosPerSecond / kNanosPerMicro};
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

void LoopEvent::RunSoon() { RunAfter(0); }

void LoopEvent::RunAfter(Nanos delay) {
  const timeval wait = ToTimeval(delay);
  event_add(once_, &wait);
}

void LoopEvent::RunEvery(Nanos period) {
  const timeval interval = ToTimeval(period);
  event_add(periodic_, &interval);
}

void LoopEvent::Cancel() {
  event_del(once_);
  event_del(periodic_);
}

OwnedLoop NewPreciseLoop() {
  event_config* const config = event_config_new();
  event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
  OwnedLoop base(event_base_new_with_config(config));
  event_config_free(config);
  return base;
}

void FreeLoop(event_base* base) {
  event_base_loop(base, EVLOOP_NONBLOCK);
  event_base_free(base);
}

void IgnoreBrokenPipes() {
  struct sigaction action {};
  if (sigaction(SIGPIPE, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) {
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, nullptr);
  }
}

}  // namespace trumpet
