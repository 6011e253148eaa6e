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

// The cells of a trigger, summed over the sets of the epoch being swept, if it has no granularity.
struct WholeBucket {
  const TriggerPlan* plan = nullptr;
  size_t first_word = 0;     // in Generation::whole_words
  uint32_t swept_epoch = 0;  // the cells belong to this epoch
  bool is_whole = false;     // false: the trigger has a granularity, and no cells here
  bool is_unscaled = false;
};

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
    generation->whole_buckets.resize(plans.size());
    size_t word_count = 0;
    for (size_t i = 0; i < plans.size(); i++) {
      WholeBucket& bucket = generation->whole_buckets[i];
      bucket.plan = plans[i].get();
      bucket.is_whole = plans[i]->spec.granularity.is_none();
      bucket.first_word = word_count;
      if (bucket.is_whole) word_count += plans[i]->word_count;
    }
    generation->whole_words.resize(word_count);
    generation->touched_whole_buckets.reserve(plans.size());
    generation->marks.resize(generation->program->index().mark_word_count());
    generation->matches.resize(plans.size());
    return generation;
  }

  std::shared_ptr<const TriggerProgram> program;
  uint16_t number = 0;  // given at take-over; the generation of flow table entries
  TriggerSetTable sets;
  std::vector<WholeBucket> whole_buckets;  // per trigger
  std::vector<uint64_t> whole_words;
  uint32_t touched_sets = kNoSet;               // chained through SetSums::next_touched
  std::vector<uint32_t> touched_whole_buckets;  // triggers; never more than reserved
  std::vector<uint64_t> marks;                  // scratch of TriggerIndex::Match
  std::vector<uint32_t> matches;
  Nanos owed_from = INT64_MAX;  // the earliest instant from which packets belong to the program
  Generation* next_retired = nullptr;  // link of the list of those to free
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_GENERATION_H
