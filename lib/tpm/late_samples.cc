// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/late_samples.h"

#include "lib/tpm/delivery.h"

namespace trumpet {
namespace {

constexpr uint32_t kMaxTriggers = 64;

}  // namespace

bool LateSamples::Deliver(FlowIndex flow, const Generation& generation, const RttSample& sample,
                          Nanos time) {
  const FlowEntry& entry = flows_->At(flow);
  const InternedSet& set = generation.sets.At(entry.set);
  if (generation.sets.CountsForFlows(entry.set)) return true;  // none of its triggers uses rtt
  if (!has_memory_ || set.trigger_count > kMaxTriggers) return false;
  ResetBank(set, bank_.data());
  CountSampleInCells(*generation.program, set, sample, bank_.data());
  const KeyLayout& layout = generation.program->layout();
  const uint8_t* block = flows_->BlockOf(entry);
  const auto read = [&](const FieldRef& ref) { return layout.Read(entry.key, block, ref); };
  const uint16_t* place = set.places;
  for (uint32_t i = 0; i < set.trigger_count; i++) {
    const SweptTrigger& trigger = generation.swept_triggers[set.triggers[i]];
    const uint16_t* places = place;
    place += trigger.cell_count;
    if (!trigger.uses_rtt) continue;
    BucketKey key;
    const TriggerPlan& plan = *generation.program->plans()[set.triggers[i]];
    if (!trigger.is_whole && !MakeBucketKey(plan.spec.granularity, read, &key)) continue;
    uint64_t* words =
        ReserveLatePartial(ring_, {time, time + 1}, trigger.event_id, key, trigger.word_count);
    if (words == nullptr) return false;
    for (size_t cell = 0; cell < trigger.cell_count; cell++) {
      CopyCell(trigger.cells[cell].kind, bank_.data(), places[cell],
               words + trigger.cells[cell].offset);
    }
    ring_->Commit();
  }
  return true;
}

}  // namespace trumpet
