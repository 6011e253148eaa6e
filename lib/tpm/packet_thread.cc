// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/packet_thread.h"

#include <x86intrin.h>

#include <algorithm>
#include <cstring>

#include "lib/model/report.h"
#include "lib/tpm/cycle_samples.h"
#include "lib/tpm/step_clock.h"

namespace trumpet {
namespace {

// Under load a step begins at most once per this many budgets: a quarter of the time at most.
constexpr Nanos kLoadSpacing = 4;

// A thread that sleeps when idle looks so often for what others tell it.
constexpr Nanos kPeerSpacing = kNanosPerMilli;

// One batch in eight is timed.
constexpr int kTimedBatchesLog2 = 3;

const StepClock* ClockOf(const MonitorOptions& options) {
  return options.step_clock != nullptr ? options.step_clock : StepClock::System();
}

// Of a thread that sleeps nothing is known by its being away.
Nanos PauseLimitOf(const MonitorOptions& options, const StepWatch& watch) {
  constexpr Nanos kNever = INT64_MAX / 4;
  return options.never_sleeps ? watch.pause_limit_ns() : kNever;
}

size_t StatBytes(const MonitorOptions& options) {
  return static_cast<size_t>(options.stat_megabytes) << 20;
}

}  // namespace

PacketThread::PacketThread(const MonitorOptions& options, SpscRing* ring, PageSource* source)
    : options_(options),
      connections_(options.connections, source),
      sweep_(&flows_, &connections_, ring),
      watch_(ClockOf(options), options.sweep_budget_ns, options.gate, options.watchdog_factor),
      pause_limit_ns_(PauseLimitOf(options, watch_)),
      phase_one_(options.parse, options.connections.hash_seed, &flows_, &connections_, &epoch_,
                 &counters_),
      next_flows_(options.parse, options.connections.hash_seed, &flows_, &epoch_, &counters_) {
  if (!options.takes_quads) phase_one_.ReadOneByOne();
  phase_one_.tracked().Join(options.peers, ring);
}

size_t PacketThread::BytesFor(const MonitorOptions& options) {
  return FlowTable::BytesFor(options.max_flows, StatBytes(options)) +
         2 * PageBuffer<FlowIndex>::BytesFor(options.max_flows) +
         (options.admission.is_enabled ? AdmissionFilter::BytesFor(options.max_flows) : 0) +
         ConnectionTable::BytesFor(options.connections);
}

Status PacketThread::Init(PageSource* source) {
  if (!connections_.has_memory()) {
    return Status::Error("no memory for " + std::to_string(options_.connections.max_connections) +
                         " connections");
  }
  if (!flows_.Init(options_.max_flows, StatBytes(options_), source) ||
      !epoch_.touched[0].Allocate(options_.max_flows, source) ||
      !epoch_.touched[1].Allocate(options_.max_flows, source) ||
      !phase_one_.new_flows().Init(options_.admission, source)) {
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
  if (running_ != nullptr &&
      !CloseCurrentEpoch(std::clamp(at, epoch_.span.start, epoch_.span.end))) {
    *done = false;
    return next;
  }
  if (running_ != nullptr && last_packet_ns_ >= next->owed_from) {
    sweep_.ReportLater({next->owed_from, now_ + 1}, kMonitorInterrupted);
  }
  *done = true;
  const TriggerProgram& program = *next->program;
  next->number = NextNumber();
  flows_.RunGeneration(next->number);
  std::unique_ptr<Generation> unused = std::move(previous_);
  previous_ = std::move(running_);
  running_ = std::move(next);
  epoch_.adds_rtt_events = previous_ != nullptr && program.MayAddRttEvents(*previous_->program);
  connections_.set_collects_changes(program.reports_flow_state());
  const bool tracked_tcp = previous_ != nullptr && previous_->program->tracks_tcp();
  if (program.tracks_tcp() && !tracked_tcp) connections_.ForgetTcpBefore(at);
  const Nanos cell_start = CellOf(now_, program.epoch_ns()) * program.epoch_ns();
  BeginEpoch(std::max(cell_start, at));
  return unused;
}

void PacketThread::NoteOwed(Nanos owed, Nanos now) {
  if (running_ != nullptr && now >= owed) epoch_.reasons |= kMonitorInterrupted;
}

void PacketThread::AdvanceTo(Nanos now) {
  now_ = std::max(now_, now);
  if (running_ == nullptr || now_ < epoch_.span.end) return;
  const Nanos length = running_->program->epoch_ns();
  const Nanos cell_start = CellOf(now_, length) * length;
  if (CloseCurrentEpoch(epoch_.span.end)) {
    BeginEpoch(cell_start);
  } else {
    const Nanos end = cell_start + length;
    counters_.epochs_skipped += static_cast<uint64_t>((end - epoch_.span.end) / length);
    epoch_.reasons |= kSweepSkipped;
    epoch_.span.end = end;
  }
}

// AdvanceTo() between packets.
void PacketThread::EndEpochs() {
  watch_.Begin();
  AdvanceTo(now_);
  counters_.sweep_cycles += watch_.End(now_);
}

// False when the sweep of the epoch before is still under way.
bool PacketThread::CloseCurrentEpoch(Nanos end) {
  if (sweep_.is_active()) {
    if (sweep_.is_delivering() && !sweep_.is_blocked()) return false;
    sweep_.Abandon();  // the agent does not keep up; never wait for it
    UpdateOldestPending();
  }
  epoch_.span.end = end;
  const ConnectionCounters& connections = connections_.counters();
  const uint64_t evicted = connections.evicted_alive + connections.history_evicted;
  if (evicted != evicted_before_) epoch_.reasons |= kConnectionEvicted;
  evicted_before_ = evicted;
  return true;
}

// Starts the sweep of the epoch just closed, if it has anything, and the next epoch.
void PacketThread::BeginEpoch(Nanos start) {
  const uint32_t bank = epoch_.bank();
  const Nanos length = running_->program->epoch_ns();
  const EpochSpan next{start, (CellOf(start, length) + 1) * length};
  // A sweep that was given up left changes of TCP state unread.  They come first, and those of this
  // epoch an epoch later: until then the agent's values are old ones, at the ends of this epoch and
  // at the beginning of the next.
  const bool were_late = changes_are_late_;
  changes_are_late_ = !connections_.BeginEpoch(next.start, next.end);
  if (were_late || changes_are_late_) epoch_.reasons |= kRingFull;
  const Nanos ended = std::max<Nanos>(epoch_.span.end - epoch_.span.start, 1);
  counters_.recent_packets =
      epoch_.packets * uint64_t{10 * kNanosPerMilli} / static_cast<uint64_t>(ended);
  const bool has_work = epoch_.packets != 0 || epoch_.reasons != 0 || sweep_.has_unreported();
  SweepJob job{epoch_.span,
               epoch_.number,
               epoch_.touched[bank].data(),
               epoch_.touched_count[bank],
               epoch_.reasons,
               !has_work,
               running_.get(),
               previous_.get()};
  epoch_.running = running_.get();
  epoch_.previous = previous_.get();
  epoch_.span = next;
  is_closing_ = false;
  sweep_.Start(job);
  epoch_.number = FlowTable::NextEpoch(epoch_.number);
  epoch_.reasons = 0;
  if (start < epoch_.doubtful_until) epoch_.reasons |= kSplitConnection;
  epoch_.packets = 0;
  epoch_.touched_count[epoch_.bank()] = 0;
  for (Generation* generation : {epoch_.running, epoch_.previous}) {
    if (generation != nullptr) generation->sets.BeginEpoch(epoch_.number);
  }
  counters_.epochs++;
  UpdateOldestPending();
  if (options_.admission.is_enabled) DecideOnRelief(CellOf(start, length));
}

// Whether the epoch that begins in `cell` is withheld, by those before it.
void PacketThread::DecideOnRelief(int64_t cell) {
  const EpochLoad before = loads_before_;
  loads_before_ = {epoch_.span.start,
                   options_.admission.read_cycles(),
                   phase_one_.new_flows().free_cycles(),
                   counters_.batch_cycles,
                   counters_.packets,
                   counters_.withheld_packets};
  const EpochLoad load = loads_before_ - before;
  if (!epoch_.is_withheld) {
    relief_.NoteEpoch(load);
  } else if (load.packets != 0) {
    counters_.epochs_withheld++;
    connections_.GiveUpTcpBefore(epoch_.span.start);  // they went on unseen
  }
  const bool was_withheld = epoch_.is_withheld;
  epoch_.is_withheld = relief_.Withholds(cell);
  NewFlows& new_flows = phase_one_.new_flows();
  if (epoch_.is_withheld && !was_withheld) new_flows.Pause(now_);
  if (was_withheld && !epoch_.is_withheld) new_flows.Resume(now_);
}

bool PacketThread::OnIdle(Nanos now) {
  phase_one_.new_flows().OnIdle(HasStepAt(std::max(now_, now)));
  return RunStep(now, !options_.sweeps_unbounded);
}

bool PacketThread::StandIn(Nanos now) { return RunStep(now, false); }

void PacketThread::NotePause(Nanos now, uint64_t away) {
  if (now_ == INT64_MIN || now < now_) return;  // the first call, or a clock set back
  watch_.NotePause(static_cast<Nanos>(std::min<uint64_t>(away, INT64_MAX)));
}

// What other threads received before the end of the epoch, if that is over, belongs to it.
bool PacketThread::TakeInPeersOfEpoch() { return TakeInPeers(std::min(now_, epoch_.span.end - 1)); }

// False when they told more than there is time for.
bool PacketThread::TakeInPeers(Nanos until) {
  if (peers().Next(until) == nullptr) return true;
  const bool has_taken_all = phase_one_.tracked().TakeInPeers(until);
  if (epoch_.late.reasons != 0) {
    sweep_.ReportLater(epoch_.late.span, epoch_.late.reasons);
    epoch_.late = {};
  }
  return has_taken_all;
}

// Ends epochs and sweeps; true while there is more to do at `now`.
bool PacketThread::RunStep(Nanos now, bool is_bounded) {
  Meet(now);
  TakeInPeersOfEpoch();
  if (!HasStepAt(now_)) {
    TakeInPeers(now_);
    return false;
  }
  if (is_bounded) watch_.Begin();
  AdvanceTo(now_);
  if (sweep_.is_active()) {
    sweep_.Step(is_bounded ? &watch_ : nullptr);
    UpdateOldestPending();
    last_step_ = now_;
  }
  if (is_closing_ && !sweep_.is_active()) CloseNow();
  if (is_bounded) counters_.sweep_cycles += watch_.End(now_);
  TakeInPeers(now_);
  return sweep_.is_active();
}

void PacketThread::CloseEpoch(Nanos now) {
  now_ = std::max(now_, now);
  TakeInPeersOfEpoch();
  AdvanceTo(now);
  TakeInPeers(now_);
  if (running_ == nullptr) return;
  is_closing_ = sweep_.is_delivering();
  if (!is_closing_) CloseNow();
}

void PacketThread::CloseNow() {
  if (CloseCurrentEpoch(epoch_.span.end)) BeginEpoch(epoch_.span.end);
}

// When no idle time comes, a step runs between batches now and then.
bool PacketThread::SweepUnderLoad(Nanos now) {
  if (!sweep_.is_active() || options_.sweeps_unbounded) return false;
  if (last_step_ > now - kLoadSpacing * options_.sweep_budget_ns) return false;
  RunStep(now, true);
  return true;
}

Nanos PacketThread::next_work_ns() const {
  if (sweep_.is_active()) return now_;
  const Nanos work = has_undelivered() ? epoch_.span.end : INT64_MAX;
  const bool expects_messages = peers().is_active() && now_ < peers().expects_until();
  return expects_messages ? std::min(work, now_ + kPeerSpacing) : work;
}

Nanos PacketThread::clean_until() const {
  if (sweep_.is_delivering()) return sweep_.delivered_until();
  const Nanos clean = has_undelivered() ? epoch_.span.start : INT64_MAX;
  return sweep_.has_unreported() ? std::min(clean, sweep_.unreported_since()) : clean;
}

void PacketThread::UpdateOldestPending() {
  epoch_.oldest_pending = sweep_.is_active() ? sweep_.job().number : epoch_.number;
}

// --- packets ---------------------------------------------------------------

bool PacketThread::OnBatch(const Frame* frames, int count, const Arrival& arrival) {
  Meet(arrival.now);
  bool has_more = running_ != nullptr && now_ >= epoch_.span.end;
  bool has_told_all = true;
  if (has_more) {
    has_told_all = TakeInPeersOfEpoch();
    EndEpochs();
  }
  has_told_all &= TakeInPeers(now_);
  if (!has_told_all) {
    counters_.peer_backlogs++;
    epoch_.reasons |= kSplitConnection;
    has_more = true;
  }
  // Two looks at the clock are a twentieth of what a batch costs.
  lot_ = lot_ * 1664525 + 1013904223;
  const bool is_timed = lot_ >> (32 - kTimedBatchesLog2) == 0;
  const uint64_t before = is_timed ? options_.admission.read_cycles() : 0;
  if (count > 0) last_packet_ns_ = now_;
  counters_.batches++;
  counters_.packets += static_cast<uint64_t>(count);
  if (running_ != nullptr && !running_->program->plans().empty()) {
    if (epoch_.is_withheld) {
      WithholdBatch(frames, count);
    } else {
      phase_one_.new_flows().OnBatch(now_, sweep_.counters().visited());
      has_more |= phase_one_.Process(frames, count, arrival, now_);
    }
  } else {
    for (int i = 0; i < count; i++) counters_.bytes += frames[i].wire_length;
  }
  if (is_timed) {
    const uint64_t took = options_.admission.read_cycles() - before;
    counters_.batch_cycles += took << kTimedBatchesLog2;
  }
  has_more |= SweepUnderLoad(now_);
  return has_more;
}

void PacketThread::WithholdBatch(const Frame* frames, int count) {
  uint64_t bytes = 0;
  for (int i = 0; i < count; i++) bytes += frames[i].wire_length;
  const auto packets = static_cast<uint64_t>(count);
  epoch_.packets += packets;
  counters_.bytes += bytes;
  phase_one_.new_flows().CountWithheld(packets, bytes);
}

void PacketThread::Prepare(Generation* next, const Frame* frames, int count,
                           const Arrival& arrival) {
  const uint64_t before = __rdtsc();
  next->number = NextNumber();
  // Those that are dear are matched when they come, under the eyes of admission.
  if (next->dear_batches.LeaveOut()) return;
  const bool has_matched =
      !next->warmer.WarmSome() && next_flows_.Prepare(next, frames, count, arrival);
  const uint64_t took = __rdtsc() - before;
  if (has_matched) next->dear_batches.Add(took);
  counters_.batch_cycles += took;
}

void PacketThread::FillCounters(MonitorCounters* counters) const {
  *counters = counters_;
  const SweepCounters& sweep = sweep_.counters();
  const ConnectionCounters& connections = connections_.counters();
  counters->flows = flows_.count();
  counters->flows_reclaimed = flows_.reclaimed();
  counters->sweep_steps = sweep.steps;
  counters->swept_flows = sweep.flows;
  counters->swept_sets = sweep.sets;
  counters->partials = sweep.partials;
  counters->partials_dropped = sweep.dropped;
  counters->connections = connections.connections;
  counters->connections_evicted = connections.evicted_alive;
  counters->history_evicted = connections.history_evicted;
  counters->history_blocks = connections.history_blocks;
  counters->stat_bytes = flows_.blocks().used_bytes();
  if (running_ == nullptr) return;
  counters->sets = running_->sets.count();
  counters->set_bytes = running_->sets.arena_used_bytes();
}

}  // namespace trumpet
