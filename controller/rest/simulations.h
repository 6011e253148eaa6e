// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Simulations: events run over a client's capture by trumpet-replay, in a process of its own.
//
// The process has its own group, limits of processor time, memory and open files, may write no
// file, has a low priority, and dies with us.  What it reads are files in memory, so nothing is
// left behind.  At most max_running at once; others are refused.
//
// Threads: that of the libevent loop; nothing blocks: the capture is copied bit by bit.
// Memory: each holds the capture once, and at most max_output_bytes of what it prints.
// Lifetime: its end kills what runs, and drops calls back.

#ifndef TRUMPET_CONTROLLER_REST_SIMULATIONS_H
#define TRUMPET_CONTROLLER_REST_SIMULATIONS_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "controller/rest/http_request.h"
#include "lib/base/loop_event.h"
#include "lib/base/status.h"
#include "lib/base/units.h"

struct event_base;

namespace trumpet {

struct SimulationOptions {
  std::string program;  // trumpet-replay; empty: simulations are refused
  size_t max_running = 2;
  Nanos max_duration = 60 * kNanosPerSecond;
  uint64_t max_cpu_s = 60;
  uint64_t max_memory_bytes = uint64_t{2} << 30;  // of address space; 0: no limit
  size_t max_output_bytes = 16 * 1024 * 1024;
};

struct SimulationResult {
  int exit_status = 0;       // of trumpet-replay; -1: killed
  std::string output;        // reports, one JSON object a line
  std::string messages;      // what it said of what was wrong
  bool is_cut = false;       // there was more output than is kept
  bool is_too_long = false;  // it took longer than it may
};

struct SimulationCounters {
  uint64_t started = 0;
  uint64_t refused = 0;
  uint64_t killed = 0;  // by us, for time or output
  uint64_t failed = 0;  // ended otherwise than by itself, with 0 or 1
};

class Simulations {
 public:
  using Done = std::function<void(SimulationResult)>;

  Simulations(event_base* base, SimulationOptions options);
  ~Simulations();
  Simulations(const Simulations&) = delete;
  Simulations& operator=(const Simulations&) = delete;

  // Why there is no program to run, as far as can be told before.
  Status CanRun() const;
  bool is_full() const;
  // Counts one that is not begun as it is; why.
  Status Refuse();
  size_t running_count() const { return runs_.size(); }
  const SimulationCounters& counters() const { return counters_; }
  const SimulationOptions& options() const { return options_; }

  // Returns a number to cancel it by.
  Result<uint64_t> Start(const std::string& events_yaml, Evbuffer capture, Done done);
  // Kills it; `done` is not called.
  void Cancel(uint64_t number);

 private:
  class Run;

  void Reap();

  event_base* const base_;
  const SimulationOptions options_;
  std::list<std::unique_ptr<Run>> runs_;
  uint64_t last_number_ = 0;
  SimulationCounters counters_;
  LoopEvent reaper_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_SIMULATIONS_H
