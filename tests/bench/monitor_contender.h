// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MonitorContender: PacketMonitor as the switch runs it, an idle call before each batch, and an
// agent that adds up what it delivers.
//
// Threads: one.  The agent's part runs outside of the measured time.

#ifndef TRUMPET_TESTS_BENCH_MONITOR_CONTENDER_H
#define TRUMPET_TESTS_BENCH_MONITOR_CONTENDER_H

#include <memory>
#include <vector>

#include "lib/model/event_spec.h"
#include "lib/tpm/packet_monitor.h"
#include "tests/bench/contender.h"
#include "tests/bench/summing_sink.h"
#include "tests/bench/workload.h"

namespace trumpet::bench {

class MonitorContender : public Contender {
 public:
  // Tables for twice as many flows, at least for as many as in the switch.  The admission filter is
  // for attacks: without one, every packet must be counted.  The first `installed` events are from
  // the beginning on.  Null and a line on stderr when there is no memory.
  static std::unique_ptr<MonitorContender> Make(const std::vector<EventSpec>& events,
                                                uint32_t flows, bool has_filter = false,
                                                size_t installed = SIZE_MAX);

  void OnBatch(const Frame* frames, Nanos now) override {
    last_ = now;
    if (paused_at_ != 0) EndPause();
    monitor_->OnIdle(now);
    for (int i = 0; i < kBatch; i += batch_) {
      monitor_->OnBatch(frames + i, batch_, false, 0, 0, now);
    }
  }
  uint32_t packets_per_drain() const override { return packets_per_drain_; }
  void OutsideEpoch() override;
  void Finish() override;
  const TriggerCounts* counts() const override { return &counts_; }
  Json Facts() const override;

  // From `from` on: the first `count` of the events.  False and a line on stderr when it fails.
  bool Install(size_t count, Nanos from);
  // What that takes, without handing anything over.
  void CompileOnly(size_t count);

  // Frames per call, a divisor of kBatch.  Idle calls stay as many.
  void set_batch(int batch) { batch_ = batch; }

  // For those who call monitor() themselves: the time of its last packet.
  void NoteTime(Nanos now) { last_ = now; }

  PacketMonitor& monitor() { return *monitor_; }
  SummingSink& sink() { return sink_; }

 private:
  MonitorContender() = default;
  std::shared_ptr<const TriggerProgram> Compile(size_t count, Nanos from);
  void EndPause();

  std::unique_ptr<PacketMonitor> monitor_;
  HostVerdicts::Plans plans_;
  uint64_t generation_ = 0;
  SummingSink sink_;
  TriggerCounts counts_;
  Nanos last_ = 0;
  uint64_t paused_at_ = 0;  // while others have their turn; 0: not
  int batch_ = kBatch;
  uint32_t packets_per_drain_ = kEpochPackets;
};

// The rest of Facts(), for runs of their own.
Json MonitorFacts(const MonitorCounters& counters);

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_MONITOR_CONTENDER_H
