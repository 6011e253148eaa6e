// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// JobThread: a thread that does jobs one after the other.
//
// Threads: any may call Do().  Memory: the jobs that wait.
// Lifetime: its end waits for the jobs that it has taken.

#ifndef TRUMPET_LIB_BASE_JOB_THREAD_H
#define TRUMPET_LIB_BASE_JOB_THREAD_H

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace trumpet {

class JobThread {
 public:
  using Job = std::function<void()>;

  JobThread() : thread_([this] { Run(); }) {}
  ~JobThread();
  JobThread(const JobThread&) = delete;
  JobThread& operator=(const JobThread&) = delete;

  // False, and nothing is done: `max_waiting` wait already.
  bool Do(Job job, size_t max_waiting);

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool is_ending_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_JOB_THREAD_H
