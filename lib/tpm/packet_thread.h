// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PacketThread: the part of PacketMonitor that only the packet thread touches.
//
// Epochs: [start, end) in Unix time, never across a multiple of the program's epoch length.  While
// epoch n is counted in one bank of each flow's cells, epoch n-1 is swept out of the other (paper,
// section 5.3). If that sweep is not done when n should end, n goes on to the end of the next and
// is marked kSweepSkipped: what it counted is reported in the interval of its beginning, and
// neither this one nor those that it goes on into are complete.
//
// Steps: all that is not the work of a packet comes in steps of at most the budget, timed by a
// StepWatch: in idle time, or between two batches.
//
// Threads: one.  Never allocates after Init().

#ifndef TRUMPET_LIB_TPM_PACKET_THREAD_H
#define TRUMPET_LIB_TPM_PACKET_THREAD_H

#include <algorithm>
#include <cstdint>
#include <memory>

#include "lib/base/status.h"
#include "lib/tpm/connection_table.h"
#include "lib/tpm/epoch_state.h"
#include "lib/tpm/flood_relief.h"
#include "lib/tpm/flow_table.h"
#include "lib/tpm/generation.h"
#include "lib/tpm/match_scatter.h"
#include "lib/tpm/next_flows.h"
#include "lib/tpm/packet_monitor.h"
#include "lib/tpm/step_watch.h"
#include "lib/tpm/sweep.h"

namespace trumpet {

class PacketThread {
 public:
  // The memory comes from `source`, which is not used later.
  PacketThread(const MonitorOptions& options, SpscRing* ring, PageSource* source);
  Status Init(PageSource* source);
  // What both take.
  static size_t BytesFor(const MonitorOptions& options);

  // False if no counters changed beyond the first kBatchCounters.
  bool OnBatch(const Frame* frames, int count, const Arrival& arrival);
  bool OnIdle(Nanos now);
  // OnIdle() by another thread, which takes its time: not timed, until done or the ring is full.
  bool StandIn(Nanos now);
  void CloseEpoch(Nanos now);
  void NoteGap(Nanos until) { connections_.ForgetTcpBefore(until); }

  // Makes `next` the running generation; the call comes when the time reaches its instant, with
  // `now`.  Returns the generation that is no longer used (may be null).  False in `*done`: the
  // sweep of the last epoch is in the way, try again.
  std::unique_ptr<Generation> TakeOver(std::unique_ptr<Generation> next, Nanos now, bool* done);

  // The packets until `now` were counted without a program to come to which those from `owed` on
  // belong.
  void NoteOwed(Nanos owed, Nanos now);

  // Does some of the work of TakeOver() before its time, with packets that OnBatch() has counted.
  void Prepare(Generation* next, const Frame* frames, int count, const Arrival& arrival);

  bool has_program() const { return running_ != nullptr; }
  uint64_t running_generation() const { return running_ ? running_->program->generation() : 0; }
  Nanos next_work_ns() const;
  // Whether there is something to do; also when the clock was set back.
  bool has_work(Nanos now) const { return next_work_ns() <= std::max(now_, now); }

  // As PacketMonitor::clean_until().
  Nanos clean_until() const;

  void FillCounters(MonitorCounters* counters) const;
  // The first kBatchCounters are up to date.
  const MonitorCounters& batch_counters() const { return counters_; }

  // What times the steps, for work that belongs to one and is done elsewhere.
  StepWatch& watch() { return watch_; }
  const StepWatch& watch() const { return watch_; }

  PeerLink& peers() { return phase_one_.tracked().peers(); }
  const PeerLink& peers() const { return phase_one_.tracked().peers(); }

 private:
  bool TakeInPeers(Nanos until);
  bool TakeInPeersOfEpoch();
  void AdvanceTo(Nanos now);
  void EndEpochs();
  bool CloseCurrentEpoch(Nanos end);
  void BeginEpoch(Nanos start);
  void CloseNow();
  void UpdateOldestPending();
  void DecideOnRelief(int64_t cell);
  void WithholdBatch(const Frame* frames, int count);
  bool SweepUnderLoad(Nanos now);
  bool RunStep(Nanos now, bool is_bounded);
  uint16_t NextNumber() const {
    return running_ == nullptr ? 1 : static_cast<uint16_t>(running_->number + 1);
  }
  bool HasStepAt(Nanos now) const {
    return sweep_.is_active() || (running_ != nullptr && now >= epoch_.span.end);
  }
  // Of the current epoch.
  bool has_undelivered() const { return epoch_.packets != 0 || epoch_.reasons != 0; }

  // The packet thread comes by at `now`.
  void Meet(Nanos now) {
    // Unsigned, so that no two instants are too far apart to subtract.
    const uint64_t away = static_cast<uint64_t>(now) - static_cast<uint64_t>(now_);
    if (__builtin_expect(away > static_cast<uint64_t>(pause_limit_ns_), 0)) NotePause(now, away);
    now_ = std::max(now_, now);
  }
  void NotePause(Nanos now, uint64_t away);

  const MonitorOptions options_;
  FlowTable flows_;
  ConnectionTable connections_;
  Sweep sweep_;
  StepWatch watch_;
  const Nanos pause_limit_ns_;  // longer from one call to the next
  std::unique_ptr<Generation> running_;
  std::unique_ptr<Generation> previous_;

  EpochState epoch_;
  bool is_closing_ = false;        // as soon as the sweep is done
  bool changes_are_late_ = false;  // of TCP state: an older epoch's are still being read
  uint64_t evicted_before_ = 0;    // connections given up before this epoch
  Nanos now_ = INT64_MIN;
  Nanos last_packet_ns_ = INT64_MIN;
  Nanos last_step_ = INT64_MIN;
  MonitorCounters counters_;
  uint32_t lot_ = 1;  // draws the batches whose cycles are counted
  FloodRelief relief_;
  EpochLoad loads_before_;  // sums of all epochs before this one
  MatchScatter phase_one_;
  NextFlows next_flows_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_PACKET_THREAD_H
