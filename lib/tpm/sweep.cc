// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/sweep.h"

#include <time.h>

#include <algorithm>

#include "lib/model/bucket_key.h"
#include "lib/model/report.h"

namespace trumpet {
namespace {

constexpr int kItemsPerClockRead = 8;
constexpr uint32_t kTriggersPerItem = 8;  // of a flow
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
  next_trigger_ = next_cell_ = 0;
  holds_state_ = false;
  for (Generation* generation : {job_.running, job_.previous}) {
    if (generation != nullptr) generation->touched_whole_buckets.clear();
  }
}

void Sweep::Step(Nanos budget_ns) {
  counters_.steps++;
  const bool is_bounded = budget_ns != INT64_MAX;
  const Nanos stop = is_bounded ? MonotonicNow() + budget_ns : 0;
  is_blocked_ = false;
  while (is_active()) {
    for (int i = 0; i < kItemsPerClockRead && is_active(); i++) {
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
        stage_ = Stage::kWholeBuckets;
        return true;
      }
      return SweepFlow(job_.flows[next_flow_]);
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

// The next few triggers of the flow; with the last one, on to the next flow.
bool Sweep::SweepFlow(FlowIndex flow) {
  if (next_flow_ + kPrefetchAhead < job_.flow_count) {
    __builtin_prefetch(&flows_->At(job_.flows[next_flow_ + kPrefetchAhead]));
  }
  const FlowEntry& entry = flows_->At(flow);
  Generation* generation = GenerationOf(entry);
  if (generation != nullptr) {
    const TriggerSet& set = generation->sets.At(entry.set);
    if (!DeliverFlow(generation, set, entry)) return false;
    if (next_trigger_ < set.trigger_count) return true;
  } else {
    // An RTT sample of a flow that two changes of program in one epoch left behind.
    job_.reasons |= kMonitorInterrupted;
  }
  counters_.flows++;
  next_flow_++;
  next_trigger_ = next_cell_ = 0;
  return true;
}

// False when the ring filled up; next_trigger_ and next_cell_ tell where to go on.
bool Sweep::DeliverFlow(Generation* generation, const TriggerSet& set, const FlowEntry& entry) {
  if (set.trigger_count == 0) return true;
  const KeyLayout& layout = generation->program->layout();
  const uint8_t* block = flows_->BlockOf(entry);
  const uint32_t bank_number = job_.number & 1;
  const auto* bank = reinterpret_cast<const uint64_t*>(block + layout.extension_bytes()) +
                     bank_number * set.word_count;
  const bool is_unscaled = (entry.unscaled >> bank_number & 1) != 0;

  const uint32_t end = std::min(set.trigger_count, next_trigger_ + kTriggersPerItem);
  while (next_trigger_ < end) {
    const uint32_t trigger = set.triggers[next_trigger_];
    const TriggerPlan& plan = *generation->program->plans()[trigger];
    const uint16_t* offsets = set.offsets + next_cell_;
    const bool has_packets = bank[offsets[0]] != 0;
    if (has_packets || plan.uses_rtt) {  // else only an RTT sample, of no concern here
      const bool unscaled = is_unscaled && plan.uses_rwnd;
      if (plan.spec.granularity.is_none()) {
        AddToWholeBucket(generation, trigger, bank, offsets, unscaled);
      } else if (!DeliverPartial(plan, layout, entry, bank, offsets, unscaled)) {
        return false;
      }
    }
    next_trigger_++;
    next_cell_ += static_cast<uint32_t>(plan.cells.size());
  }
  return true;
}

bool Sweep::DeliverPartial(const TriggerPlan& plan, const KeyLayout& layout, const FlowEntry& entry,
                           const uint64_t* bank, const uint16_t* offsets, bool is_unscaled) {
  const uint8_t* block = flows_->BlockOf(entry);
  const auto read = [&](const FieldRef& ref) { return layout.Read(entry.key, block, ref); };
  BucketKey key;
  if (!MakeBucketKey(plan.spec.granularity, read, &key))
    return true;  // such packets have no bucket
  uint64_t* words = ReservePartial(ring_, plan.spec, job_.epoch, is_unscaled, key, plan.word_count);
  if (words == nullptr) return false;
  for (size_t cell = 0; cell < plan.cells.size(); cell++) {
    const uint64_t* from = bank + offsets[cell];
    std::copy(from, from + CellWords(plan.cells[cell].kind), words + plan.cells[cell].offset);
  }
  ring_->Commit();
  counters_.partials++;
  return true;
}

void Sweep::AddToWholeBucket(Generation* generation, uint32_t trigger, const uint64_t* bank,
                             const uint16_t* offsets, bool is_unscaled) {
  WholeBucket& bucket = generation->whole_buckets[trigger];
  const TriggerPlan& plan = *generation->program->plans()[trigger];
  if (bucket.swept_epoch != job_.number) {
    bucket.swept_epoch = job_.number;
    bucket.is_unscaled = false;
    ResetCells(plan.cells, bucket.words.data());
    generation->touched_whole_buckets.push_back(trigger);
  }
  bucket.is_unscaled |= is_unscaled;
  for (size_t cell = 0; cell < plan.cells.size(); cell++) {
    MergeCell(plan.cells[cell].kind, bank + offsets[cell],
              bucket.words.data() + plan.cells[cell].offset);
  }
}

bool Sweep::SweepWholeBucket() {
  for (Generation* generation : {job_.running, job_.previous}) {
    if (generation == nullptr || generation->touched_whole_buckets.empty()) continue;
    const uint32_t trigger = generation->touched_whole_buckets.back();
    const WholeBucket& bucket = generation->whole_buckets[trigger];
    const TriggerPlan& plan = *generation->program->plans()[trigger];
    BucketKey key;
    uint64_t* words =
        ReservePartial(ring_, plan.spec, job_.epoch, bucket.is_unscaled, key, plan.word_count);
    if (words == nullptr) return false;
    std::copy(bucket.words.begin(), bucket.words.end(), words);
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
