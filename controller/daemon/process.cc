// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/daemon/process.h"

#include <event2/event.h>

#include <csignal>
#include <utility>

namespace trumpet {
namespace {

// Peers are told that we go; then it is over, whether they have read it or not.
constexpr Nanos kLeave = 500 * kNanosPerMilli;

event* OnSignal(event_base* base, int number, event_callback_fn callback, Process* process) {
  event* const signal = evsignal_new(base, number, callback, process);
  event_add(signal, nullptr);
  return signal;
}

void LeaveOnSignal(evutil_socket_t, short, void* process) {
  static_cast<Process*>(process)->Leave();
}

void HangUpOnSignal(evutil_socket_t, short, void* hang_up) {
  (*static_cast<const std::function<void()>*>(hang_up))();
}

}  // namespace

void Process::EventFree::operator()(event* signal) const { event_free(signal); }

Process::Process(event_base* base, ProcessActions actions)
    : base_(base),
      actions_(std::move(actions)),
      end_(base, [this] { event_base_loopbreak(base_); }),
      terminate_(OnSignal(base, SIGTERM, LeaveOnSignal, this)),
      interrupt_(OnSignal(base, SIGINT, LeaveOnSignal, this)),
      hang_up_(evsignal_new(base, SIGHUP, HangUpOnSignal,
                            const_cast<std::function<void()>*>(&actions_.hang_up))) {
  event_add(hang_up_.get(), nullptr);
}

Process::~Process() = default;

void Process::Run() { event_base_loop(base_, EVLOOP_NO_EXIT_ON_EMPTY); }

void Process::Leave() {
  if (is_leaving_) return;
  is_leaving_ = true;
  actions_.leave();
  end_.RunAfter(kLeave);
}

}  // namespace trumpet
