// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/tem/network_event.h"

#include <algorithm>
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
  budget_->bytes -= waiting_bytes_;
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

// --- deliveries --------------------------------------------------------------------------------

NetworkEvent::Waiting& NetworkEvent::At(int64_t interval) {
  const auto [at, is_new] = waiting_.try_emplace(interval, max_key_bytes_, word_count_, hash_seed_);
  if (is_new) std::swap(at->second.cells, spare_);
  return at->second;
}

// Where `count` cells of the host go that counted in the interval from `start` on; null: nowhere.
NetworkEvent::Waiting* NetworkEvent::Admit(uint32_t host, Nanos start, size_t word_count,
                                           size_t count) {
  const int64_t interval = CellOf(start, interval_ns_);
  const Member* member = FindMember(host);
  if (member == nullptr || !Owes(*member, interval)) {
    counters_.strangers += count;
  } else if (word_count != word_count_) {
    counters_.malformed += count;
  } else if (interval < next()) {
    counters_.late_partials += count;
  } else if (interval - next() >= limits_.max_ahead_intervals) {
    counters_.early_partials += count;
    (*hosts_)[host]->incomplete_of[plan().spec.id].Add(StartOf(interval), StartOf(interval + 1),
                                                       kBucketEvicted);
  } else {
    return &At(interval);
  }
  return nullptr;
}

void NetworkEvent::Add(uint32_t host, const PartialView& partial, size_t word_count, Nanos now) {
  Waiting* const waiting = Admit(host, partial.epoch_start, word_count, 1);
  if (waiting == nullptr) return;
  if (!IsBucketKey(plan().spec.granularity, partial.bucket_key)) {
    ++counters_.malformed;
    return;
  }
  Store(host, partial, waiting);
  if (shares_) NoteReported(host, partial.bucket_key, now, waiting);
}

void NetworkEvent::Add(uint32_t host, const Partials& partials) {
  Waiting* const waiting =
      Admit(host, partials.start_ns, partials.words_per_bucket, partials.bucket_count());
  if (waiting == nullptr) return;
  PartialView view;
  partials.Visit([&](std::string_view key, const uint64_t* words, bool is_unscaled) {
    if (!IsBucketKey(plan().spec.granularity, key)) {
      ++counters_.malformed;
      return;
    }
    view.bucket_key = key;
    view.words = words;
    view.is_unscaled = is_unscaled;
    Store(host, view, waiting);
    if (shares_) NoteReported(host, key, /*now=*/0, waiting);
  });
}

void NetworkEvent::Store(uint32_t host, const PartialView& partial, Waiting* waiting) {
  CellTable& cells = waiting->cells;
  uint32_t index = kNoBucket;
  if (!cells.FindOrAdd(host, partial.bucket_key, &index)) {
    ++counters_.replaced_partials;
  } else if (Charge(CellTable::kBytesPerCell + max_key_bytes_ + 8 * word_count_, waiting)) {
    ++counters_.partials;
  } else {
    cells.Remove(index);
    ++counters_.refused_partials;
    return;
  }
  std::copy_n(partial.words, word_count_, cells.words(index));
  cells.SetUnscaled(index, partial.is_unscaled);
}

// Takes `bytes` of what may wait; if there is no room, the interval is marked.
bool NetworkEvent::Charge(size_t bytes, Waiting* waiting) {
  if (waiting_bytes_ + bytes > options_.max_waiting_bytes ||
      budget_->bytes + bytes > budget_->max_bytes) {
    waiting->reasons |= kBucketEvicted;
    return false;
  }
  waiting->bytes += bytes;
  waiting_bytes_ += bytes;
  budget_->bytes += bytes;
  return true;
}

// A late state is taken in, too: verdicts to come are better for it.
void NetworkEvent::Add(const FlowStateUpdate& update) {
  if (!plan().uses_flow_state) return;
  const int64_t interval = CellOf(update.epoch_end - 1, interval_ns_);
  if (interval - next() >= limits_.max_ahead_intervals ||
      flows_.queued_count() >= options_.max_queued_flow_states) {
    ++counters_.refused_flow_states;
    At(next()).reasons |= kConnectionEvicted;
    return;
  }
  if (interval < next()) ++counters_.late_flow_states;
  flows_.Queue(update);
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
  flows_.ApplyUntil(verdicts_.NextStart());
  return true;
}

void NetworkEvent::Passed(uint64_t intervals, bool are_incomplete) {
  counters_.intervals_decided += intervals;
  if (are_incomplete) counters_.intervals_incomplete += intervals;
  waiting_.erase(waiting_.begin(), waiting_.lower_bound(next()));
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

// Until then a host owes all intervals as it owes the next one, or none, and has ended those it
// owes.
Nanos NetworkEvent::UnchangedUntil(const Member& member) const {
  Nanos until = INT64_MAX;
  for (const Nanos change : {member.from, member.until, member.wanted_from, member.wanted_until}) {
    if (change > verdicts_.NextStart()) until = std::min(until, change);
  }
  const NetworkHost& host = *(*hosts_)[member.host];
  const bool is_off = host.off_from <= host.ended_until;
  return Owes(member, next()) && !is_off ? std::min(until, host.ended_until) : until;
}

// Passes over intervals that all hosts have ended, in which nothing was delivered and nothing can
// fire: one look at the members for many, where deciding each takes one for each.
void NetworkEvent::SkipEnded(Nanos now) {
  Nanos until = SumOrMax(now, limits_.max_lead_ns);
  bool is_owed = false;
  for (const Member& member : members_) {
    until = std::min(until, UnchangedUntil(member));
    if (until < verdicts_.NextEnd()) return;
    is_owed |= Owes(member, next());
  }
  const bool is_missed = IsAnyMissed(next());
  const uint64_t skipped = verdicts_.SkipQuiet(is_owed ? until : std::min(until, now));
  if (skipped != 0) Passed(skipped, is_missed);
}

void NetworkEvent::Decide(Nanos now, NetworkOutput* output) {
  Waiting& waiting = At(next());
  const size_t bucket_room =
      budget_->max_buckets - std::min(budget_->max_buckets, budget_->buckets);
  verdicts_.LimitBuckets(verdicts_.bucket_count() + bucket_room);
  MergeAll(&waiting);
  const size_t flow_room = budget_->max_flows - std::min(budget_->max_flows, budget_->flows);
  flows_.LimitFlows(flows_.count() + flow_room);
  flows_.ApplyUntil(verdicts_.NextEnd());

  ++counters_.intervals_decided;
  if (!HaveAllEnded(next(), &waiting) || IsAnyMissed(next()) || waiting.polls.asked_count() != 0) {
    ++counters_.intervals_incomplete;
  }
  const auto& decisions = verdicts_.Decide(flows_);
  if (!decisions.empty()) Tell(decisions, now, waiting, output);
  Finish();
}

void NetworkEvent::MergeAll(Waiting* waiting) {
  CellTable& cells = waiting->cells;
  for (uint32_t index = cells.First(); index != kNoBucket; index = cells.Next(index)) {
    uint32_t& bucket = cells.merged_into(index);
    bucket = verdicts_.AddToNext(cells.bucket_key(index), cells.words(index),
                                 cells.is_unscaled(index), bucket);
  }
}

void NetworkEvent::Finish() {
  const auto waiting = waiting_.find(next());
  waiting_bytes_ -= waiting->second.bytes;
  budget_->bytes -= waiting->second.bytes;
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
    waiting.cells.RemoveHost(host);
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
