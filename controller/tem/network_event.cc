// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/tem/network_event.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "lib/model/bucket_key.h"

namespace trumpet {
namespace {

// As the controller runs it: with its own cap on buckets.
std::shared_ptr<const TriggerPlan> ForNetwork(const TriggerPlan& plan, uint32_t max_buckets) {
  auto own = std::make_shared<TriggerPlan>(plan);
  own->spec.max_buckets = max_buckets;
  return own;
}

Nanos SumOrMax(Nanos a, Nanos b) {
  Nanos sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

}  // namespace

void AddTo(const NetworkCounters& from, NetworkCounters* into) {
  into->intervals_decided += from.intervals_decided;
  into->intervals_incomplete += from.intervals_incomplete;
  into->reports += from.reports;
  into->clears += from.clears;
  into->reports_suppressed += from.reports_suppressed;
  into->partials += from.partials;
  into->late_partials += from.late_partials;
  into->early_partials += from.early_partials;
  into->refused_partials += from.refused_partials;
  into->replaced_partials += from.replaced_partials;
  into->malformed += from.malformed;
  into->strangers += from.strangers;
  into->late_flow_states += from.late_flow_states;
  into->refused_flow_states += from.refused_flow_states;
  into->buckets_evicted += from.buckets_evicted;
  into->polls += from.polls;
  into->poll_answers += from.poll_answers;
  into->polls_spared += from.polls_spared;
  into->polls_refused += from.polls_refused;
}

NetworkEvent::Waiting::Waiting(size_t max_key_bytes, size_t word_count, uint64_t hash_seed)
    : cells(max_key_bytes, word_count, hash_seed), polls(max_key_bytes, hash_seed) {}

NetworkEvent::NetworkEvent(std::shared_ptr<const TriggerPlan> plan, Nanos from,
                           const NetworkEventOptions& options, const NetworkLimits& limits,
                           NetworkHosts* hosts, NetworkBudget* budget, uint64_t hash_seed)
    : options_(options),
      limits_(limits),
      hosts_(hosts),
      budget_(budget),
      hash_seed_(hash_seed),
      interval_ns_(plan->spec.interval_ns()),
      max_key_bytes_(MaxBucketKeyBytes(plan->spec.granularity)),
      word_count_(plan->word_count),
      verdicts_(ForNetwork(*plan, options.max_buckets), from, /*is_offline=*/false, hash_seed),
      flows_(options.flow_timeout_ns, hash_seed),
      split_(verdicts_.predicate().split()),
      rate_(options.reports_per_second, options.report_burst),
      spare_(max_key_bytes_, word_count_, hash_seed) {
  if (options_.deadline_ns <= 0) options_.deadline_ns = interval_ns_;
  if (options_.splits_threshold && split_.is_sound()) {
    shares_.emplace(plan->spec.id, split_.least, options.last_share_generation,
                    options.worthwhile_hosts);
  }
  if (plan->uses_last_epoch) flows_.SetLengths({interval_ns_});
  buckets_counted_ = verdicts_.bucket_count();
  budget_->buckets += buckets_counted_;
}

NetworkEvent::~NetworkEvent() {
  budget_->bytes -= waiting_bytes_ + queued_bytes_;
  budget_->buckets -= buckets_counted_;
  budget_->flows -= flows_counted_;
  for (const Member& member : members_) --(*hosts_)[member.host]->events;
}

bool NetworkEvent::TakeOver(const std::shared_ptr<const TriggerPlan>& plan) {
  if (shares_ && !(plan->spec.predicate == this->plan().spec.predicate)) return false;
  if (plan->uses_flow_state != this->plan().uses_flow_state) return false;
  if (!verdicts_.TakeOver(ForNetwork(*plan, options_.max_buckets))) return false;
  split_ = verdicts_.predicate().split();
  if (plan->uses_last_epoch) flows_.SetLengths({interval_ns_});
  return true;
}

// --- time --------------------------------------------------------------------------------------

Nanos NetworkEvent::DeadlineOf(int64_t interval) const {
  return SumOrMax(StartOf(interval + 1), options_.deadline_ns);
}

bool NetworkEvent::IsReady(Nanos now, Waiting* waiting) const {
  if (!HaveAllEnded(next(), waiting)) return false;
  if (!waiting->is_owed) return verdicts_.NextEnd() <= now;
  if (!shares_ || waiting->polls.bucket_count() == 0) return true;
  return waiting->is_asking_over && waiting->polls.asked_count() == 0;
}

bool NetworkEvent::Advance(Nanos now, size_t max_reports, NetworkOutput* output) {
  if (options_.waits_to_be_placed && !is_ending_) return true;
  if (IsQuiet()) SkipEnded(now);
  if (shares_) AskWhereDue(now, output);
  for (;;) {
    TellMissing(now, output);
    const Nanos end = verdicts_.NextEnd();
    if (end == INT64_MAX) TellEnd(now, output);
    if (end > SumOrMax(now, limits_.max_lead_ns)) return true;
    const bool is_late = now >= DeadlineOf(next());
    if (!is_late && !IsReady(now, &At(next()))) return true;
    if (is_late && SkipQuiet(now)) continue;
    Decide(now, output);
    if (output->reports.size() >= max_reports) return false;
  }
}

Nanos NetworkEvent::NextDue() const {
  if (options_.waits_to_be_placed && !is_ending_) return INT64_MAX;
  const Nanos end = verdicts_.NextEnd();
  if (end == INT64_MAX || joined_count_ == 0) return end;
  Nanos due = DeadlineOf(next());
  for (const auto& [interval, waiting] : waiting_) {
    if (waiting.polls.bucket_count() == 0 || waiting.is_asking) continue;
    due = std::min(due, SumOrMax(StartOf(interval + 1), options_.deadline_ns / 2));
  }
  return due;
}

void NetworkEvent::TellRest(Nanos now, NetworkOutput* output) {
  while (!options_.waits_to_be_placed && verdicts_.NextEnd() <= now) {
    if (!SkipQuiet(SumOrMax(now, options_.deadline_ns))) Decide(now, output);
  }
  TellEnd(now, output);
}

// Passes over intervals whose deadline is over, in which nothing was delivered and nothing can
// fire.
bool NetworkEvent::SkipQuiet(Nanos now) {
  int64_t until = CellOf(now - options_.deadline_ns, interval_ns_);
  for (const auto& [interval, waiting] : waiting_) {
    if (waiting.is_empty()) continue;
    until = std::min(until, interval);
    break;
  }
  const uint64_t skipped = until <= next() ? 0 : verdicts_.SkipQuiet(StartOf(until));
  if (skipped == 0) return false;
  Passed(skipped, !members_.empty());
  ApplyFlows(verdicts_.NextStart());
  return true;
}

void NetworkEvent::Passed(uint64_t intervals, bool are_incomplete) {
  counters_.intervals_decided += intervals;
  if (are_incomplete) counters_.intervals_incomplete += intervals;
  const auto first_left = waiting_.lower_bound(next());
  for (auto at = waiting_.begin(); at != first_left; ++at) Release(at->second.bytes, &at->second);
  waiting_.erase(waiting_.begin(), first_left);
  if (shares_) shares_->Forget(verdicts_.NextStart());
  ForgetLeft();
}

bool NetworkEvent::IsQuiet() const {
  if (is_ending_ || plan().uses_flow_state || !verdicts_.IsQuiet()) return false;
  if (!inherited_.empty()) return false;
  return std::all_of(waiting_.begin(), waiting_.end(),
                     [](const auto& one) { return one.second.is_quiet(); });
}

void NetworkEvent::CatchUp(Nanos now) {
  if (now == INT64_MIN || options_.waits_to_be_placed || !IsQuiet()) return;
  SkipEnded(now);
  if (now >= DeadlineOf(next())) SkipQuiet(now);
}

// Owes the next interval, and says itself when it has ended it and those behind.
bool NetworkEvent::SaysWhenOver(const Member& member) const {
  const NetworkHost& host = *(*hosts_)[member.host];
  return Owes(member, next()) && host.off_from > host.ended_until;
}

// Until then a host owes all intervals as it owes the next one, or none, and has ended those it
// owes.
Nanos NetworkEvent::UnchangedUntil(const Member& member) const {
  Nanos until = INT64_MAX;
  for (const Nanos change : {member.from, member.until, member.wanted_from, member.wanted_until}) {
    if (change > verdicts_.NextStart()) until = std::min(until, change);
  }
  return SaysWhenOver(member) ? std::min(until, (*hosts_)[member.host]->ended_until) : until;
}

// Passes over intervals that all hosts have ended, in which nothing was delivered and nothing can
// fire: one look at the members for many, where deciding each takes one for each.
void NetworkEvent::SkipEnded(Nanos now) {
  Nanos until = SumOrMax(now, limits_.max_lead_ns);
  bool is_owed = false;
  for (const Member& member : members_) {
    until = std::min(until, UnchangedUntil(member));
    if (until < verdicts_.NextEnd()) return;
    is_owed |= SaysWhenOver(member);
  }
  const bool is_missed = IsAnyMissed(next());
  const uint64_t skipped = verdicts_.SkipQuiet(is_owed ? until : std::min(until, now));
  if (skipped != 0) Passed(skipped, is_missed);
}

void NetworkEvent::Decide(Nanos now, NetworkOutput* output) {
  Waiting& waiting = At(next());
  if (waiting.merging != Merging::kAsTheyCome) {
    LimitBuckets();
    MergeAll(&waiting);
  }
  const size_t flow_room = budget_->max_flows - std::min(budget_->max_flows, budget_->flows);
  flows_.LimitFlows(flows_.count() + flow_room);
  ApplyFlows(verdicts_.NextEnd());

  ++counters_.intervals_decided;
  if (!HaveAllEnded(next(), &waiting) || IsAnyMissed(next()) || waiting.polls.asked_count() != 0 ||
      IsAnyUnasked(next(), waiting)) {
    ++counters_.intervals_incomplete;
  }
  if (waiting.refused_polls != 0 && IsAnyToBeAsked()) {
    waiting.reasons |= kBucketEvicted;
    counters_.polls_refused += waiting.refused_polls;
  }
  const auto& decisions = verdicts_.Decide(flows_);
  if (!decisions.empty()) Tell(decisions, now, waiting, output);
  Finish();
}

void NetworkEvent::Finish() {
  const auto waiting = waiting_.find(next());
  Release(waiting->second.bytes, &waiting->second);
  std::swap(waiting->second.cells, spare_);
  waiting_.erase(waiting);
  spare_.Recycle();
  verdicts_.Finish();
  flows_.Expire(verdicts_.NextStart());

  budget_->buckets += verdicts_.bucket_count() - buckets_counted_;
  buckets_counted_ = verdicts_.bucket_count();
  budget_->flows += flows_.count() - flows_counted_;
  flows_counted_ = flows_.count();

  if (shares_) shares_->Forget(verdicts_.NextStart());
  ForgetLeft();
}

// Members that owe nothing any more go, and what they delivered beyond: their numbers may be given
// again.
void NetworkEvent::ForgetLeft() {
  const auto gone =
      std::stable_partition(members_.begin(), members_.end(), [this](const Member& member) {
        return member.until > verdicts_.NextStart() ||
               (member.wanted_from != INT64_MAX && member.wanted_until > verdicts_.NextStart());
      });
  if (gone == members_.end()) return;
  for (auto member = gone; member != members_.end(); ++member) {
    DropCells(member->host);
    joined_count_ -= member->has_joined();
    --(*hosts_)[member->host]->events;
  }
  members_.erase(gone, members_.end());
  IndexMembers();
}

void NetworkEvent::DropCells(uint32_t host) {
  for (auto& [interval, waiting] : waiting_) {
    assert(waiting.merging == Merging::kNotYet);
    const size_t before = waiting.cells.count();
    waiting.cells.RemoveHost(host);
    Release((before - waiting.cells.count()) * BytesPerCell(), &waiting);
    for (uint32_t bucket = 0; bucket < waiting.polls.bucket_count(); ++bucket) {
      waiting.polls.Set(bucket, host, PollState::kUntold);
    }
  }
}

NetworkCounters NetworkEvent::counters() const {
  NetworkCounters counters = counters_;
  counters.buckets_evicted = verdicts_.Status().buckets_evicted;
  return counters;
}

}  // namespace trumpet
