// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/sweep.h"

#include <algorithm>

#include "lib/model/bucket_key.h"
#include "lib/model/report.h"

namespace trumpet {
namespace {

// What pieces of work take in nanoseconds, when the caches help: the weights of the clock readings.
// A clock reading costs 10; work whose lines are all missing may take four times its weight.
constexpr int kWorkPerClockRead = 300;
constexpr int kFlowWork = 25;
constexpr int kTriggerWork = 2;
constexpr int kPartialWork = 40;
constexpr int kSetWork = 30;
constexpr int kCellWork = 4;
constexpr int kRealCellWork = 100;
constexpr int kFlowStateWork = 80;
constexpr int kStaleWork = 50;            // per entry
constexpr uint32_t kWordsPerPiece = 128;  // copied
constexpr int kCopyWork = 100;            // for so many
constexpr uint32_t kStalePerPiece = 4;
constexpr uint32_t kPrefetchAhead = 20;
constexpr uint32_t kPrefetchCellsAhead = 8;

bool IsRealSum(CellKind kind) {
  return kind == CellKind::kRealSum || kind == CellKind::kRealSumSquares;
}

int MergeWork(CellKind kind) { return IsRealSum(kind) ? kRealCellWork : kCellWork; }

}  // namespace

void Sweep::Start(const SweepJob& job) {
  job_ = job;
  stage_ = Stage::kStale;
  stale_left_ = flows_->stale_share();
  next_flow_ = 0;
  next_trigger_ = 0;
  next_cell_ = 0;
  open_words_ = nullptr;
  has_begun_ = false;
  holds_five_tuple_ = false;
}

void Sweep::Step(const StepWatch* watch) {
  counters_.steps++;
  is_blocked_ = false;
  work_ = 0;
  while (is_active()) {
    if (!Advance()) {
      is_blocked_ = true;
      return;
    }
    if (!HasWorked()) continue;
    work_ = 0;
    if (watch != nullptr && watch->IsOver()) return;
  }
}

// Is it time to look at the clock?  Loops end then, to go on where they stopped.
bool Sweep::HasWorked() const { return work_ >= kWorkPerClockRead; }

void Sweep::Abandon() {
  if (is_delivering()) {
    counters_.dropped += std::max<uint32_t>(1, job_.flow_count - next_flow_);
    ReportLater(job_.epoch, job_.reasons | kRingFull);
  }
  stage_ = Stage::kDone;
  is_blocked_ = false;
}

void Sweep::ReportLater(const EpochSpan& span, uint32_t reasons) { unreported_.Add(span, reasons); }

bool Sweep::Advance() {
  switch (stage_) {
    case Stage::kStale:
      ReleaseStale();
      return true;
    case Stage::kFlows:
      if (next_flow_ == job_.flow_count) {
        stage_ = Stage::kSets;
        return true;
      }
      return SweepFlow(job_.flows[next_flow_]);
    case Stage::kSets:
      return SweepSet();
    case Stage::kFlowStates:
      return SweepFlowState();
    case Stage::kEpochEnd:
      if (has_unreported()) {
        if (!DeliverEpochEnd(ring_, unreported_.span, unreported_.reasons)) return false;
        unreported_ = {};
      }
      if (!DeliverEpochEnd(ring_, job_.epoch, job_.reasons)) return false;
      stage_ = Stage::kDone;
      return true;
    case Stage::kDone:
      return true;
  }
  return true;
}

// A share of the flow table per epoch, so that no entry gets too old.
void Sweep::ReleaseStale() {
  const uint32_t count = std::min(stale_left_, kStalePerPiece);
  const uint16_t running = job_.running->number;
  flows_->ReleaseStale(count, job_.number, running,
                       job_.previous != nullptr ? job_.previous->number : running);
  stale_left_ -= count;
  work_ += static_cast<int>(count) * kStaleWork;
  if (stale_left_ == 0) stage_ = job_.is_silent ? Stage::kDone : Stage::kFlows;
}

Generation* Sweep::GenerationOf(const FlowEntry& entry) const {
  if (job_.running->number == entry.generation) return job_.running;
  if (job_.previous != nullptr && job_.previous->number == entry.generation) return job_.previous;
  return nullptr;
}

// The entries with their own lines of cells, and a little later the cells that lie elsewhere.
void Sweep::PrefetchFlows() const {
  if (next_flow_ + kPrefetchAhead < job_.flow_count) {
    const FlowIndex flow = job_.flows[next_flow_ + kPrefetchAhead];
    flows_->lines().PrefetchEntry(flow);
    flows_->lines().PrefetchCells(flow);
  }
  if (next_flow_ + kPrefetchCellsAhead < job_.flow_count) {
    const FlowEntry& entry = flows_->At(job_.flows[next_flow_ + kPrefetchCellsAhead]);
    if (entry.block != kNearBlock) __builtin_prefetch(flows_->BlockOf(entry));
  }
}

// Goes on to the next flow when this one is done.
bool Sweep::SweepFlow(FlowIndex flow) {
  PrefetchFlows();
  const FlowEntry& entry = flows_->At(flow);
  Generation* generation = GenerationOf(entry);
  work_ += kFlowWork;
  if (generation != nullptr) {
    const InternedSet& set = generation->sets.At(entry.set);
    const uint8_t* cells = flows_->BlockOf(entry) + generation->program->layout().extension_bytes();
    const uint32_t bank_number = job_.number & 1;
    const uint32_t bank_words = generation->sets.ProgramAt(entry.set).bank_words;
    const auto* bank = reinterpret_cast<const uint64_t*>(cells) + bank_number * bank_words;
    const bool is_unscaled = (entry.unscaled >> bank_number & 1) != 0;
    if (set.whole_count != set.trigger_count) {
      if (!DeliverFlow(generation, set, entry, bank, is_unscaled)) return false;
      if (next_trigger_ != set.trigger_count) return true;
    }
    if (set.whole_count != 0 && !AddToSet(generation, entry, bank, is_unscaled)) return true;
  } else {
    // An RTT sample of a flow that two changes of program in one epoch left behind.
    job_.reasons |= kMonitorInterrupted;
  }
  counters_.flows++;
  next_flow_++;
  next_trigger_ = 0;
  next_cell_ = 0;
  holds_five_tuple_ = false;
  return true;
}

// The triggers with granularity, from `next_trigger_` on.
bool Sweep::DeliverFlow(Generation* generation, const InternedSet& set, const FlowEntry& entry,
                        const uint64_t* bank, bool is_unscaled) {
  if (next_trigger_ == 0) next_place_ = set.places;
  DropLostPartial();
  for (; next_trigger_ < set.trigger_count && !HasWorked(); next_trigger_++) {
    const uint32_t trigger = set.triggers[next_trigger_];
    const SweptTrigger& swept = generation->swept_triggers[trigger];
    work_ += kTriggerWork;
    // Without packets the bank holds only RTT samples, of no concern to most.
    const bool has_packets = bank[next_place_[0] & ~kPlainPlace] != 0;
    if (!swept.is_whole && (has_packets || swept.uses_rtt)) {
      const BucketKey* key = open_words_ != nullptr ? &key_ : KeyOf(*generation, trigger, entry);
      if (key != nullptr) {
        const bool unscaled = is_unscaled && swept.uses_rwnd;
        if (open_words_ == nullptr && !OpenPartial(swept, *key, unscaled)) return false;
        if (!CopyCells(swept, bank)) return true;
        CommitPartial();
      }
    }
    next_place_ += swept.cell_count;
  }
  return true;
}

// Null: such packets are in no bucket.
const BucketKey* Sweep::KeyOf(const Generation& generation, uint32_t trigger,
                              const FlowEntry& entry) {
  const Granularity& granularity = generation.program->plans()[trigger]->spec.granularity;
  work_ += kPartialWork;
  if (granularity.is_five_tuple && holds_five_tuple_) return &key_;
  const KeyLayout& layout = generation.program->layout();
  const uint8_t* block = flows_->BlockOf(entry);
  const auto read = [&](const FieldRef& ref) { return layout.Read(entry.key, block, ref); };
  const bool has_bucket = MakeBucketKey(granularity, read, &key_);
  holds_five_tuple_ = has_bucket && granularity.is_five_tuple;
  return has_bucket ? &key_ : nullptr;
}

// Tells of which epoch what follows is.
bool Sweep::Begin() {
  if (!has_begun_) has_begun_ = DeliverEpochBegin(ring_, job_.epoch);
  return has_begun_;
}

bool Sweep::OpenPartial(const SweptTrigger& trigger, const BucketKey& key, bool is_unscaled) {
  if (!Begin()) return false;
  open_words_ = ReservePartial(ring_, trigger.event_id, is_unscaled, key, trigger.word_count);
  open_at_ = ring_->position();
  return open_words_ != nullptr;
}

// Between two steps a late sample may have taken the room of the open partial.
void Sweep::DropLostPartial() {
  if (open_words_ == nullptr || ring_->position() == open_at_) return;
  open_words_ = nullptr;
  next_cell_ = 0;
}

// Fills the open partial, from `next_cell_` on; false: some cells are left.
bool Sweep::CopyCells(const SweptTrigger& trigger, const uint64_t* bank) {
  for (; next_cell_ < trigger.cell_count; next_cell_++) {
    if (HasWorked()) return false;
    const CellSpec& cell = trigger.cells[next_cell_];
    CopyCell(cell.kind, bank, next_place_[next_cell_], open_words_ + cell.offset);
    work_ += kCellWork;
  }
  next_cell_ = 0;
  return true;
}

void Sweep::CommitPartial() {
  ring_->Commit();
  open_words_ = nullptr;
  counters_.partials++;
}

// Copies words from `next_cell_` on; false: some are left.
bool Sweep::CopyWords(const uint64_t* from, uint32_t count, uint64_t* into) {
  const uint32_t end = std::min(next_cell_ + kWordsPerPiece, count);
  std::copy(from + next_cell_, from + end, into + next_cell_);
  if (end != count) {
    work_ += kCopyWork;
    next_cell_ = end;
    return false;
  }
  next_cell_ = 0;
  return true;
}

// The sum of a set over its flows begins as the cells of the first one.  False: some are left.
bool Sweep::AddToSet(Generation* generation, const FlowEntry& entry, const uint64_t* bank,
                     bool is_unscaled) {
  const SetProgram& program = generation->sets.ProgramAt(entry.set);
  FlowSums& sums = generation->sets.SumsAt(entry.set);
  if (!generation->sets.IsTouched(entry.set, job_.number)) {
    if (!CopyWords(bank, program.word_count, sums.words)) return false;
    sums.is_unscaled = is_unscaled;
    generation->sets.Touch(entry.set, job_.number);
    return true;
  }
  sums.is_unscaled |= is_unscaled;
  if (next_cell_ == 0) {
    for (uint32_t i = 0; i < program.plain_count; i++) sums.words[i] += bank[i];
  }
  return !program.has_other_cells || MergeSteps(generation->sets.At(entry.set), bank, sums.words);
}

// Adds the cells that are not plain (there are some), from `next_cell_` on and at least one: who
// comes back with `next_cell_` at 0 adds the plain ones again.  False: some are left.
bool Sweep::MergeSteps(const InternedSet& set, const uint64_t* bank, uint64_t* into) {
  do {
    const StatStep& step = set.steps[next_cell_];
    MergeCell(step.kind, bank + step.offset, into + step.offset);
    work_ += MergeWork(step.kind);
    if (++next_cell_ == set.step_count) {
      next_cell_ = 0;
      return true;
    }
  } while (!HasWorked());
  return false;
}

bool Sweep::SweepSet() {
  for (Generation* generation : {job_.running, job_.previous}) {
    if (generation == nullptr) continue;
    TriggerSetTable& sets = generation->sets;
    const uint32_t set = sets.FirstTouched(job_.number);
    if (set == kNoSet) continue;
    sets.PrefetchTouched(sets.NextTouched(set, job_.number), job_.number);
    if (!DeliverTotals(generation, set)) return false;
    if (next_cell_ != sets.ProgramAt(set).word_count) return true;
    next_cell_ = 0;
    counters_.sets++;
    sets.DropFirstTouched(job_.number);
    return true;
  }
  stage_ = Stage::kFlowStates;
  return true;
}

// The set's words, from `next_cell_` on, as far as one record takes them.
bool Sweep::DeliverTotals(Generation* generation, uint32_t set) {
  const TriggerSetTable& sets = generation->sets;
  const uint32_t left = sets.ProgramAt(set).word_count - next_cell_;
  SetTotals totals;
  totals.generation = generation;
  totals.set = set;
  totals.first_word = static_cast<uint16_t>(next_cell_);
  totals.word_count = static_cast<uint16_t>(std::min<uint32_t>(left, kMaxTotalsWords));
  totals.is_unscaled = sets.IsUnscaled(set);
  totals.words = sets.TotalsOf(set, job_.number) + next_cell_;
  work_ += left > kMaxTotalsWords ? kCopyWork : kSetWork;
  if (totals.word_count == 0) return true;
  if (!Begin() || !DeliverSetTotals(ring_, totals)) return false;
  generation->told_until = ring_->position();
  next_cell_ += totals.word_count;
  return true;
}

bool Sweep::SweepFlowState() {
  work_ += kFlowStateWork;
  if (!holds_state_) {
    holds_state_ = connections_->NextChanged(&held_state_);
    if (!holds_state_) {
      if (!connections_->has_unread_changes()) stage_ = Stage::kEpochEnd;
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
