// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// How the memory of a packet thread is divided, and where it is taken.

#ifndef TRUMPET_VSWITCHD_PLUGIN_MONITOR_MEMORY_H
#define TRUMPET_VSWITCHD_PLUGIN_MONITOR_MEMORY_H

#include <cstdint>

#include "lib/base/status.h"
#include "lib/tpm/packet_monitor.h"
#include "vswitchd-plugin/settings.h"

namespace trumpet {

// The options of a monitor: sizes from `memory` (those that count from the first monitor on), the
// rest from `now`.  Everything together stays within memory.memory_mb, for which flows,
// connections and ring are lowered where they ask for more.
MonitorOptions MonitorOptionsOf(const Settings& memory, const Settings& now, uint64_t hash_seed);

ParseOptions ParseOptionsOf(const Settings& settings);

// What one more takes, its share of the index included.
uint64_t BytesPerFlow();
uint64_t BytesPerConnection();
constexpr uint64_t kBytesPerHistoryRecord = 32;

// An error if the machine would have to take `bytes` from others, and might stop one of them: the
// memory of a monitor is written at once.
Status CheckMachineHas(uint64_t bytes);

// While it lives, pages that this thread touches first are taken from the NUMA node `node`, if it
// has any left.  Negative: no preference.
class MemoryPreference {
 public:
  explicit MemoryPreference(int node);
  ~MemoryPreference();
  MemoryPreference(const MemoryPreference&) = delete;
  MemoryPreference& operator=(const MemoryPreference&) = delete;

 private:
  bool is_set_ = false;
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_MONITOR_MEMORY_H
