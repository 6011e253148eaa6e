// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PerfTable: what the monitor costs each packet thread, since the last time it was asked.
//
// The cycles are those of the time stamp counter, as Open vSwitch counts them, so the share is of
// the thread's whole time; the switch's own work is what remains of the busy cycles.
//
// Steps are what the monitor does outside the work of a packet: sweeps, ends of epochs, changes of
// events.  Percentiles are at most 6 % too high.

#ifndef TRUMPET_VSWITCHD_PLUGIN_PERF_TABLE_H
#define TRUMPET_VSWITCHD_PLUGIN_PERF_TABLE_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lib/base/units.h"
#include "vswitchd-plugin/agent_status.h"

namespace trumpet {

class PerfTable {
 public:
  // Takes the next reading and tells what happened since the last one (the first time: since the
  // threads started).
  std::string Show(const std::vector<ThreadStatus>& threads, Nanos now, bool as_json);

 private:
  struct Reading {
    uint64_t packets = 0;
    uint64_t batches = 0;
    uint64_t batch_cycles = 0;
    uint64_t sweep_cycles = 0;
    uint64_t busy_cycles = 0;
    uint64_t idle_cycles = 0;
    uint64_t rx_packets = 0;
    StepCounts steps;
  };
  static Reading ReadingOf(const ThreadStatus& thread);
  static Reading Since(const Reading& before, const Reading& now);

  std::map<std::string, Reading> last_;
  Nanos last_time_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_PERF_TABLE_H
