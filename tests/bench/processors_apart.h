// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Two processes that run on machines of their own in life, and on one here: as long as this lives,
// ours has the first processor, the main thread of the other the rest.  With one processor only
// nothing changes.

#ifndef TRUMPET_TESTS_BENCH_PROCESSORS_APART_H
#define TRUMPET_TESTS_BENCH_PROCESSORS_APART_H

#include <sched.h>
#include <sys/types.h>

namespace trumpet {

class ProcessorsApart {
 public:
  explicit ProcessorsApart(pid_t other) {
    if (sched_getaffinity(0, sizeof(before_), &before_) != 0 || CPU_COUNT(&before_) < 2) return;
    cpu_set_t rest = before_;
    cpu_set_t first;
    CPU_ZERO(&first);
    int processor = 0;
    while (!CPU_ISSET(processor, &before_)) ++processor;
    CPU_SET(processor, &first);
    CPU_CLR(processor, &rest);
    is_apart_ = sched_setaffinity(0, sizeof(first), &first) == 0 &&
                sched_setaffinity(other, sizeof(rest), &rest) == 0;
  }
  ~ProcessorsApart() {
    if (is_apart_) sched_setaffinity(0, sizeof(before_), &before_);
  }
  ProcessorsApart(const ProcessorsApart&) = delete;
  ProcessorsApart& operator=(const ProcessorsApart&) = delete;

  bool is_apart() const { return is_apart_; }

 private:
  cpu_set_t before_;
  bool is_apart_ = false;
};

}  // namespace trumpet

#endif  // TRUMPET_TESTS_BENCH_PROCESSORS_APART_H
