// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PacketThread: the part of PacketMonitor that only the packet thread touches.
//
// Epochs: [start, end) in Unix time, never across a multiple of the program's epoch length.  While
// epoch n is counted in one bank of each flow's cells, epoch n-1 is swept out of the other (paper,
// section 5.3). If that sweep is not done when n should end, n goes on and is marked kSweepSkipped.
//
// Threads: one.  Never allocates after Init().

#ifndef TRUMPET_LIB_TPM_PACKET_THREAD_H
#define TRUMPET_LIB_TPM_PACKET_THREAD_H

#include <cstdint>
#include <memory>

#include "lib/base/hash.h"
#include "lib/base/page_buffer.h"
#include "lib/base/status.h"
#include "lib/tpm/connection_table.h"
#include "lib/tpm/flow_table.h"
#include "lib/tpm/generation.h"
#include "lib/tpm/packet_monitor.h"
#include "lib/tpm/sweep.h"

namespace trumpet {

class PacketThread {
 public:
  PacketThread(const MonitorOptions& options, SpscRing* ring);
  Status Init();

  // Where the frames of a batch came from.
  struct Arrival {
    bool has_in_port = false;
    uint32_t in_port = 0;
    uint16_t zone = 0;
    Nanos now = 0;
  };
  void OnBatch(const Frame* frames, int count, const Arrival& arrival);
  bool OnIdle(Nanos now);
  void CloseEpoch(Nanos now);
  void NoteGap(Nanos until) { connections_.ForgetTcpBefore(until); }

  // Makes `next` the running generation; the call comes when the time reaches its instant, with
  // `now`.  Returns the generation that is no longer used (may be null).  False in `*done`: the
  // sweep of the last epoch is in the way, try again.
  std::unique_ptr<Generation> TakeOver(std::unique_ptr<Generation> next, Nanos now, bool* done);

  bool has_program() const { return running_ != nullptr; }
  uint64_t running_generation() const { return running_ ? running_->program->generation() : 0; }
  Nanos next_work_ns() const;

  // As PacketMonitor::clean_until().
  Nanos clean_until() const;

  void FillCounters(MonitorCounters* counters) const;

 private:
  static constexpr int kChunk = 32;

  // A packet between the passes over a chunk.
  struct Slot {
    ParsedPacket packet;
    FlowKey entry_key;
    FlowKey flow;  // only if is_tracked
    uint64_t hash = 0;
    uint64_t connection_hash = 0;
    FlowIndex guess = kNoFlow;  // by the tag alone
    bool is_tracked = false;
  };

  void AdvanceTo(Nanos now);
  bool CloseCurrentEpoch(Nanos end);
  void BeginEpoch(Nanos start);
  void ProcessChunk(const Frame* frames, int count, const Arrival& arrival);
  [[gnu::always_inline]] void Prepare(const Frame& frame, const Arrival& arrival, int i);
  [[gnu::always_inline]] uint64_t HashOf(const FlowKey& entry_key) const;
  [[gnu::always_inline]] void Guess(int i);
  [[gnu::always_inline]] void Process(int i, Nanos now);
  void ProcessTracked(FlowIndex flow, Slot* slot, Nanos now);
  [[gnu::always_inline]] FlowIndex FindOrAddFlow(int i);
  FlowIndex AddFlow(int i);
  [[gnu::always_inline]] void Touch(FlowIndex flow, FlowEntry* entry, const Generation& generation);
  [[gnu::always_inline]] void CountPacket(FlowIndex flow, const Slot& slot,
                                          const PacketFacts& facts);
  void CountSample(const RttSample& sample);
  void SweepUnderLoad(Nanos now);
  Generation* GenerationOf(const FlowEntry& entry) const;
  [[gnu::always_inline]] uint64_t* BankOf(const Generation& generation, FlowEntry& entry);
  uint8_t* ExtensionOf(int i) { return extensions_ + static_cast<size_t>(i) * kMaxExtensionBytes; }
  uint32_t OldestPendingEpoch() const;
  // Of the current epoch.
  bool has_undelivered() const { return epoch_packets_ != 0 || epoch_reasons_ != 0; }

  const MonitorOptions options_;
  const PairHash pair_hash_;
  FlowTable flows_;
  ConnectionTable connections_;
  Sweep sweep_;
  std::unique_ptr<Generation> running_;
  std::unique_ptr<Generation> previous_;

  EpochSpan epoch_;
  uint32_t epoch_number_ = FlowTable::kFirstEpoch;  // sequence; the lowest bit is the bank
  uint32_t epoch_reasons_ = 0;                      // IncompleteReason bits of the current epoch
  uint64_t epoch_packets_ = 0;
  PageBuffer<FlowIndex> touched_[2];  // per bank: flows touched in the epoch
  uint32_t touched_count_[2] = {0, 0};
  uint64_t evicted_before_ = 0;  // connections given up before this epoch
  Nanos now_ = INT64_MIN;
  Nanos last_packet_ns_ = INT64_MIN;
  Nanos last_step_ = INT64_MIN / 2;  // far in the past, yet safe to subtract from
  MonitorCounters counters_;

  Slot slots_[kChunk];
  alignas(8) uint8_t extensions_[kChunk * kMaxExtensionBytes];
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_PACKET_THREAD_H
