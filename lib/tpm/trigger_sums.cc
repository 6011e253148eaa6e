// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/trigger_sums.h"

#include <algorithm>

#include "lib/tpm/generation.h"
#include "lib/tpm/packet_monitor.h"

namespace trumpet {

TriggerSums::TriggerSums(const TriggerProgram& program) {
  uint32_t words = 0;
  for (const auto& plan : program.plans()) {
    const bool is_whole = plan->spec.granularity.is_none();
    const auto cell_count = static_cast<uint16_t>(plan->cells.size());
    sums_.push_back({plan->spec.id, static_cast<uint32_t>(cells_.size()), words, plan->word_count,
                     cell_count, is_whole, plan->uses_rtt, plan->uses_rwnd, false, false});
    if (!is_whole) continue;
    cells_.insert(cells_.end(), plan->cells.begin(), plan->cells.end());
    words += plan->word_count;
  }
  words_.resize(words);
  touched_.reserve(sums_.size());  // adding to a trigger finds no lack of memory half-way
}

// A set whose first words come again was not told to its end before: its sweep was given up.
void TriggerSums::Add(const TriggerSetTable& sets, const SetTotals& totals) {
  totals_.resize(totals.first_word);
  totals_.insert(totals_.end(), totals.words, totals.words + totals.word_count);
  if (totals_.size() == sets.ProgramAt(totals.set).word_count) {
    AddToTriggers(sets.At(totals.set), totals.is_unscaled);
  }
}

void TriggerSums::AddToTriggers(const InternedSet& set, bool is_unscaled) {
  const uint16_t* places = set.places;
  for (uint32_t i = 0; i < set.trigger_count; i++) {
    Sum& sum = sums_[set.triggers[i]];
    // Without packets there are only RTT samples, of no concern to most.
    const bool has_packets = totals_[places[0] & ~kPlainPlace] != 0;
    if (sum.is_whole && (has_packets || sum.uses_rtt)) {
      AddTo(set.triggers[i], places);
      sum.is_unscaled |= is_unscaled && sum.uses_rwnd;
    }
    places += sum.cell_count;
  }
}

// The first sum of a trigger are the cells of the set.
void TriggerSums::AddTo(uint32_t trigger, const uint16_t* places) {
  Sum& sum = sums_[trigger];
  for (uint32_t i = 0; i < sum.cell_count; i++) {
    const CellSpec& cell = cells_[sum.first_cell + i];
    uint64_t* const into = &words_[sum.first_word + cell.offset];
    const uint16_t place = *places++;
    if (!sum.is_touched) {
      CopyCell(cell.kind, totals_.data(), place, into);
      continue;
    }
    uint64_t from[kRealSumWords];
    CopyCell(cell.kind, totals_.data(), place, from);
    MergeCell(cell.kind, from, into);
  }
  if (!sum.is_touched) touched_.push_back(trigger);
  sum.is_touched = true;
}

size_t TriggerSums::HandOver(const EpochSpan& epoch, DeliverySink* sink) {
  const size_t count = touched_.size();
  for (const uint32_t trigger : touched_) {
    Sum& sum = sums_[trigger];
    if (!sum.is_touched) continue;  // handed over before memory ran out
    PartialView view;
    view.event_id = sum.event_id;
    view.epoch_start = epoch.start;
    view.epoch_end = epoch.end;
    view.words = &words_[sum.first_word];
    view.word_count = sum.word_count;
    view.is_unscaled = sum.is_unscaled;
    sink->OnPartial(view);
    sum.is_touched = false;
    sum.is_unscaled = false;
  }
  touched_.clear();
  return count;
}

void EpochSums::Begin(const EpochSpan& epoch, DeliverySink* sink) {
  HandOver(sink);
  epoch_ = epoch;
}

void EpochSums::Add(const SetTotals& totals) {
  TriggerSums& sums = totals.generation->sums;
  const bool was_empty = sums.is_empty();
  if (was_empty) summed_.reserve(summed_.size() + 1);
  sums.Add(totals.generation->sets, totals);
  if (was_empty && !sums.is_empty()) summed_.push_back(totals.generation);
}

void EpochSums::HandOver(DeliverySink* sink) {
  for (Generation* generation : summed_) HandOverOf(generation, sink);
  summed_.clear();
}

void EpochSums::GiveUp(Generation* generation, DeliverySink* sink) {
  const auto at = std::find(summed_.begin(), summed_.end(), generation);
  if (at == summed_.end()) return;
  HandOverOf(generation, sink);
  summed_.erase(at);
}

void EpochSums::HandOverOf(Generation* generation, DeliverySink* sink) {
  partials_.fetch_add(generation->sums.HandOver(epoch_, sink), std::memory_order_relaxed);
}

}  // namespace trumpet
