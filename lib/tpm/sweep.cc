// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/sweep.h"

#include <time.h>

#include <algorithm>

#include "lib/model/bucket_key.h"
#include "lib/model/report.h"

namespace trumpet {
namespace {

// Work is counted in triggers handed on; adding up a flow is as much as one.
constexpr int kWorkPerClockRead = 32;
constexpr uint32_t kTriggersPerItem = 16;
constexpr uint32_t kPrefetchAhead = 8;

Nanos MonotonicNow() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kNanosPerSecond + time.tv_nsec;
}

}  // namespace

void Sweep::Start(const SweepJob& job) {
  job_ = job;
  stage_ = Stage::kFlows;
  next_flow_ = 0;
  next_trigger_ = 0;
  next_place_ = nullptr;
  holds_state_ = false;
  for (Generation* generation : {job_.running, job_.previous}) {
    if (generation == nullptr) continue;
    generation->touched_sets = kNoSet;
    generation->touched_whole_buckets.clear();
  }
}

void Sweep::Step(Nanos budget_ns) {
  counters_.steps++;
  const bool is_bounded = budget_ns != INT64_MAX;
  const Nanos stop = is_bounded ? MonotonicNow() + budget_ns : 0;
  is_blocked_ = false;
  while (is_active()) {
    for (work_ = 0; work_ < kWorkPerClockRead && is_active(); work_++) {
      if (!Advance()) {
        is_blocked_ = true;
        return;
      }
    }
    if (is_bounded && MonotonicNow() >= stop) return;
  }
}

void Sweep::Abandon() {
  if (!is_active()) return;
  counters_.dropped += std::max<uint32_t>(1, job_.flow_count - next_flow_);
  ReportLater(job_.epoch, job_.reasons | kRingFull);
  stage_ = Stage::kDone;
  is_blocked_ = false;
}

void Sweep::ReportLater(const EpochSpan& span, uint32_t reasons) {
  unreported_.start = has_unreported() ? std::min(unreported_.start, span.start) : span.start;
  unreported_.end = has_unreported() ? std::max(unreported_.end, span.end) : span.end;
  unreported_reasons_ |= reasons;
}

bool Sweep::Advance() {
  switch (stage_) {
    case Stage::kFlows:
      if (next_flow_ == job_.flow_count) {
        stage_ = Stage::kSets;
        return true;
      }
      return SweepFlow(job_.flows[next_flow_]);
    case Stage::kSets:
      SweepSet();
      return true;
    case Stage::kWholeBuckets:
      return SweepWholeBucket();
    case Stage::kFlowStates:
      return SweepFlowState();
    case Stage::kEpochEnd:
      if (has_unreported()) {
        if (!DeliverEpochEnd(ring_, unreported_, unreported_reasons_)) return false;
        unreported_reasons_ = 0;
      }
      if (!DeliverEpochEnd(ring_, job_.epoch, job_.reasons)) return false;
      stage_ = Stage::kDone;
      return true;
    case Stage::kDone:
      return true;
  }
  return true;
}

Generation* Sweep::GenerationOf(const FlowEntry& entry) const {
  if (job_.running->number == entry.generation) return job_.running;
  if (job_.previous != nullptr && job_.previous->number == entry.generation) return job_.previous;
  return nullptr;
}

// The entries, and a little later the cells that they point at.
void Sweep::PrefetchFlows() const {
  if (next_flow_ + 2 * kPrefetchAhead < job_.flow_count) {
    __builtin_prefetch(&flows_->At(job_.flows[next_flow_ + 2 * kPrefetchAhead]));
  }
  if (next_flow_ + kPrefetchAhead < job_.flow_count) {
    const FlowEntry& entry = flows_->At(job_.flows[next_flow_ + kPrefetchAhead]);
    __builtin_prefetch(flows_->BlockOf(entry));
  }
}

// Goes on to the next flow when this one is done.
bool Sweep::SweepFlow(FlowIndex flow) {
  PrefetchFlows();
  const FlowEntry& entry = flows_->At(flow);
  Generation* generation = GenerationOf(entry);
  if (generation != nullptr) {
    const TriggerSet& set = generation->sets.At(entry.set);
    const uint8_t* cells = flows_->BlockOf(entry) + generation->program->layout().extension_bytes();
    const uint32_t bank_number = job_.number & 1;
    const auto* bank = reinterpret_cast<const uint64_t*>(cells) + bank_number * set.word_count;
    const bool is_unscaled = (entry.unscaled >> bank_number & 1) != 0;
    if (set.whole_count != set.trigger_count) {
      if (!DeliverFlow(generation, set, entry, bank, is_unscaled)) return false;
      if (next_trigger_ != set.trigger_count) return true;
    }
    if (set.whole_count != 0) AddToSet(generation, entry, bank, is_unscaled);
  } else {
    // An RTT sample of a flow that two changes of program in one epoch left behind.
    job_.reasons |= kMonitorInterrupted;
  }
  counters_.flows++;
  next_flow_++;
  next_trigger_ = 0;
  next_place_ = nullptr;
  return true;
}

// The triggers with granularity, some of them at a time, from `next_trigger_` on.
bool Sweep::DeliverFlow(Generation* generation, const TriggerSet& set, const FlowEntry& entry,
                        const uint64_t* bank, bool is_unscaled) {
  if (next_trigger_ == 0) next_place_ = set.places;
  const KeyLayout& layout = generation->program->layout();
  const uint8_t* block = flows_->BlockOf(entry);
  const uint32_t end = std::min(next_trigger_ + kTriggersPerItem, set.trigger_count);
  for (; next_trigger_ < end; next_trigger_++) {
    const uint32_t trigger = set.triggers[next_trigger_];
    const WholeBucket& bucket = generation->whole_buckets[trigger];
    // Without packets the bank holds only RTT samples, of no concern to most.
    const bool has_packets = bank[next_place_[0] & ~kPlainPlace] != 0;
    if (bucket.words == nullptr && (has_packets || bucket.uses_rtt)) {
      const TriggerPlan& plan = *generation->program->plans()[trigger];
      BucketKey key;
      const auto read = [&](const FieldRef& ref) { return layout.Read(entry.key, block, ref); };
      if (MakeBucketKey(plan.spec.granularity, read, &key)) {  // else: no bucket for such packets
        const bool unscaled = is_unscaled && bucket.uses_rwnd;
        if (!DeliverPartial(bucket, key, unscaled, bank, next_place_)) return false;
      }
      work_++;
    }
    next_place_ += bucket.cell_count;
  }
  return true;
}

bool Sweep::DeliverPartial(const WholeBucket& trigger, const BucketKey& key, bool is_unscaled,
                           const uint64_t* bank, const uint16_t* places) {
  uint64_t* words =
      ReservePartial(ring_, trigger.event_id, job_.epoch, is_unscaled, key, trigger.word_count);
  if (words == nullptr) return false;
  for (size_t cell = 0; cell < trigger.cell_count; cell++) {
    CopyCell(trigger.cells[cell].kind, bank, places[cell], words + trigger.cells[cell].offset);
  }
  ring_->Commit();
  counters_.partials++;
  return true;
}

void Sweep::AddToSet(Generation* generation, const FlowEntry& entry, const uint64_t* bank,
                     bool is_unscaled) {
  const SetProgram& program = generation->sets.ProgramAt(entry.set);
  SetSums& sums = generation->sets.SumsAt(entry.set);
  if (sums.swept_epoch != job_.number) {
    sums.swept_epoch = job_.number;
    sums.is_unscaled = false;
    sums.next_touched = generation->touched_sets;
    generation->touched_sets = entry.set;
    ResetBank(generation->sets.At(entry.set), sums.words);
  }
  sums.is_unscaled |= is_unscaled;
  if (program.has_other_cells) {
    MergeBank(generation->sets.At(entry.set), bank, sums.words);
    return;
  }
  for (uint32_t i = 0; i < program.plain_count; i++) sums.words[i] += bank[i];
}

void Sweep::SweepSet() {
  for (Generation* generation : {job_.running, job_.previous}) {
    if (generation == nullptr || generation->touched_sets == kNoSet) continue;
    const uint32_t set_index = generation->touched_sets;
    generation->sets.PrefetchSums(generation->sets.SumsAt(set_index).next_touched);
    AddToTriggers(generation, set_index);
    if (next_trigger_ != generation->sets.At(set_index).trigger_count) return;
    next_trigger_ = 0;
    generation->touched_sets = generation->sets.SumsAt(set_index).next_touched;
    return;
  }
  stage_ = Stage::kWholeBuckets;
}

// Some triggers of the set at a time, from `next_trigger_` on.
void Sweep::AddToTriggers(Generation* generation, uint32_t set_index) {
  const TriggerSet& set = generation->sets.At(set_index);
  const SetSums& sums = generation->sets.SumsAt(set_index);
  if (next_trigger_ == 0) next_place_ = set.places;
  const uint32_t end = std::min(next_trigger_ + kTriggersPerItem, set.trigger_count);
  for (; next_trigger_ < end; next_trigger_++) {
    const uint32_t trigger = set.triggers[next_trigger_];
    const WholeBucket& bucket = generation->whole_buckets[trigger];
    const bool has_packets = sums.words[next_place_[0] & ~kPlainPlace] != 0;
    if (bucket.words != nullptr && (has_packets || bucket.uses_rtt)) {
      AddToWholeBucket(generation, trigger, sums.words, next_place_, sums.is_unscaled);
      work_++;
    }
    next_place_ += bucket.cell_count;
  }
}

void Sweep::AddToWholeBucket(Generation* generation, uint32_t trigger, const uint64_t* bank,
                             const uint16_t* places, bool is_unscaled) {
  WholeBucket& bucket = generation->whole_buckets[trigger];
  is_unscaled &= bucket.uses_rwnd;
  if (bucket.swept_epoch != job_.number) {
    bucket.swept_epoch = job_.number;
    bucket.is_unscaled = is_unscaled;
    generation->touched_whole_buckets.push_back(trigger);
    for (size_t i = 0; i < bucket.cell_count; i++) {
      const CellSpec& cell = bucket.cells[i];
      CopyCell(cell.kind, bank, places[i], bucket.words + cell.offset);
    }
    return;
  }
  bucket.is_unscaled |= is_unscaled;
  for (size_t i = 0; i < bucket.cell_count; i++) {
    const CellSpec& cell = bucket.cells[i];
    uint64_t from[kRealSumWords];
    CopyCell(cell.kind, bank, places[i], from);
    MergeCell(cell.kind, from, bucket.words + cell.offset);
  }
}

bool Sweep::SweepWholeBucket() {
  for (Generation* generation : {job_.running, job_.previous}) {
    if (generation == nullptr || generation->touched_whole_buckets.empty()) continue;
    const uint32_t trigger = generation->touched_whole_buckets.back();
    const WholeBucket& bucket = generation->whole_buckets[trigger];
    uint64_t* words = ReservePartial(ring_, bucket.event_id, job_.epoch, bucket.is_unscaled,
                                     BucketKey(), bucket.word_count);
    if (words == nullptr) return false;
    std::copy(bucket.words, bucket.words + bucket.word_count, words);
    ring_->Commit();
    counters_.partials++;
    generation->touched_whole_buckets.pop_back();
    return true;
  }
  stage_ = Stage::kFlowStates;
  return true;
}

bool Sweep::SweepFlowState() {
  if (!holds_state_) {
    holds_state_ = connections_->NextChanged(&held_state_);
    if (!holds_state_) {
      stage_ = Stage::kEpochEnd;
      return true;
    }
    // The epoch may have been cut short or gone on since its beginning.
    held_state_.epoch_start = job_.epoch.start;
    held_state_.epoch_end = job_.epoch.end;
  }
  if (!DeliverFlowState(ring_, held_state_)) return false;
  holds_state_ = false;
  return true;
}

}  // namespace trumpet
