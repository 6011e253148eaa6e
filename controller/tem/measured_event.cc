// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/tem/measured_event.h"

#include <algorithm>
#include <utility>

#include "lib/verdict/verdict_predicate.h"

namespace trumpet {
namespace {

constexpr size_t kMaxSilent = 64;  // as NetworkLimits has it

// Each once, and no more than a report may name.
void NameSilent(std::vector<std::string> hosts, NetworkReport* report) {
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  const size_t named = std::min(hosts.size(), kMaxSilent);
  report->silent_omitted = static_cast<uint32_t>(hosts.size() - named);
  hosts.resize(named);
  report->silent_hosts = std::move(hosts);
}

}  // namespace

MeasuredEvent::MeasuredEvent(EventSpec spec, Nanos from)
    : spec_(std::move(spec)),
      states_(MeasuredStatesOf(spec_.predicate)),
      next_(CellOf(from, spec_.interval_ns())),
      begun_(next_ - 1),
      rate_(spec_.report_rate, spec_.report_rate) {}

Nanos MeasuredEvent::deadline_ns() const {
  return spec_.deadline_ms == 0 ? spec_.interval_ns() : Nanos{spec_.deadline_ms} * kNanosPerMilli;
}

Nanos MeasuredEvent::BeginInterval(Nanos now) {
  const int64_t last = std::max(next_, CellOf(now, spec_.interval_ns()) - 1);
  if (last != begun_ + 1) run_ = 0;
  begun_ = last;
  next_ = last + 1;
  return NextEnd() - spec_.interval_ns();
}

NetworkReport MeasuredEvent::MakeReport(Nanos now) const {
  NetworkReport report;
  report.report.event_id = spec_.id;
  report.report.event = spec_.name;
  report.report.severity = spec_.severity;
  report.report.bucket_json = "{}";
  report.report.start_ns = begun_ * spec_.interval_ns();
  report.report.end_ns = report.report.start_ns + spec_.interval_ns();
  report.report.detected_ns = now;
  return report;
}

void MeasuredEvent::Decide(const MeasuredFacts& facts, Nanos now,
                           std::vector<NetworkReport>* reports) {
  const Verdict verdict = VerdictOf(spec_.predicate, [&facts](const Expr& leaf) {
    const auto found = facts.values.find(leaf.measured);
    return found == facts.values.end() ? Number() : found->second;
  });
  const bool fires = verdict.fires && !facts.values.empty();
  run_ = fires ? run_ + 1 : 0;
  ++counters_.intervals_decided;
  if (!facts.is_complete) ++counters_.intervals_incomplete;
  const uint32_t reasons = facts.is_complete ? 0u : uint32_t{kHostSilent};
  if (run_ < spec_.for_count) {
    if (is_told_ && !MayStillGoOn(fires, facts)) {
      TellClear(reasons | (is_inherited_ ? uint32_t{kMonitorInterrupted} : 0u), facts, now,
                reports);
    }
    return;
  }
  is_inherited_ = false;  // told of or withheld: it goes on
  if (!rate_.Take(now)) {
    ++counters_.reports_suppressed;
    return;
  }
  NetworkReport report = MakeReport(now);
  report.report.value = verdict.value;
  report.report.threshold = verdict.threshold;
  report.report.incomplete_reasons = reasons;
  report.host_count = facts.host_count;
  report.stages.delivered_ns = facts.answered_ns;
  report.suppressed = rate_.TakeSuppressed();
  NameSilent(facts.silent, &report);
  reports->push_back(std::move(report));
  is_told_ = true;
  ++counters_.reports;
}

// Hosts come back one by one, and how long the run had lasted is not known.
bool MeasuredEvent::MayStillGoOn(bool satisfies, const MeasuredFacts& facts) const {
  if (!is_inherited_ || begun_ * spec_.interval_ns() >= inherited_until_) return false;
  return satisfies || !facts.is_complete;
}

void MeasuredEvent::TellClear(uint32_t reasons, const MeasuredFacts& facts, Nanos now,
                              std::vector<NetworkReport>* reports) {
  NetworkReport clear = MakeReport(now);
  clear.is_clear = true;
  clear.report.incomplete_reasons = reasons;
  clear.host_count = facts.host_count;
  NameSilent(facts.silent, &clear);
  clear.suppressed = rate_.TakeSuppressed();
  reports->push_back(std::move(clear));
  is_told_ = is_inherited_ = false;
  ++counters_.clears;
}

void MeasuredEvent::TellEnd(Nanos now, std::vector<NetworkReport>* reports) {
  if (!is_told_) return;
  begun_ = next_;  // the interval in which it ended
  TellClear(kEventEnded, {}, now, reports);
}

void MeasuredEvent::Inherit(Nanos until) {
  if (is_told_) return;
  is_told_ = is_inherited_ = true;
  inherited_until_ = until;
}

}  // namespace trumpet
