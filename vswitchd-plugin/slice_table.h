// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SliceTable: the slices that are on at this switch.  Turns them on on all packet threads at once,
// takes them away after their deadline, and tells what they were.
//
// A slice is known by its bridge and its tag, and takes packets that arrive at ports of that
// bridge.  So one that goes through several bridges, from port to port, is marked at each.
//
// The packet threads end a slice by themselves at its deadline (lib/tpm/slice_set.h); EndDue() only
// cleans up behind them.  Instants are of the monotonic clock, which packets are stamped with.
//
// Threads: locked; any thread off the packet path.  A call that changes what is on waits until no
// packet thread uses what was on before: as long as one hook takes, and at most 100 ms.

#ifndef TRUMPET_VSWITCHD_PLUGIN_SLICE_TABLE_H
#define TRUMPET_VSWITCHD_PLUGIN_SLICE_TABLE_H

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/tpm/slice_set.h"
#include "lib/wire/message.h"
#include "vswitchd-plugin/port_table.h"
#include "vswitchd-plugin/thread_monitor.h"

namespace trumpet {

// What the switch's database says that slices need.
struct SlicePlaces {
  std::map<std::string, std::vector<std::string>> ports_of;  // by bridge
  std::vector<IpBytes> analyzers;                            // where tunnels of copies may lead

  // Ports of GRE or ERSPAN lead to analyzers.
  static SlicePlaces Of(const HostFacts& facts);
};

struct SliceStatus {
  std::string bridge;
  uint32_t tag = 0;
  Nanos left = 0;  // until the deadline
  SliceCounts counts;
};

struct EndedSlice {
  HostSliceEnd end;
  Nanos first_after = 0;  // the first packet, after the slice was on
};

struct SliceTableStatus {
  std::vector<SliceStatus> on;  // as they were turned on
  uint32_t mark_base = 0;
  uint64_t turned_on = 0;
  uint64_t refused = 0;
  uint64_t packets = 0;  // of slices that have ended, as the next
  uint64_t bytes = 0;
  uint64_t withheld = 0;
  std::deque<EndedSlice> ended;  // the last few, oldest first
};

class SliceTable {
 public:
  // `ports` must outlive the table.  `on_change` is called without a lock whenever the first slice
  // comes on or the last has gone.
  SliceTable(const PortTable* ports, std::function<void()> on_change);

  void AddThread(ThreadMonitor* thread);
  void RemoveThread(ThreadMonitor* thread);  // its hooks are not called again

  void SetPlaces(SlicePlaces places);
  // Marks have `base` above the tag; for slices turned on later, as is `parse`.
  void Configure(uint32_t base, const ParseOptions& parse);
  // Not allowed: what is on ends.  As at the start.
  void Allow(bool is_allowed, Nanos now);

  Status TurnOn(SliceSpec spec, Nanos now);
  // Fine if it is not on; without a bridge, at all of them.
  void TurnOff(const std::string& bridge, uint32_t tag, Nanos now);
  void EndDue(Nanos now);

  // Those that have ended since the last call.
  std::vector<HostSliceEnd> TakeEnds();
  Nanos next_deadline() const;  // INT64_MAX: nothing is on
  bool is_any_on() const { return is_any_on_.load(); }
  SliceTableStatus Snapshot(Nanos now) const;

 private:
  using Slices = std::vector<std::shared_ptr<LiveSlice>>;

  Status Check(const SliceSpec& spec) const;
  Result<std::optional<std::vector<uint32_t>>> PortsOf(const std::string& bridge) const;
  // Puts `next` in the place of what is on, and remembers the ends of those that are gone.
  void Publish(Slices next, Nanos now);
  void NoteEnd(const LiveSlice& slice, Nanos now);
  void Tell(bool was_any_on) const;

  const PortTable* ports_;
  const std::function<void()> on_change_;
  std::atomic<bool> is_any_on_{false};

  mutable std::mutex mutex_;
  std::vector<ThreadMonitor*> threads_;
  SlicePlaces places_;
  uint32_t mark_base_ = 0;
  ParseOptions parse_;
  bool is_allowed_ = false;
  std::unique_ptr<const SliceSet> set_;  // null: nothing is on
  Slices slices_;                        // of set_
  // A packet thread that was stopped by the machine inside a hook may still use these.
  std::vector<std::unique_ptr<const SliceSet>> retired_;
  std::vector<HostSliceEnd> ends_;
  SliceTableStatus totals_;
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_SLICE_TABLE_H
