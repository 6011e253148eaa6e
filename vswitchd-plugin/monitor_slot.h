// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MonitorSlot: a packet thread as the agent sees it: its hooks, the monitor lent to it, and up to
// which instant everything it saw has been delivered.
//
// While the monitor is hidden from the thread, the agent stands in for the thread: it lets time
// pass and runs the sweep itself (StandIn()), so that what was counted before is still delivered.
//
// Threads: the agent, unless said otherwise.

#ifndef TRUMPET_VSWITCHD_PLUGIN_MONITOR_SLOT_H
#define TRUMPET_VSWITCHD_PLUGIN_MONITOR_SLOT_H

#include <atomic>
#include <memory>
#include <optional>

#include "lib/tpm/packet_monitor.h"
#include "vswitchd-plugin/thread_monitor.h"
#include "vswitchd-plugin/zone_map.h"

namespace trumpet {

class MonitorSlot {
 public:
  // `since` is the monotonic instant at which the thread came.
  MonitorSlot(const trumpet_thread_info& info, const ThreadRules& rules, Nanos since);
  ~MonitorSlot();
  MonitorSlot(const MonitorSlot&) = delete;
  MonitorSlot& operator=(const MonitorSlot&) = delete;

  ThreadMonitor& thread() { return thread_; }
  const ThreadMonitor& thread() const { return thread_; }
  PacketMonitor* monitor() const { return monitor_.get(); }  // null: not monitored
  bool is_shown() const { return view_ != nullptr; }

  // What the thread's monitors did, this one and those before it.
  MonitorCounters counters() const;

  // Only while hidden.
  void SetMonitor(std::unique_ptr<PacketMonitor> monitor);

  // Lets the thread work with the monitor, which must be there, from now on.  Shown already:
  // changes over.
  void Show(const ZoneMap& zones, const ParseOptions& parse);

  // Takes the monitor away; returns once the thread does not touch it any more, which takes as long
  // as one hook.
  void Hide();

  // Sweeps all epochs that ended by `now` and hands everything to `sink`.  Hidden only.
  void StandIn(Nanos now, DeliverySink* sink);

  // Nothing of what the thread counted is still on its way.
  bool is_empty() const { return monitor_ == nullptr || monitor_->clean_until() == INT64_MAX; }

  // The thread will bring no packet from before the answer, at most `target`, which is the floor
  // that was set last.
  Nanos PassedUntil(Nanos target);

  // Everything that the thread saw before the answer, or was told by other threads, is in the ring.
  // `passed` is what all of them have passed.
  Nanos CleanUntil(Nanos passed);

  // Forgets all times: the clock was set back.  Hidden only; the monitor must be gone.
  void ResetTimes();

  // The thread is no more: its hooks will not be called again.  Any thread.
  void MarkEnded() { has_ended_.store(true, std::memory_order_release); }
  bool has_ended() const { return has_ended_.load(std::memory_order_acquire); }

  // Making a monitor failed; not tried again until the next start.
  void set_failed(bool failed) { has_failed_ = failed; }
  bool has_failed() const { return has_failed_; }
  Nanos since_monotonic_ns() const { return since_monotonic_ns_; }

 private:
  struct View;

  void WaitUntilLeft();

  const ThreadRules& rules_;
  ThreadMonitor thread_;
  std::unique_ptr<PacketMonitor> monitor_;
  std::unique_ptr<View> view_;
  MonitorCounters ended_;                  // of monitors before this one
  Nanos passed_floor_ = INT64_MIN;         // no packet from before this will come any more
  Nanos pending_floor_ = INT64_MIN;        // passed as soon as the visit below is over
  std::optional<uint64_t> pending_visit_;  // in which the thread was
  Nanos settled_until_ = INT64_MIN;        // what others told of the time before is in the ring
  Nanos pending_settled_ = INT64_MIN;      // settled as soon as so many messages are
  uint64_t pending_messages_ = 0;          // 0: none
  const Nanos since_monotonic_ns_;
  bool has_failed_ = false;
  std::atomic<bool> has_ended_{false};
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_MONITOR_SLOT_H
