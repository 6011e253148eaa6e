// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// AgentStatus: what the agent tells of itself and of the packet threads, as values.

#ifndef TRUMPET_VSWITCHD_PLUGIN_AGENT_STATUS_H
#define TRUMPET_VSWITCHD_PLUGIN_AGENT_STATUS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/tpm/monitor_counters.h"
#include "lib/tpm/packet_monitor.h"
#include "lib/tpm/step_histogram.h"
#include "lib/tpm/step_watch.h"
#include "lib/verdict/host_verdicts.h"
#include "vswitchd-plugin/glue.h"
#include "vswitchd-plugin/link_status.h"
#include "vswitchd-plugin/settings.h"
#include "vswitchd-plugin/wall_clock.h"

namespace trumpet {

inline std::string ThreadName(bool is_pmd, int core_id) {
  return is_pmd ? "pmd-c" + std::to_string(core_id) : "main";
}

struct ThreadStatus {
  int core_id = -1;
  int numa_id = -1;
  bool is_pmd = false;
  bool has_monitor = false;  // memory was taken
  bool is_attached = false;  // packets reach the monitor
  uint64_t generation = 0;   // of the program it runs; 0: none
  MonitorMemory memory;      // what it has room for
  uint64_t ring_used_bytes = 0;
  uint64_t mailbox_messages = 0;  // told by other threads and not yet taken in
  MonitorCounters counters;
  StepCounts steps;
  trumpet_thread_load load{};

  std::string name() const { return ThreadName(is_pmd, core_id); }
};

// The watchdog switched the monitor off.
struct WatchdogTrip {
  std::string thread;  // its name; empty: it is gone
  StepOverruns overruns;
};

struct AgentStatus {
  bool is_enabled = false;
  bool is_running = false;               // enabled, and there are events
  std::optional<WatchdogTrip> watchdog;  // not enabled for this reason
  Settings settings;                     // as configured
  Settings in_force;                     // sizes as they were when the first monitor was made
  bool sizes_are_fixed = false;
  std::vector<ThreadStatus> threads;
  uint64_t ended_threads = 0;
  MonitorCounters ended;    // theirs
  uint64_t generation = 0;  // of the program published last
  Nanos epoch_ns = 0;
  VerdictCounters verdicts;
  std::vector<EventStatus> events;
  uint64_t stalls = 0;           // verdicts given without waiting for a thread
  uint64_t failed_monitors = 0;  // threads that could not be given memory
  uint64_t interruptions = 0;    // times the monitor was off while events were installed
  Nanos clock_ahead_ns = 0;
  WallClockCounters clock;
  LinkStatus link;
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_AGENT_STATUS_H
