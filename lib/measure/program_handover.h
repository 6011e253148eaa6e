// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ProgramHandover: how one packet thread comes by the measurement programs that it runs.
//
// Another thread offers a set; the packet thread takes it between two bursts, when it uses neither
// set, and gives the one before back.  Nothing is allocated or freed on the packet thread, and
// neither waits for the other: of several offers the last one counts.
//
// Threads: Current() is for the packet thread, Offer() and IsSettled() for one other; it is made
// and ends while there is no packet thread.

#ifndef TRUMPET_LIB_MEASURE_PROGRAM_HANDOVER_H
#define TRUMPET_LIB_MEASURE_PROGRAM_HANDOVER_H

#include <atomic>
#include <memory>
#include <utility>

#include "lib/measure/program_set.h"

namespace trumpet {

class ProgramHandover {
 public:
  ProgramHandover() = default;
  ProgramHandover(const ProgramHandover&) = delete;
  ProgramHandover& operator=(const ProgramHandover&) = delete;
  ~ProgramHandover() {
    delete offered_.load(std::memory_order_acquire);
    delete retired_.load(std::memory_order_acquire);
    delete running_;
  }

  // Not null: a set without programs runs none.  What was offered before and not taken is freed.
  void Offer(std::unique_ptr<ProgramSet> set) {
    delete offered_.exchange(set.release(), std::memory_order_acq_rel);
  }

  // Whether the packet thread runs the set that was offered last; frees the one before.  Then the
  // states of programs that are not in it may be freed.
  bool IsSettled() {
    const bool is_taken = offered_.load(std::memory_order_acquire) == nullptr;
    delete retired_.exchange(nullptr, std::memory_order_acquire);
    return is_taken;
  }

  // The set to run the next burst; null before the first offer.
  ProgramSet* Current() {
    if (offered_.load(std::memory_order_relaxed) != nullptr) TakeOver();
    return running_;
  }

 private:
  void TakeOver() {
    if (retired_.load(std::memory_order_relaxed) != nullptr) return;  // until it has been freed
    // First, so that whoever finds the offer taken finds this one, too.
    retired_.store(running_, std::memory_order_release);
    running_ = offered_.exchange(nullptr, std::memory_order_acq_rel);
  }

  std::atomic<ProgramSet*> offered_{nullptr};
  std::atomic<ProgramSet*> retired_{nullptr};
  ProgramSet* running_ = nullptr;  // of the packet thread
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_PROGRAM_HANDOVER_H
