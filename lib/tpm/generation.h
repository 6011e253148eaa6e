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

#include "lib/tpm/cache_warmer.h"
#include "lib/tpm/cycle_samples.h"
#include "lib/tpm/trigger_program.h"
#include "lib/tpm/trigger_set.h"
#include "lib/tpm/trigger_sums.h"

namespace trumpet {

// What a sweep needs of a trigger, all in one place: the plans themselves lie scattered and leave
// the caches between two sweeps.
struct SweptTrigger {
  const CellSpec* cells = nullptr;  // of the plan
  uint32_t event_id = 0;
  uint16_t cell_count = 0;
  uint16_t word_count = 0;
  bool is_whole = false;  // no granularity: the agent sums it up (trigger_sums.h)
  bool uses_rtt = false;
  bool uses_rwnd = false;
};
static_assert(sizeof(SweptTrigger) == 24);

struct Generation {
  // Writes all its memory, and reads that of the table last, so that the packet thread meets no
  // page fault in it, nor one of a hypervisor.  Takes the table in the end: whoever finds no memory
  // here has it still.
  Generation(std::shared_ptr<const TriggerProgram> the_program, TriggerSetTable* spare_sets)
      : program(std::move(the_program)), sums(*program) {
    const Nanos from = program->effective_from();
    if (from != INT64_MIN) owed_from = from;
    const auto& plans = program->plans();
    MakeSweptTriggers();
    spare_sets->Learn(*program);
    marks.resize(program->index().mark_word_count());
    matches.resize(plans.size());
    program->index().AddMemory(&warmer);
    spare_sets->AddMemory(&warmer);
    spare_sets->ReadPages();
    sets = std::move(*spare_sets);
  }

  void MakeSweptTriggers() {
    const auto& plans = program->plans();
    size_t cell_count = 0;
    for (const auto& plan : plans) cell_count += plan->cells.size();
    cells.reserve(cell_count);
    swept_triggers.resize(plans.size());
    for (size_t i = 0; i < plans.size(); i++) {
      const TriggerPlan& plan = *plans[i];
      SweptTrigger& trigger = swept_triggers[i];
      trigger.cells = cells.data() + cells.size();
      cells.insert(cells.end(), plan.cells.begin(), plan.cells.end());
      trigger.event_id = plan.spec.id;
      trigger.cell_count = static_cast<uint16_t>(plan.cells.size());
      trigger.word_count = plan.word_count;
      trigger.is_whole = plan.spec.granularity.is_none();
      trigger.uses_rtt = plan.uses_rtt;
      trigger.uses_rwnd = plan.uses_rwnd;
    }
  }

  std::shared_ptr<const TriggerProgram> program;
  uint16_t number = 0;  // given at take-over; the generation of flow table entries
  TriggerSetTable sets;
  std::vector<SweptTrigger> swept_triggers;  // per trigger
  std::vector<CellSpec> cells;               // of all plans
  std::vector<uint64_t> marks;               // scratch of TriggerIndex::Match
  std::vector<uint32_t> matches;
  CacheWarmer warmer;        // for the thread that prepares it
  bool was_tried = false;    // a first flow was matched by it
  DearBatches dear_batches;  // in which flows were matched for it
  // The ring's position when it last told of the sets; until all of that is read, they are in use.
  size_t told_until = 0;
  alignas(64) TriggerSums sums;  // the agent's
  Nanos owed_from = INT64_MAX;   // the earliest instant from which packets belong to the program
  Generation* next_retired = nullptr;  // link of the list of those to free
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_GENERATION_H
