// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Generation: one program on one packet thread, with the memory it needs there.
//
// Made by the agent thread, handed over, used by the packet thread, handed back and freed by the
// agent thread.  At most two are in use at once: the running one, and the one before it, whose last
// epoch is still being swept.

#ifndef TRUMPET_LIB_TPM_GENERATION_H
#define TRUMPET_LIB_TPM_GENERATION_H

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/tpm/trigger_program.h"
#include "lib/tpm/trigger_set.h"

namespace trumpet {

// What a sweep needs of a trigger, all in one place: the plans themselves lie scattered and leave
// the caches between two sweeps.  If the trigger has no granularity, its cells are summed here over
// the sets of the epoch being swept.
struct WholeBucket {
  const CellSpec* cells = nullptr;  // of the plan
  uint64_t* words = nullptr;        // null if the trigger has a granularity
  uint32_t event_id = 0;
  uint32_t swept_epoch = 0;  // the words belong to this epoch
  uint16_t cell_count = 0;
  uint16_t word_count = 0;
  bool uses_rtt = false;
  bool uses_rwnd = false;
  bool is_unscaled = false;
};
static_assert(sizeof(WholeBucket) == 32);

struct Generation {
  // Null when there is no memory.
  static std::unique_ptr<Generation> Make(std::shared_ptr<const TriggerProgram> program) {
    constexpr uint32_t kMaxSets = 1u << 16;
    constexpr size_t kSetArenaBytes = size_t{64} << 20;  // touched only as sets appear
    auto generation = std::make_unique<Generation>();
    generation->program = std::move(program);
    const Nanos from = generation->program->effective_from();
    if (from != INT64_MIN) generation->owed_from = from;
    if (!generation->sets.Init(kMaxSets, kSetArenaBytes)) return nullptr;
    const auto& plans = generation->program->plans();
    generation->MakeWholeBuckets();
    generation->touched_whole_buckets.reserve(plans.size());
    generation->marks.resize(generation->program->index().mark_word_count());
    generation->matches.resize(plans.size());
    return generation;
  }

  void MakeWholeBuckets() {
    const auto& plans = program->plans();
    size_t cell_count = 0;
    size_t word_count = 0;
    for (const auto& plan : plans) {
      cell_count += plan->cells.size();
      if (plan->spec.granularity.is_none()) word_count += plan->word_count;
    }
    cells.reserve(cell_count);
    whole_words.resize(word_count);
    whole_buckets.resize(plans.size());
    uint64_t* words = whole_words.data();
    for (size_t i = 0; i < plans.size(); i++) {
      const TriggerPlan& plan = *plans[i];
      WholeBucket& bucket = whole_buckets[i];
      bucket.cells = cells.data() + cells.size();
      cells.insert(cells.end(), plan.cells.begin(), plan.cells.end());
      bucket.event_id = plan.spec.id;
      bucket.cell_count = static_cast<uint16_t>(plan.cells.size());
      bucket.word_count = plan.word_count;
      bucket.uses_rtt = plan.uses_rtt;
      bucket.uses_rwnd = plan.uses_rwnd;
      if (!plan.spec.granularity.is_none()) continue;
      bucket.words = words;
      words += plan.word_count;
    }
  }

  std::shared_ptr<const TriggerProgram> program;
  uint16_t number = 0;  // given at take-over; the generation of flow table entries
  TriggerSetTable sets;
  std::vector<WholeBucket> whole_buckets;       // per trigger
  std::vector<uint64_t> whole_words;            // theirs
  std::vector<CellSpec> cells;                  // of all plans
  uint32_t touched_sets = kNoSet;               // chained through SetSums::next_touched
  std::vector<uint32_t> touched_whole_buckets;  // triggers; never more than reserved
  std::vector<uint64_t> marks;                  // scratch of TriggerIndex::Match
  std::vector<uint32_t> matches;
  Nanos owed_from = INT64_MAX;  // the earliest instant from which packets belong to the program
  Generation* next_retired = nullptr;  // link of the list of those to free
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_GENERATION_H
