// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ThreadMonitor: what stands between a packet thread of the switch and its PacketMonitor.
//
// The packet thread only borrows a PacketMonitor: the agent makes it, shows it by a pointer, and
// can take it away at any moment without stopping the thread.  That needs two agreements:
//
//  * Visits.  The thread counts its visits and notes whether it is inside one.  Who takes something
//    away clears the pointer (or the gate) first and then waits until the thread was outside, or in
//    another visit: later visits see the change.
//  * Floor.  No packet is stamped earlier than the floor, nor than the one before.  Once a thread
//    was seen outside a hook, or in a later visit, after the floor was raised to t, it will not
//    bring packets from before t any more; nor will it when it has stamped one with t.
//
// Both are store-then-load on either side.  For a thread that comes seldom the order is
// sequentially consistent, which takes a locked instruction.  That waits for all that the driver
// has stored of a batch, so a PMD thread that comes from packets, and not from an empty round, does
// without: it enters unseen.  Who has to know passes a barrier through all threads first
// (SettledVisits()). (docs/adr/0066)
//
// Threads: OnReceive, OnSend, OnIdle, NextWakeupUs: the packet thread.  The rest: the agent, unless
// said otherwise.

#ifndef TRUMPET_VSWITCHD_PLUGIN_THREAD_MONITOR_H
#define TRUMPET_VSWITCHD_PLUGIN_THREAD_MONITOR_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lib/base/spsc_ring.h"
#include "lib/tpm/packet_monitor.h"
#include "lib/tpm/slice_set.h"
#include "vswitchd-plugin/glue.h"
#include "vswitchd-plugin/thread_programs.h"
#include "vswitchd-plugin/wall_clock.h"
#include "vswitchd-plugin/zone_map.h"

namespace trumpet {

// Shared by all packet threads of the process.
struct ThreadRules {
  std::atomic<bool> is_open{false};  // the kill switch: closed, no thread touches its monitor
  std::atomic<bool> is_safe{true};   // likewise, closed by the watchdog on a packet thread
  std::atomic<Nanos> floor_ns{INT64_MIN};
  WallClock clock;
};

// What a packet thread works with; swapped as a whole, never changed while shown.
struct LiveView {
  PacketMonitor* monitor = nullptr;
  const ZoneMap* zones = nullptr;
  ParseOptions parse;
};

class ThreadMonitor {
 public:
  // `rules` must outlive the thread.
  ThreadMonitor(const trumpet_thread_info& info, const ThreadRules& rules);

  // --- packet thread -------------------------------------------------------
  // As trumpet_rx_batch() of glue.h.
  bool OnReceive(const trumpet_frame* frames, size_t count, uint32_t in_port, int64_t now_us,
                 uint32_t* marks, uint16_t queue_length = 0);
  // As trumpet_tx_batch().
  void OnSend(trumpet_sent_frame* frames, size_t count, uint32_t out_port, int64_t now_us);
  // Whether OnSend() has anything to do.
  bool wants_sent() const { return wants_sent_.load(std::memory_order_relaxed); }
  bool wants_queue_length() const { return wants_queue_length_.load(std::memory_order_relaxed); }
  void OnIdle(int64_t now_us);
  // As of the last OnIdle(), which the switch always calls first.
  int64_t NextWakeupUs() const { return next_wakeup_us_; }

  // --- agent ---------------------------------------------------------------
  // Shows what to work with; null takes it away.  `view` must live until a later view was Left().
  void Show(const LiveView* view) { view_.store(view, std::memory_order_seq_cst); }
  // Likewise the slices that are on, on the monotonic clock; null: none.  They work whether a
  // monitor is shown or not.
  void ShowSlices(const SliceSet* slices) { slices_.store(slices, std::memory_order_seq_cst); }
  // Likewise the thread's measurement programs; null: none.
  void ShowPrograms(ThreadPrograms* programs) {
    programs_.store(programs, std::memory_order_seq_cst);
  }
  void WantSent(bool wants) { wants_sent_.store(wants, std::memory_order_relaxed); }
  // The oldest request (lib/measure/request_frame.h) among the packets that the switch itself has
  // sent; false: there is none.  One thread.
  bool ReadRequest(std::vector<uint8_t>* frame);
  void WantQueueLength(bool wants) { wants_queue_length_.store(wants, std::memory_order_relaxed); }
  // Which visit the thread is in or was in last; every later one sees what the caller stored before
  // this.  None: it cannot be known now.  Any thread.
  std::optional<uint64_t> SettledVisits() const;
  // Whether that visit is the last one known without a barrier; the thread may have left it since.
  bool SeemsIn(uint64_t visit) const { return visits() == visit; }
  static bool IsInside(uint64_t visits) { return (visits & kInside) != 0; }
  // The latest stamp given to a packet or idle call.  What was stamped earlier has been seen.
  Nanos last_stamp_ns() const { return last_stamp_ns_.load(std::memory_order_acquire); }
  // Only after the view was taken away and left.
  void ResetStamps() { last_stamp_ns_.store(INT64_MIN, std::memory_order_relaxed); }

  // --- any thread ----------------------------------------------------------
  bool is_shown() const { return view_.load(std::memory_order_relaxed) != nullptr; }
  int core_id() const { return info_.core_id; }
  int numa_id() const { return info_.numa_id; }
  bool is_pmd() const { return info_.is_pmd; }
  const void* switch_thread() const { return info_.thread; }

 private:
  class Visit;
  friend bool WaitUntilLeft(ThreadMonitor* const* threads, size_t count);

  // Of visits_; the others count.
  static constexpr uint64_t kInside = 1;
  static constexpr uint64_t kEntersUnseen = 2;  // the next visit
  static constexpr uint64_t kFlags = kInside | kEntersUnseen;

  uint64_t visits() const { return visits_.load(std::memory_order_seq_cst); }
  // Was every visit that may have begun before `seen` was read left since?
  bool HasLeft(uint64_t seen) const { return !IsInside(seen) || visits() != seen; }
  Nanos Stamp(int64_t now_us);
  void KeepRequests(const trumpet_sent_frame* frames, size_t count);
  void Count(const LiveView& view, const Frame* frames, int count, uint32_t in_port, Nanos now);
  void OnReceiveByZone(const LiveView& view, const Frame* frames, int count, uint32_t in_port,
                       Nanos now);

  const trumpet_thread_info info_;
  const ThreadRules& rules_;
  const bool may_enter_unseen_;
  alignas(64) std::atomic<uint64_t> visits_{0};
  std::atomic<Nanos> last_stamp_ns_{INT64_MIN};
  int64_t next_wakeup_us_ = TRUMPET_WAKEUP_NEVER;
  alignas(64) std::atomic<const LiveView*> view_{
      nullptr};  // written by the agent, as the next: a line of their own
  std::atomic<const SliceSet*> slices_{nullptr};
  std::atomic<ThreadPrograms*> programs_{nullptr};
  std::atomic<bool> wants_queue_length_{false};
  std::atomic<bool> wants_sent_{false};
  // Packet-outs are sent by the main thread, or for it; null: a PMD thread.
  const std::unique_ptr<SpscRing> requests_;
};

// Waits until every visit that may have begun before was left: then what was taken away is not
// used any more.  False: one was not within 100 ms.  Takes no memory, so that who calls it keeps
// what the threads may still use.
bool WaitUntilLeft(ThreadMonitor* const* threads, size_t count);
bool WaitUntilLeft(const std::vector<ThreadMonitor*>& threads);

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_THREAD_MONITOR_H
