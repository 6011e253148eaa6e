// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Process: a daemon from the first turn of its loop to the last, and the signals that it heeds.
//
// Threads: that of the libevent loop.

#ifndef TRUMPET_CONTROLLER_DAEMON_PROCESS_H
#define TRUMPET_CONTROLLER_DAEMON_PROCESS_H

#include <functional>
#include <memory>

#include "lib/base/loop_event.h"

struct event;

namespace trumpet {

struct ProcessActions {
  std::function<void()> leave;    // SIGTERM, SIGINT: tell peers; the end comes soon after
  std::function<void()> hang_up;  // SIGHUP
};

class Process {
 public:
  Process(event_base* base, ProcessActions actions);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void Run();
  void Leave();

 private:
  struct EventFree {
    void operator()(event* signal) const;
  };
  using SignalEvent = std::unique_ptr<event, EventFree>;

  event_base* const base_;
  const ProcessActions actions_;
  bool is_leaving_ = false;
  LoopEvent end_;
  SignalEvent terminate_;
  SignalEvent interrupt_;
  SignalEvent hang_up_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_DAEMON_PROCESS_H
