// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/verdict/host_verdicts.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "lib/verdict/event_verdicts.h"
#include "lib/verdict/flow_state_map.h"
#include "lib/verdict/incomplete_ranges.h"

namespace trumpet {

struct HostVerdicts::Impl {
  Impl(Nanos timeout_ns, uint64_t seed)
      : flows(timeout_ns, seed), flow_timeout_ns(timeout_ns), hash_seed(seed) {}

  using Events = std::vector<std::unique_ptr<EventVerdicts>>;

  // Calls `visit` for the installed events in their order, then for those that are ending.
  template <typename Visitor>
  void ForEach(const Visitor& visit) {
    for (auto& event : events) visit(*event);
    for (auto& event : ending) visit(*event);
  }

  // Does something with `event` that may change how many buckets it has.  It may fill what all
  // leave of their cap; without such room it can only exchange one of its own.
  template <typename Action>
  void WithinCap(EventVerdicts* event, const Action& action) {
    const size_t before = event->bucket_count();
    const size_t ahead_before = event->ahead_count();
    event->LimitBuckets(before + (bucket_cap - std::min(bucket_cap, alive)));
    event->LimitAhead(ahead_before + (bucket_cap - std::min(bucket_cap, ahead)));
    action();
    alive += event->bucket_count() - before;
    ahead += event->ahead_count() - ahead_before;
    most_alive = std::max(most_alive, alive);
  }

  bool AsksForFlows() const;
  void IndexEvents();
  class Outlook;
  Nanos NextEnd(Nanos until);
  Nanos DecideAllAt(Nanos end, Nanos until, std::vector<Report>* reports);
  void Forget();

  FlowStateMap flows;
  Nanos flow_timeout_ns;
  Nanos all_flows_known_from = INT64_MIN;  // before, some that rest may not be
  IncompleteRanges incomplete;
  Nanos oldest_start = INT64_MAX;  // of intervals to come: what is older need not be known
  Events events;
  Events ending;  // no longer installed, but with intervals still to decide
  std::unordered_map<uint32_t, EventVerdicts*> by_id;
  std::vector<Nanos> lengths;  // interval lengths of events that ask for the start of an interval
  bool uses_flow_state = false;
  uint64_t hash_seed;
  size_t bucket_cap = SIZE_MAX;
  size_t alive = 0;       // buckets of `events` and `ending`
  size_t most_alive = 0;  // at once, from the last decision on
  size_t ahead = 0;       // buckets that wait for their intervals
  VerdictCounters counters;
};

HostVerdicts::HostVerdicts(Nanos flow_timeout_ns, uint64_t hash_seed)
    : impl_(std::make_unique<Impl>(flow_timeout_ns, hash_seed)) {}

HostVerdicts::~HostVerdicts() = default;

void HostVerdicts::Apply(const Plans& plans, Nanos from, bool is_offline, bool has_tracked_tcp) {
  Impl::Events events;
  const bool has_asked = impl_->AsksForFlows();
  std::unordered_map<uint32_t, std::unique_ptr<EventVerdicts>*> installed;
  for (auto& event : impl_->events) installed.emplace(event->plan().spec.id, &event);
  for (const auto& plan : plans) {
    const auto found = installed.find(plan->spec.id);
    std::unique_ptr<EventVerdicts> event;
    if (found != installed.end()) event = std::move(*found->second);
    if (event && !event->TakeOver(plan)) {
      event->EndAt(from);
      impl_->ending.push_back(std::move(event));
    }
    if (!event) {
      event = std::make_unique<EventVerdicts>(plan, from, is_offline, impl_->hash_seed);
      impl_->alive += event->bucket_count();
    }
    events.push_back(std::move(event));
  }
  for (auto& event : impl_->events) {
    if (!event) continue;  // goes on in the new set
    event->EndAt(from);
    impl_->ending.push_back(std::move(event));
  }
  impl_->events = std::move(events);
  impl_->most_alive = std::max(impl_->most_alive, impl_->alive);
  impl_->IndexEvents();
  if (has_tracked_tcp && !has_asked && impl_->AsksForFlows()) {
    impl_->all_flows_known_from = from + impl_->flow_timeout_ns;
  }
}

// Packet threads tell states for installed events, not for those that are ending.
bool HostVerdicts::Impl::AsksForFlows() const {
  return std::any_of(events.begin(), events.end(),
                     [](const auto& event) { return event->plan().uses_flow_state; });
}

void HostVerdicts::Impl::IndexEvents() {
  by_id.clear();
  lengths.clear();
  uses_flow_state = false;
  ForEach([this](EventVerdicts& event) {
    const TriggerPlan& plan = event.plan();
    by_id.emplace(plan.spec.id, &event);  // an installed event comes before an ending one
    uses_flow_state |= plan.uses_flow_state;
    const Nanos length = plan.spec.interval_ns();
    if (plan.uses_last_epoch && std::count(lengths.begin(), lengths.end(), length) == 0) {
      lengths.push_back(length);
    }
  });
  flows.SetLengths(lengths);
  if (!uses_flow_state) flows.Clear();
}

void HostVerdicts::LimitBuckets(size_t count) { impl_->bucket_cap = count; }

void HostVerdicts::Add(const PartialView& partial) {
  const auto found = impl_->by_id.find(partial.event_id);
  if (found == impl_->by_id.end()) {
    ++impl_->counters.unknown_partials;
    return;
  }
  EventVerdicts* event = found->second;
  impl_->WithinCap(event, [&] {
    if (!event->Add(partial)) ++impl_->counters.late_partials;
  });
}

void HostVerdicts::Add(const FlowStateUpdate& update) {
  if (impl_->uses_flow_state) impl_->flows.Queue(update);
}

void HostVerdicts::AddIncomplete(Nanos start, Nanos end, uint32_t reasons) {
  impl_->incomplete.Add(start, end, reasons);
}

void HostVerdicts::Advance(Nanos until, std::vector<Report>* reports) {
  AdvanceSome(until, std::numeric_limits<size_t>::max(), reports);
}

bool HostVerdicts::AdvanceSome(Nanos until, size_t max_reports, std::vector<Report>* reports) {
  for (Nanos end = impl_->NextEnd(until); end <= until && end != INT64_MAX;) {
    impl_->flows.ApplyUntil(end);
    end = impl_->DecideAllAt(end, until, reports);
    if (reports->size() >= max_reports) return false;
  }
  impl_->flows.ApplyUntil(until);
  impl_->Forget();
  return true;
}

void HostVerdicts::EndAfter(Nanos last_packet) {
  for (auto& event : impl_->events) {  // those that are ending already end where they were told
    const Nanos length = event->plan().spec.interval_ns();
    Nanos end = 0;
    const bool is_beyond_time =
        __builtin_mul_overflow(CellOf(last_packet, length) + 1, length, &end);
    event->EndAt(is_beyond_time ? INT64_MAX : end);
  }
}

// What is next for all events, gathered while they are gone through for something else: there may
// be thousands, in every interval.
class HostVerdicts::Impl::Outlook {
 public:
  explicit Outlook(Nanos until) : until_(until) {}

  // Passes over its intervals in which nothing can happen.
  void See(EventVerdicts* event) {
    skipped_ += event->SkipQuiet(until_);
    next_end_ = std::min(next_end_, event->NextEnd());
    oldest_start_ = std::min(oldest_start_, event->NextStart());
  }
  // The earliest end of an interval in which something can happen.
  Nanos NoteIn(Impl* verdicts) const {
    verdicts->counters.intervals_decided += skipped_;
    if (skipped_ != 0) verdicts->most_alive = verdicts->alive;
    verdicts->oldest_start = oldest_start_;
    return next_end_;
  }

 private:
  Nanos until_;
  uint64_t skipped_ = 0;
  Nanos next_end_ = INT64_MAX;
  Nanos oldest_start_ = INT64_MAX;
};

Nanos HostVerdicts::Impl::NextEnd(Nanos until) {
  Outlook outlook(until);
  ForEach([&](EventVerdicts& event) { outlook.See(&event); });
  return outlook.NoteIn(this);
}

// Returns what NextEnd() would say next.
Nanos HostVerdicts::Impl::DecideAllAt(Nanos end, Nanos until, std::vector<Report>* reports) {
  Outlook outlook(until);
  const size_t reports_before = reports->size();
  Nanos oldest_asked = end;
  most_alive = alive;
  ForEach([&](EventVerdicts& event) {
    if (event.NextEnd() == end) {
      uint32_t reasons = incomplete.ReasonsIn(event.NextStart(), end);
      const bool lacks_flows =
          flows.HasRefusedAfter(event.NextStart()) || event.NextStart() < all_flows_known_from;
      if (event.plan().uses_flow_state && lacks_flows) reasons |= kConnectionEvicted;
      reasons = event.Relevant(reasons);
      const std::vector<EventVerdicts::Decision>* decisions = nullptr;
      WithinCap(&event, [&] { decisions = &event.Decide(flows); });
      for (const EventVerdicts::Decision& decision : *decisions) {
        reports->push_back(event.MakeReport(decision, reasons));
      }
      WithinCap(&event, [&] { event.Finish(); });
      ++counters.intervals_decided;
    }
    if (event.plan().uses_last_epoch) oldest_asked = std::min(oldest_asked, event.NextStart());
    outlook.See(&event);
  });
  counters.reports += reports->size() - reports_before;
  if (uses_flow_state) flows.Expire(oldest_asked);
  return outlook.NoteIn(this);
}

// Drops what no interval to come can ask for.
void HostVerdicts::Impl::Forget() {
  const size_t ending_before = ending.size();
  const auto ended = std::stable_partition(ending.begin(), ending.end(), [](const auto& event) {
    return event->NextEnd() != INT64_MAX;
  });
  for (auto event = ended; event != ending.end(); ++event) {
    alive -= (*event)->bucket_count();
    ahead -= (*event)->ahead_count();
  }
  ending.erase(ended, ending.end());
  if (ending.size() != ending_before) IndexEvents();
  incomplete.Forget(oldest_start);
}

const VerdictCounters& HostVerdicts::counters() const {
  VerdictCounters& counters = impl_->counters;
  counters.buckets = impl_->most_alive;
  counters.buckets_ahead = impl_->ahead;
  counters.buckets_evicted = 0;
  for (const auto& event : impl_->events) counters.buckets_evicted += event->buckets_evicted();
  return counters;
}

std::vector<EventStatus> HostVerdicts::Status() const {
  std::vector<EventStatus> statuses;
  statuses.reserve(impl_->events.size());
  for (const auto& event : impl_->events) statuses.push_back(event->Status());
  return statuses;
}

}  // namespace trumpet
