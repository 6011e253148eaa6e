// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// LoopWorker: does what would delay a libevent loop (files, databases) on a thread of its own, one
// job after the other, and brings what came of it back to the loop.
//
//   worker.Do([rows] {
//     const Status status = store->Append(rows);   // on the thread
//     return [status] { Note(status); };           // in the loop
//   });
//
// Threads: all calls from that of the loop.  Memory: at most `max_waiting` jobs.
// Lifetime: its end waits for the jobs that it has taken; what they leave for the loop then does
// not come any more.

#ifndef TRUMPET_LIB_BASE_LOOP_WORKER_H
#define TRUMPET_LIB_BASE_LOOP_WORKER_H

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "lib/base/job_thread.h"

struct event;
struct event_base;

namespace trumpet {

class LoopWorker {
 public:
  using Then = std::function<void()>;  // may be empty
  using Job = std::function<Then()>;

  LoopWorker(event_base* base, size_t max_waiting);
  ~LoopWorker();
  LoopWorker(const LoopWorker&) = delete;
  LoopWorker& operator=(const LoopWorker&) = delete;

  // False, and nothing is done: too many wait already.
  bool Do(Job job);
  // However many wait: for what the caller bounds itself.
  void DoInAnyCase(Job job);

 private:
  bool DoUnless(Job job, size_t max_waiting);
  void Bring(Then then);  // on the thread
  void Deliver();         // in the loop

  const size_t max_waiting_;
  int doorbell_ = -1;
  event* wake_ = nullptr;
  std::mutex mutex_;
  std::vector<Then> done_;
  std::optional<JobThread> thread_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_LOOP_WORKER_H
