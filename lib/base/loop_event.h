// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// LoopEvent: something that a libevent loop does later, or again and again.

#ifndef TRUMPET_LIB_BASE_LOOP_EVENT_H
#define TRUMPET_LIB_BASE_LOOP_EVENT_H

#include <functional>
#include <memory>

#include "lib/base/units.h"

struct event;
struct event_base;

namespace trumpet {

class LoopEvent {
 public:
  LoopEvent(event_base* base, std::function<void()> action);
  ~LoopEvent();
  LoopEvent(const LoopEvent&) = delete;
  LoopEvent& operator=(const LoopEvent&) = delete;

  void RunSoon();               // once, when what is under way has returned
  void RunAfter(Nanos delay);   // once; takes the place of a RunSoon() or RunAfter() still to come
  void RunEvery(Nanos period);  // from now on
  void Cancel();                // none of what is still to come

 private:
  const std::function<void()> action_;
  event* once_;
  event* periodic_;
};

// Frees a loop whose users are gone, and first runs what libevent has put off there: a stream
// closed with a call back still to come would stay for ever, and its descriptor with it.
void FreeLoop(event_base* base);

struct LoopFree {
  void operator()(event_base* base) const { FreeLoop(base); }
};
using OwnedLoop = std::unique_ptr<event_base, LoopFree>;

// A loop for what is due at milliseconds; the usual loop's clock is coarser than that.
OwnedLoop NewPreciseLoop();

// Ignores SIGPIPE unless the process has a handler of its own.
void IgnoreBrokenPipes();

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_LOOP_EVENT_H
