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
  // Writes all its memory, so that the packet thread meets no page fault in it.
  Generation(std::shared_ptr<const TriggerProgram> the_program, TriggerSetTable&& empty_sets)
      : program(std::move(the_program)), sets(std::move(empty_sets)) {
    const Nanos from = program->effective_from();
    if (from != INT64_MIN) owed_from = from;
    const auto& plans = program->plans();
    MakeWholeBuckets();
    sets.Learn(*program);
    touched_whole_buckets.resize(plans.size());
    touched_whole_buckets.clear();
    marks.resize(program->index().mark_word_count());
    matches.resize(plans.size());
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
  std::vector<uint32_t> touched_whole_buckets;  // triggers; never more than reserved
  std::vector<uint64_t> marks;                  // scratch of TriggerIndex::Match
  std::vector<uint32_t> matches;
  Nanos owed_from = INT64_MAX;  // the earliest instant from which packets belong to the program
  Generation* next_retired = nullptr;  // link of the list of those to free
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_GENERATION_H
