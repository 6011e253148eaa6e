// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/packet_thread.h"

#include <x86intrin.h>

#include <algorithm>
#include <cstring>

#include "lib/model/report.h"

namespace trumpet {
namespace {

constexpr uint64_t kNoOwner = UINT64_MAX;
constexpr int kPrefetchFrames = 4;

// Under load a step runs at most once per this many budgets: a fifth of the time at most.
constexpr Nanos kLoadSpacing = 4;

constexpr PacketFacts kNoFacts;

uint64_t OwnerOf(FlowIndex flow, uint32_t hash) { return uint64_t{hash} << 32 | flow; }

}  // namespace

PacketThread::PacketThread(const MonitorOptions& options, SpscRing* ring)
    : options_(options),
      pair_hash_(options.connections.hash_seed),
      connections_(options.connections),
      sweep_(&flows_, &connections_, ring) {}

Status PacketThread::Init() {
  const size_t block_bytes = static_cast<size_t>(options_.stat_megabytes) << 20;
  if (!flows_.Init(options_.max_flows, block_bytes) || !touched_[0].Allocate(options_.max_flows) ||
      !touched_[1].Allocate(options_.max_flows)) {
    return Status::Error("no memory for a flow table of " + std::to_string(options_.max_flows) +
                         " flows and " + std::to_string(options_.stat_megabytes) +
                         " MiB of statistics");
  }
  return Status::Ok();
}

// --- epochs ----------------------------------------------------------------

std::unique_ptr<Generation> PacketThread::TakeOver(std::unique_ptr<Generation> next, Nanos now,
                                                   bool* done) {
  now_ = std::max(now_, now);
  const Nanos wanted = std::min(next->program->effective_from(), now_);
  // All packets before `wanted` were counted, none after it, unless the program came late or a
  // sweep delayed the change.
  const Nanos at = last_packet_ns_ >= wanted ? now_ : wanted;
  if (running_ != nullptr && !CloseCurrentEpoch(std::clamp(at, epoch_.start, epoch_.end))) {
    *done = false;
    return next;
  }
  if (running_ != nullptr && last_packet_ns_ >= next->owed_from) {
    sweep_.ReportLater({next->owed_from, now_ + 1}, kMonitorInterrupted);
  }
  *done = true;
  const TriggerProgram& program = *next->program;
  next->number = running_ == nullptr ? 1 : static_cast<uint16_t>(running_->number + 1);
  std::unique_ptr<Generation> unused = std::move(previous_);
  previous_ = std::move(running_);
  running_ = std::move(next);
  connections_.set_collects_changes(program.reports_flow_state());
  const bool tracked_tcp = previous_ != nullptr && previous_->program->tracks_tcp();
  if (program.tracks_tcp() && !tracked_tcp) connections_.ForgetTcpBefore(at);
  const Nanos cell_start = CellOf(now_, program.epoch_ns()) * program.epoch_ns();
  BeginEpoch(std::max(cell_start, at));
  return unused;
}

void PacketThread::AdvanceTo(Nanos now) {
  now_ = std::max(now_, now);
  if (running_ == nullptr || now_ < epoch_.end) return;
  const Nanos length = running_->program->epoch_ns();
  const Nanos cell_start = CellOf(now_, length) * length;
  if (CloseCurrentEpoch(epoch_.end)) {
    BeginEpoch(cell_start);
  } else {
    counters_.epochs_skipped++;
    epoch_reasons_ |= kSweepSkipped;
    epoch_.end = cell_start + length;
  }
}

// False when the sweep of the epoch before is still under way.
bool PacketThread::CloseCurrentEpoch(Nanos end) {
  if (sweep_.is_active()) {
    if (!sweep_.is_blocked()) return false;
    sweep_.Abandon();  // the agent does not keep up; never wait for it
  }
  epoch_.end = end;
  const ConnectionCounters& connections = connections_.counters();
  const uint64_t evicted = connections.evicted_alive + connections.history_evicted;
  if (evicted != evicted_before_) epoch_reasons_ |= kConnectionEvicted;
  evicted_before_ = evicted;
  return true;
}

// Starts the sweep of the epoch just closed, if it has anything, and the next epoch.
void PacketThread::BeginEpoch(Nanos start) {
  const uint32_t bank = epoch_number_ & 1;
  const bool has_work = epoch_packets_ != 0 || epoch_reasons_ != 0 || sweep_.has_unreported();
  SweepJob job{epoch_,         epoch_number_,  touched_[bank].data(), touched_count_[bank],
               epoch_reasons_, running_.get(), previous_.get()};
  const Nanos length = running_->program->epoch_ns();
  epoch_ = {start, (CellOf(start, length) + 1) * length};
  connections_.BeginEpoch(epoch_.start, epoch_.end);
  if (has_work) sweep_.Start(job);
  epoch_number_ = FlowTable::NextEpoch(epoch_number_);
  epoch_reasons_ = 0;
  epoch_packets_ = 0;
  touched_count_[epoch_number_ & 1] = 0;
  counters_.epochs++;
  flows_.ReleaseStale(epoch_number_, OldestPendingEpoch(), running_->number,
                      previous_ != nullptr ? previous_->number : running_->number);
}

bool PacketThread::OnIdle(Nanos now) {
  AdvanceTo(now);
  if (!sweep_.is_active()) return false;
  const uint64_t before = __rdtsc();
  sweep_.Step(options_.sweeps_unbounded ? INT64_MAX : options_.sweep_budget_ns);
  last_step_ = now_;
  counters_.sweep_cycles += __rdtsc() - before;
  return sweep_.is_active();
}

void PacketThread::CloseEpoch(Nanos now) {
  AdvanceTo(now);
  if (running_ == nullptr) return;
  if (CloseCurrentEpoch(epoch_.end)) BeginEpoch(epoch_.end);
}

// When no idle time comes, a step runs between batches now and then.
void PacketThread::SweepUnderLoad(Nanos now) {
  if (!sweep_.is_active() || options_.sweeps_unbounded) return;
  if (now - last_step_ < kLoadSpacing * options_.sweep_budget_ns) return;
  OnIdle(now);
}

Nanos PacketThread::next_work_ns() const {
  if (sweep_.is_active()) return now_;
  return has_undelivered() ? epoch_.end : INT64_MAX;
}

Nanos PacketThread::clean_until() const {
  if (sweep_.is_active()) return sweep_.delivered_until();
  return has_undelivered() ? epoch_.start : INT64_MAX;
}

uint32_t PacketThread::OldestPendingEpoch() const {
  return sweep_.is_active() ? sweep_.job().number : epoch_number_;
}

// --- packets ---------------------------------------------------------------

void PacketThread::OnBatch(const Frame* frames, int count, const Arrival& arrival) {
  const uint64_t before = __rdtsc();
  AdvanceTo(arrival.now);
  if (count > 0) last_packet_ns_ = now_;
  counters_.batches++;
  counters_.packets += static_cast<uint64_t>(count);
  for (int i = 0; i < count; i++) counters_.bytes += frames[i].wire_length;
  if (running_ != nullptr && !running_->program->plans().empty()) {
    epoch_packets_ += static_cast<uint64_t>(count);
    for (int done = 0; done < count; done += kChunk) {
      ProcessChunk(frames + done, std::min(kChunk, count - done), arrival);
    }
  }
  counters_.batch_cycles += __rdtsc() - before;
  SweepUnderLoad(now_);
}

void PacketThread::ProcessChunk(const Frame* frames, int count, const Arrival& arrival) {
  for (int i = 0; i < std::min(count, kPrefetchFrames); i++) __builtin_prefetch(frames[i].data);
  for (int i = 0; i < count; i++) {
    if (i + kPrefetchFrames < count) __builtin_prefetch(frames[i + kPrefetchFrames].data);
    Prepare(frames[i], arrival, i);
  }
  for (int i = 0; i < count; i++) Guess(i);
  for (int i = 0; i < count; i++) Process(i, now_);
}

// What of an IPv4 key is not zero are two words; the second tells IPv4 keys from all others.
inline uint64_t PacketThread::HashOf(const FlowKey& entry_key) const {
  uint64_t words[5];
  std::memcpy(words, &entry_key, sizeof words);
  if ((entry_key.ip_family & ~kHasPortsFlag) == 4) {
    return pair_hash_(words[0] | words[2] << 32, words[4]);
  }
  return HashBytes(words, sizeof words, options_.connections.hash_seed);
}

// First pass: fields, keys, hashes; prefetches the flow table's bucket and the connection.
inline void PacketThread::Prepare(const Frame& frame, const Arrival& arrival, int i) {
  const TriggerProgram& program = *running_->program;
  Slot& slot = slots_[i];
  slot.packet.has_in_port = arrival.has_in_port;
  slot.packet.in_port = arrival.in_port;
  ParsePacket(frame, options_.parse, &slot.packet);
  if (slot.packet.innermost.present == 0) counters_.undecodable++;
  if (slot.packet.depth_exceeded) counters_.tunnels_too_deep++;

  slot.entry_key = EntryKeyOf(slot.packet, arrival.zone);
  slot.hash = HashOf(slot.entry_key);
  const size_t extension_bytes = program.layout().extension_bytes();
  if (extension_bytes != 0) {
    program.layout().FillExtension(slot.packet, ExtensionOf(i));
    slot.hash = HashBytes(ExtensionOf(i), extension_bytes, slot.hash);
  }
  flows_.Prefetch(slot.hash);

  const Headers& headers = slot.packet.innermost;
  const bool is_tcp = headers.protocol == kProtocolTcp;
  slot.is_tracked =
      headers.ip_family != 0 && ((program.tracks_tcp() && is_tcp) || program.tracks_bursts());
  if (slot.is_tracked) {
    slot.flow = FlowOf(slot.entry_key);
    slot.connection_hash = connections_.HashOf(slot.flow);
    connections_.Prefetch(slot.connection_hash);
  }
}

// Second pass: prefetches the entry and its cells.
inline void PacketThread::Guess(int i) {
  Slot& slot = slots_[i];
  slot.guess = flows_.Guess(slot.hash);
  if (slot.guess != kNoFlow) flows_.PrefetchFlow(slot.guess);
}

// Third pass: the flow's entry, the connection, the cells.
inline void PacketThread::Process(int i, Nanos now) {
  Slot& slot = slots_[i];
  const FlowIndex flow = FindOrAddFlow(i);
  if (slot.is_tracked) {
    ProcessTracked(flow, &slot, now);
  } else {
    CountPacket(flow, slot, kNoFacts);
  }
}

void PacketThread::ProcessTracked(FlowIndex flow, Slot* slot, Nanos now) {
  FlowEntry* entry = flow == kNoFlow ? nullptr : &flows_.At(flow);
  const ConnectionRef hint = entry == nullptr ? kNoConnection : entry->connection;
  const ConnectionRef connection = connections_.Find(slot->flow, slot->connection_hash, hint, now);
  if (entry != nullptr) entry->connection = connection;
  PacketFacts facts;
  RttSample sample;
  const uint64_t owner = entry == nullptr ? kNoOwner : OwnerOf(flow, entry->hash);
  if (connection == kNoConnection) {
    epoch_reasons_ |= kConnectionEvicted;
  } else if (connections_.Observe(connection, slot->packet, running_->program->tracks_tcp(), now,
                                  owner, &facts, &sample) &&
             running_->program->uses_rtt()) {
    CountSample(sample);
  }
  CountPacket(flow, *slot, facts);
}

inline FlowIndex PacketThread::FindOrAddFlow(int i) {
  const Slot& slot = slots_[i];
  const size_t extension_bytes = running_->program->layout().extension_bytes();
  if (slot.guess != kNoFlow && flows_.IsFlow(slot.guess, slot.entry_key, ExtensionOf(i),
                                             extension_bytes, slot.hash, running_->number)) {
    return slot.guess;
  }
  const FlowIndex flow =
      flows_.Find(slot.entry_key, ExtensionOf(i), extension_bytes, slot.hash, running_->number);
  return flow != kNoFlow ? flow : AddFlow(i);
}

// A new flow: matched once, against all triggers.
FlowIndex PacketThread::AddFlow(int i) {
  const Slot& slot = slots_[i];
  Generation& generation = *running_;
  const TriggerProgram& program = *generation.program;
  const size_t matches = program.index().Match(slot.packet, FlowOf(slot.entry_key),
                                               generation.marks.data(), generation.matches.data());
  const uint32_t set_index =
      generation.sets.Intern(program, generation.matches.data(), static_cast<uint32_t>(matches));
  if (set_index == kNoSet) return kNoFlow;
  const TriggerSet& set = generation.sets.At(set_index);
  const size_t extension_bytes = program.layout().extension_bytes();
  const size_t block_bytes = extension_bytes + 2 * sizeof(uint64_t) * set.word_count;
  const FlowIndex flow =
      flows_.Add(slot.entry_key, slot.hash, generation.number, block_bytes, OldestPendingEpoch());
  if (flow == kNoFlow) return kNoFlow;
  FlowEntry& entry = flows_.At(flow);
  entry.set = set_index;
  if (extension_bytes != 0) std::memcpy(flows_.BlockOf(entry), ExtensionOf(i), extension_bytes);
  counters_.flows_added++;
  return flow;
}

Generation* PacketThread::GenerationOf(const FlowEntry& entry) const {
  if (running_->number == entry.generation) return running_.get();
  if (previous_ != nullptr && previous_->number == entry.generation) return previous_.get();
  return nullptr;
}

inline uint64_t* PacketThread::BankOf(const Generation& generation, FlowEntry& entry) {
  uint8_t* cells = flows_.BlockOf(entry) + generation.program->layout().extension_bytes();
  const uint32_t words = generation.sets.ProgramAt(entry.set).word_count;
  return reinterpret_cast<uint64_t*>(cells) + (epoch_number_ & 1) * words;
}

// The first packet of a flow in an epoch empties the bank and puts the flow on the epoch's list.
inline void PacketThread::Touch(FlowIndex flow, FlowEntry* entry, const Generation& generation) {
  if (entry->last_epoch == epoch_number_) return;
  entry->last_epoch = epoch_number_;
  const SetProgram& program = generation.sets.ProgramAt(entry->set);
  if (program.word_count == 0) return;
  const uint32_t bank = epoch_number_ & 1;
  entry->unscaled &= static_cast<uint8_t>(~(1u << bank));
  uint64_t* words = BankOf(generation, *entry);
  for (uint32_t i = 0; i < program.plain_count; i++) words[i] = 0;
  if (program.has_other_cells) ResetBank(generation.sets.At(entry->set), words);
  touched_[bank][touched_count_[bank]++] = flow;
}

inline void PacketThread::CountPacket(FlowIndex flow, const Slot& slot, const PacketFacts& facts) {
  if (flow == kNoFlow) {
    counters_.uncounted_packets++;
    counters_.uncounted_bytes += slot.packet.bytes;
    epoch_reasons_ |= kFlowTableFull;
    return;
  }
  FlowEntry& entry = flows_.At(flow);
  const SetProgram& program = running_->sets.ProgramAt(entry.set);
  Touch(flow, &entry, *running_);
  if (program.word_count == 0) return;
  counters_.matched_packets++;
  if (facts.rwnd_unscaled) entry.unscaled |= static_cast<uint8_t>(1u << (epoch_number_ & 1));
  uint64_t* bank = BankOf(*running_, entry);
  CountInPlainCells(program, PlainValues(slot.packet, facts), bank);
  if (program.has_other_cells) {
    CountInOtherCells(*running_->program, running_->sets.At(entry.set), slot.packet, facts, bank);
  }
}

// An RTT sample belongs to the flow of the acknowledged segment, which may be any flow.
void PacketThread::CountSample(const RttSample& sample) {
  counters_.rtt_samples++;
  const auto flow = static_cast<FlowIndex>(sample.owner);
  const bool has_owner = sample.owner != kNoOwner && flows_.IsInUse(flow) &&
                         flows_.At(flow).hash == sample.owner >> 32;
  Generation* generation = has_owner ? GenerationOf(flows_.At(flow)) : nullptr;
  if (generation == nullptr) {
    counters_.rtt_samples_orphaned++;
    epoch_reasons_ |= kFlowTableFull;
    return;
  }
  FlowEntry& entry = flows_.At(flow);
  const TriggerSet& set = generation->sets.At(entry.set);
  if (set.trigger_count == 0) return;
  Touch(flow, &entry, *generation);
  CountSampleInCells(*generation->program, set, sample, BankOf(*generation, entry));
}

void PacketThread::FillCounters(MonitorCounters* counters) const {
  *counters = counters_;
  const SweepCounters& sweep = sweep_.counters();
  const ConnectionCounters& connections = connections_.counters();
  counters->flows = flows_.count();
  counters->flows_reclaimed = flows_.reclaimed();
  counters->sweep_steps = sweep.steps;
  counters->swept_flows = sweep.flows;
  counters->partials = sweep.partials;
  counters->partials_dropped = sweep.dropped;
  counters->connections = connections.connections;
  counters->connections_evicted = connections.evicted_alive;
  counters->history_evicted = connections.history_evicted;
}

}  // namespace trumpet
