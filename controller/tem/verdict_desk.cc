// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/tem/verdict_desk.h"

#include <algorithm>
#include <utility>

namespace trumpet {
namespace {

FeedAnswer ToFeedAnswer(PollStatus status) {
  switch (status) {
    case PollStatus::kValues:
      return FeedAnswer::kValues;
    case PollStatus::kNoPackets:
      return FeedAnswer::kNoPackets;
    default:
      return FeedAnswer::kNoLongerKnown;
  }
}

}  // namespace

VerdictDesk::VerdictDesk(event_base* base, const WireClock& clock, const NetworkOptions& options,
                         bool arms_timers, VerdictSink* sink)
    : clock_(clock),
      arms_timers_(arms_timers),
      sink_(sink),
      verdicts_(options),
      soon_(base, [this] { Turn(); }),
      later_(base, [this] { Turn(); }) {}

// --- deliveries --------------------------------------------------------------------------------

void VerdictDesk::Take(uint32_t host, const Partials& partials) { verdicts_.Add(host, partials); }

void VerdictDesk::Take(uint32_t host, const HostReport& report) {
  PartialView view;
  view.event_id = report.report.event_id;
  view.epoch_start = report.report.start_ns;
  view.epoch_end = report.report.end_ns;
  view.bucket_key = report.report.bucket_key;
  view.words = report.words.data();
  view.is_unscaled = report.report.is_unscaled;
  if (report.report.incomplete_reasons != 0) {
    verdicts_.AddIncomplete(host, view.epoch_start, view.epoch_end,
                            report.report.incomplete_reasons, view.event_id);
  }
  verdicts_.Add(host, view, report.words.size(), clock_.UnixNow());
}

void VerdictDesk::Take(uint32_t host, const FlowStates& states) {
  for (const auto& [flow, state] : states.states) {
    verdicts_.Add(host, FlowStateUpdate{flow, state, states.start_ns, states.end_ns},
                  states.flow_timeout_ns);
  }
}

void VerdictDesk::Take(uint32_t host, const IntervalEnd& end) {
  const Nanos now = clock_.UnixNow();
  for (const IncompleteRange& range : end.incomplete) {
    verdicts_.AddIncomplete(host, range.start_ns, range.end_ns, range.reasons, range.event_id);
  }
  if (end.dropped_reports + end.dropped_partials > 0) {
    verdicts_.AddDropped(host, end.until_ns, now);
  }
  verdicts_.EndUntil(host, end.until_ns, now);
  verdicts_.SetOff(host, end.is_monitor_off ? end.until_ns : INT64_MAX);
  Touch();
}

void VerdictDesk::Take(uint32_t host, const PollOrder& order, const PollAnswer& answer) {
  PartialView view;
  view.event_id = order.event_id;
  view.epoch_start = order.start_ns;
  view.epoch_end = order.start_ns;
  view.bucket_key = order.bucket_key;
  view.words = answer.words.data();
  view.is_unscaled = answer.is_unscaled;
  verdicts_.Answer(host, ToFeedAnswer(answer.status), view, answer.words.size(),
                   answer.incomplete_reasons, clock_.UnixNow());
  Touch();
}

// --- turns -------------------------------------------------------------------------------------

void VerdictDesk::Touch() {
  if (is_touched_) return;
  is_touched_ = true;
  if (!arms_timers_) return;
  // Others have as long as the last turn took.
  const Nanos since = clock_.MonotonicNow() - last_turn_at_;
  soon_.RunAfter(std::max<Nanos>(last_turn_ns_ - since, 0));
}

void VerdictDesk::Tick() {
  while (!RunOnce()) {
  }
}

void VerdictDesk::Turn() {
  const Nanos began = clock_.MonotonicNow();
  const bool is_done = RunOnce();
  last_turn_at_ = clock_.MonotonicNow();
  last_turn_ns_ = std::min(last_turn_at_ - began, kLongestWait);
  if (!is_done) {
    Touch();
    return;
  }
  const Nanos due = verdicts_.NextDue();
  if (is_touched_ || due == INT64_MAX) return;
  later_.RunAfter(std::max<Nanos>(due - clock_.UnixNow(), 0));
}

// False: there is more to do.
bool VerdictDesk::RunOnce() {
  ++turns_;
  is_touched_ = false;
  const bool is_done = verdicts_.Advance(clock_.UnixNow(), kReportsPerTurn, &output_);
  HandOn();
  return is_done;
}

void VerdictDesk::HandOn() {
  NetworkOutput output;
  std::swap(output, output_);
  for (const ShareOrder& order : output.shares) sink_->OnShareOrder(order);
  if (!output.polls.empty()) sink_->OnPollOrders(std::move(output.polls));
  if (output.reports.empty()) return;
  // The verdict is when all of it is decided, not when the turn began.
  const Nanos decided = clock_.UnixNow();
  for (NetworkReport& report : output.reports) report.report.detected_ns = decided;
  sink_->OnNetworkReports(output.reports);
  CountLatencies(output.reports);
}

void VerdictDesk::CountLatencies(const std::vector<NetworkReport>& reports) {
  const Nanos now = clock_.UnixNow();
  for (const NetworkReport& one : reports) {
    const Report& report = one.report;
    // Without all hosts the verdict was given at the deadline: that is all the waiting.
    const Nanos last = std::max(one.stages.delivered_ns, one.stages.answered_ns);
    const Nanos delivered = one.stages.delivered_ns == 0 ? report.detected_ns : last;
    latencies_.end_to_delivery.Add(delivered - report.end_ns);
    latencies_.delivery_to_verdict.Add(report.detected_ns - std::max(delivered, report.end_ns));
    latencies_.verdict_to_publication.Add(now - report.detected_ns);
    latencies_.end_to_publication.Add(now - report.end_ns);
  }
}

}  // namespace trumpet
