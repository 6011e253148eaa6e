// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/new_flows.h"

#include <algorithm>

#include "lib/base/hash.h"
#include "lib/model/report.h"
#include "lib/tpm/flow_entries.h"

namespace trumpet {
namespace {

constexpr Nanos kRound = 10 * kNanosPerMilli;
constexpr Nanos kTurn = kRound / 80;  // a flow has ten of them per round when it has fewest
constexpr uint32_t kMaxWeight = 8;
constexpr uint64_t kTurnSeed = 0;      // no secret: which flows have a turn is told by their hashes
constexpr uint64_t kSampleEvery = 16;  // flows, unless they are dear: reading the clock costs too

}  // namespace

bool NewFlows::Init(const AdmissionOptions& options, PageSource* source) {
  options_ = options;
  if (!options_.is_enabled) return true;
  turn_end_ = round_end_ = INT64_MIN;  // the first one starts with the first batch
  return filter_.Init(flows_->capacity(), source);
}

FlowIndex NewFlows::Add(const ParsedPacket& packet, const FlowKey& entry_key,
                        const uint8_t* extension, uint64_t hash) {
  Withheld credit;
  if (!options_.is_enabled || IsKnownAnyway()) {
    return MakeEntryTimed(packet, entry_key, extension, hash, re_added_++, &re_add_samples_);
  }
  if (!Admit(packet, hash, &credit)) return kNoFlow;
  return AddAdmitted(packet, entry_key, extension, hash, credit);
}

FlowIndex NewFlows::AddAdmitted(const ParsedPacket& packet, const FlowKey& entry_key,
                                const uint8_t* extension, uint64_t hash, const Withheld& credit) {
  const FlowIndex flow =
      MakeEntryTimed(packet, entry_key, extension, hash, round_.admitted++, &add_samples_);
  if (flow == kNoFlow) return kNoFlow;
  if (!epoch_->running->sets.CountsForFlows(flows_->At(flow).set)) round_.swept++;
  if (credit.packets != 0 && cells_.Credit(flow, credit)) {
    counters_->credited_packets += credit.packets;
    counters_->credited_bytes += credit.bytes;
  }
  return flow;
}

// After a change of program all flows come back as new ones.  They are as many as the table holds,
// and to withhold them would be to lose packets of flows known for long.  EndRound() ends that when
// it takes too long.
bool NewFlows::IsKnownAnyway() {
  const uint16_t running = epoch_->running->number;
  if (generation_ != running) {
    // The first program of all finds a network full of flows.
    flows_to_re_add_ = generation_ == 0 ? flows_->capacity() / 2 : flows_->count();
    generation_ = running;
  }
  if (flows_to_re_add_ == 0) return false;
  flows_to_re_add_--;
  return true;
}

bool NewFlows::Admit(const ParsedPacket& packet, uint64_t hash, Withheld* credit) {
  const bool is_free = threshold_ == 0 || free_admissions_ != 0;
  if (!is_free && !turn().Has(hash)) {
    WithholdUnseen(1, packet.bytes);
    return false;
  }
  const uint32_t weight = is_free ? 1 : weight_;
  round_.offered++;
  round_.offered_units += weight * AdmissionFilter::UnitsOf(packet.bytes);
  if (threshold_ == 0) return true;
  BeginEpochOfFilter();
  if (filter_.Offer(hash, packet.bytes, packet.volume, is_free ? 1 : threshold_, credit, weight)) {
    free_admissions_ -= is_free ? 1 : 0;
    return true;
  }
  CountWithheld(1, packet.bytes);
  return false;
}

void NewFlows::WithholdUnseen(uint64_t packets, uint64_t bytes) {
  if (packets == 0) return;
  round_.offered += packets;
  CountWithheld(packets, bytes);
}

void NewFlows::CountWithheld(uint64_t packets, uint64_t bytes) {
  counters_->withheld_packets += packets;
  counters_->withheld_bytes += bytes;
  epoch_->reasons |= kAdmissionWithheld;
}

void NewFlows::BeginEpochOfFilter() {
  if (filter_epoch_ == epoch_->number) return;
  filter_epoch_ = epoch_->number;
  filter_.NextEpoch();
}

NewFlows::Withholding NewFlows::withholding() {
  BeginEpochOfFilter();
  return {filter_.lines(), threshold_, weight_};
}

void NewFlows::Finish(const Withholding& withholding) {
  round_.offered += withholding.offered_packets_;
  round_.offered_units += withholding.offered_units_;
  if (withholding.withheld_packets_ == 0) return;
  CountWithheld(withholding.withheld_packets_, withholding.withheld_bytes_);
}

// `number`: of the flows of its kind in the round.
FlowIndex NewFlows::MakeEntryTimed(const ParsedPacket& packet, const FlowKey& entry_key,
                                   const uint8_t* extension, uint64_t hash, uint64_t number,
                                   CycleSamples* samples) {
  const bool is_sample = number % kSampleEvery == 0 || control_.add_cycles() > kDearCycles;
  if (!options_.is_enabled || !is_sample) {
    return MakeEntry(packet, entry_key, extension, hash);
  }
  const uint64_t before = options_.read_cycles();
  const FlowIndex flow = MakeEntry(packet, entry_key, extension, hash);
  samples->Add(options_.read_cycles() - before);
  return flow;
}

FlowIndex NewFlows::MakeEntry(const ParsedPacket& packet, const FlowKey& entry_key,
                              const uint8_t* extension, uint64_t hash) {
  Generation& generation = *epoch_->running;
  const uint32_t set = MatchSet(packet, entry_key, &generation);
  const FlowIndex flow =
      AddEntry(packet, entry_key, extension, hash, set, generation, epoch_->oldest_pending, flows_);
  if (flow == kNoFlow) {
    round_.refused++;
    counters_->uncounted_packets++;
    counters_->uncounted_bytes += packet.bytes;
    epoch_->reasons |= kFlowTableFull;
    return kNoFlow;
  }
  counters_->flows_added++;
  return flow;
}

void NewFlows::EndTurn(Nanos now, uint64_t all_swept) {
  if (now >= round_end_ || round_.admitted >= max_admitted_) EndRound(now, all_swept);
  turn_end_ = threshold_ == 0 ? round_end_ : std::min(now + kTurn, round_end_);
  turn_lot_ = static_cast<uint8_t>(HashNumber(turns_++, kTurnSeed));
}

// The more a flow may send before it is admitted, the fewer turns it has.
uint32_t NewFlows::WeightOf(uint32_t threshold) {
  uint32_t weight = 1;
  while (weight < kMaxWeight && 2 * weight * kUnitsPerTurn <= threshold) weight *= 2;
  return weight;
}

void NewFlows::EndRound(Nanos now, uint64_t all_swept) {
  const uint64_t cycles = options_.read_cycles();
  const uint64_t swept = all_swept - swept_before_;
  round_.cycles = cycles - start_cycles_;
  round_.free_cycles = free_cycles_ - free_cycles_before_;
  round_.add_cycles = add_samples_.Mean();
  if (re_add_samples_.Mean() > kDearCycles) flows_to_re_add_ = 0;
  if (swept != 0) {
    round_.sweep_cycles = static_cast<double>(counters_->sweep_cycles - sweep_cycles_before_) /
                          static_cast<double>(swept);
  }
  if (round_start_ != INT64_MIN) {
    threshold_ = control_.Decide(round_);
    const auto took = static_cast<double>(std::max<Nanos>(now - round_start_, 1));
    const double whole = static_cast<double>(round_.cycles) * static_cast<double>(kRound) / took;
    max_admitted_ = control_.MaxAdmissions(whole);
    free_admissions_ = control_.FreeAdmissions(whole);
  }
  weight_ = WeightOf(threshold_);
  counters_->admission_threshold_bytes = uint64_t{threshold_} * AdmissionFilter::kUnitBytes;
  if (threshold_ != 0) counters_->admission_rounds++;
  filter_.NextRound();
  round_ = AdmissionRound{};
  round_start_ = now;
  round_end_ = now + kRound;
  start_cycles_ = cycles;
  free_cycles_before_ = free_cycles_;
  sweep_cycles_before_ = counters_->sweep_cycles;
  swept_before_ = all_swept;
  add_samples_ = re_add_samples_ = CycleSamples();
  re_added_ = 0;
}

void NewFlows::Pause(Nanos now) {
  pause_ = now;
  pause_cycles_ = options_.read_cycles();
  pause_free_cycles_ = free_cycles_;
}

void NewFlows::Resume(Nanos now) {
  const Nanos paused = now - pause_;
  turn_end_ += paused;
  round_start_ += paused;
  round_end_ += paused;
  start_cycles_ += options_.read_cycles() - pause_cycles_;
  free_cycles_before_ += free_cycles_ - pause_free_cycles_;
}

// The time between two idle calls in a row, of which the first had nothing to do, was free.
void NewFlows::NoteIdle(bool has_work) {
  const uint64_t cycles = options_.read_cycles();
  if (was_idle_) free_cycles_ += cycles - idle_since_;
  was_idle_ = !has_work;
  idle_since_ = cycles;
}

}  // namespace trumpet
