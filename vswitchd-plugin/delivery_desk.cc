// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/delivery_desk.h"

#include <algorithm>
#include <utility>

namespace trumpet {

void DeliveryDesk::Open(Nanos flow_timeout_ns) {
  verdicts_ = std::make_unique<HostVerdicts>(flow_timeout_ns, hash_seed_);
  verdicts_->LimitBuckets(bucket_cap_);
  flow_timeout_ns_ = flow_timeout_ns;
  decided_until_ = INT64_MIN;
  longest_interval_ = 0;
  gaps_.clear();
}

void DeliveryDesk::Close() {
  for (EventStatus& event : Status()) {
    event.buckets = 0;
    closed_events_[event.event_id] = event;
  }
  closed_counters_ = counters();
  closed_counters_.buckets = closed_counters_.buckets_ahead = 0;
  verdicts_.reset();
  network_->Restart();
}

void DeliveryDesk::LimitBuckets(size_t count) {
  bucket_cap_ = count;
  const size_t here = is_open() ? verdicts_->counters().buckets : 0;
  const size_t network = network_->bucket_count();
  network_->LimitBuckets(count - std::min(count, here));
  if (is_open()) verdicts_->LimitBuckets(count - std::min(count, network));
}

void DeliveryDesk::Apply(const EventSet& events, Nanos from, bool has_tracked_tcp) {
  const HostVerdicts::Plans& plans = events.host_plans;
  for (const auto& plan : plans) {
    longest_interval_ = std::max(longest_interval_, plan->spec.interval_ns());
  }
  std::map<uint32_t, EventStatus> kept;
  for (const auto& plan : plans) {
    const auto before = closed_events_.find(plan->spec.id);
    if (before != closed_events_.end()) kept.insert(*before);
  }
  closed_events_ = std::move(kept);
  verdicts_->Apply(plans, from, /*is_offline=*/false, has_tracked_tcp);
  network_->Apply(events.controller_id, events.of_controller, from, flow_timeout_ns_,
                  has_tracked_tcp);
}

void DeliveryDesk::MarkMissing(Nanos start, Nanos end, uint32_t reasons, bool was_away) {
  if (!is_open() || start >= end) return;
  verdicts_->AddIncomplete(start, end, reasons);
  network_->AddIncomplete(start, end, reasons);
  if (!was_away) return;
  if (!gaps_.empty() && start <= gaps_.back().end && start >= gaps_.back().start) {
    gaps_.back().end = std::max(gaps_.back().end, end);
  } else {
    gaps_.push_back({start, end});
  }
}

bool DeliveryDesk::WasAway(const Report& report) const {
  return std::any_of(gaps_.begin(), gaps_.end(), [&](const Gap& gap) {
    return gap.start < report.start_ns && report.end_ns <= gap.end;
  });
}

void DeliveryDesk::Decide(Nanos until, Nanos now, Nanos epoch_ns) {
  if (!is_open()) return;
  if (until > decided_until_) DecideHere(until, now);
  network_->Close(decided_until_, epoch_ns);
}

void DeliveryDesk::DecideHere(Nanos until, Nanos now) {
  std::vector<Report> reports;
  verdicts_->Advance(until, &reports);
  decided_until_ = until;
  if (!gaps_.empty()) {
    reports.erase(std::remove_if(reports.begin(), reports.end(),
                                 [this](const Report& report) { return WasAway(report); }),
                  reports.end());
    while (!gaps_.empty() && gaps_.front().end + longest_interval_ < until) gaps_.pop_front();
  }
  if (reports.empty()) return;
  for (Report& report : reports) report.detected_ns = now;
  network_->AddReports(reports);
  log_->Add(std::move(reports));
}

VerdictCounters DeliveryDesk::counters() const {
  VerdictCounters sum = closed_counters_;
  if (!is_open()) return sum;
  const NetworkDeskCounters network = network_->counters();
  sum.buckets += network.buckets;
  sum.buckets_evicted += network.buckets_evicted;
  const VerdictCounters& now = verdicts_->counters();
  sum.buckets += now.buckets;
  sum.buckets_ahead += now.buckets_ahead;
  sum.buckets_evicted += now.buckets_evicted;
  sum.late_partials += now.late_partials;
  sum.unknown_partials += now.unknown_partials;
  sum.intervals_decided += now.intervals_decided;
  sum.reports += now.reports;
  return sum;
}

std::vector<EventStatus> DeliveryDesk::Status() const {
  std::vector<EventStatus> events;
  if (!is_open()) {
    for (const auto& [id, event] : closed_events_) events.push_back(event);
    return events;
  }
  events = network_->Status();
  for (EventStatus& event : verdicts_->Status()) events.push_back(event);
  for (EventStatus& event : events) {
    const auto before = closed_events_.find(event.event_id);
    if (before == closed_events_.end()) continue;
    event.reports += before->second.reports;
    event.buckets_evicted += before->second.buckets_evicted;
    event.last_report_end_ns =
        std::max(event.last_report_end_ns, before->second.last_report_end_ns);
  }
  return events;
}

void DeliveryDesk::OnPartial(const PartialView& partial) {
  if (is_open() && !network_->Add(partial)) verdicts_->Add(partial);
}

void DeliveryDesk::OnFlowState(const FlowStateUpdate& update) {
  if (!is_open()) return;
  verdicts_->Add(update);
  network_->Add(update);
}

void DeliveryDesk::OnEpochEnd(Nanos start, Nanos end, uint32_t reasons) {
  if (reasons != 0) MarkMissing(start, end, reasons, false);
}

}  // namespace trumpet
