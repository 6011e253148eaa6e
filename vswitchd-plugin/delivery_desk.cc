// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/delivery_desk.h"

#include <algorithm>
#include <utility>

namespace trumpet {

void DeliveryDesk::Open(Nanos flow_timeout_ns) {
  verdicts_ = std::make_unique<HostVerdicts>(flow_timeout_ns, hash_seed_);
  verdicts_->LimitBuckets(bucket_cap_);
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
  closed_counters_.buckets = 0;
  verdicts_.reset();
}

void DeliveryDesk::LimitBuckets(size_t count) {
  bucket_cap_ = count;
  if (is_open()) verdicts_->LimitBuckets(count);
}

void DeliveryDesk::Apply(const HostVerdicts::Plans& plans, Nanos from) {
  for (const auto& plan : plans) {
    longest_interval_ = std::max(longest_interval_, plan->spec.interval_ns());
  }
  std::map<uint32_t, EventStatus> kept;
  for (const auto& plan : plans) {
    const auto before = closed_events_.find(plan->spec.id);
    if (before != closed_events_.end()) kept.insert(*before);
  }
  closed_events_ = std::move(kept);
  verdicts_->Apply(plans, from, /*is_offline=*/false);
}

void DeliveryDesk::MarkMissing(Nanos start, Nanos end, uint32_t reasons, bool was_away) {
  if (!is_open() || start >= end) return;
  verdicts_->AddIncomplete(start, end, reasons);
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

void DeliveryDesk::Decide(Nanos until, Nanos now) {
  if (!is_open() || until <= decided_until_) return;
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
  log_->Add(std::move(reports));
}

VerdictCounters DeliveryDesk::counters() const {
  VerdictCounters sum = closed_counters_;
  if (!is_open()) return sum;
  const VerdictCounters& now = verdicts_->counters();
  sum.buckets += now.buckets;
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
  events = verdicts_->Status();
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
  if (is_open()) verdicts_->Add(partial);
}

void DeliveryDesk::OnFlowState(const FlowStateUpdate& update) {
  if (is_open()) verdicts_->Add(update);
}

void DeliveryDesk::OnEpochEnd(Nanos start, Nanos end, uint32_t reasons) {
  if (reasons != 0) MarkMissing(start, end, reasons, false);
}

}  // namespace trumpet
