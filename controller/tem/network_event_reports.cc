// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// From the decisions on an interval to reports that say what they rest on.

#include <algorithm>
#include <utility>

#include "controller/tem/network_event.h"

namespace trumpet {

void NetworkEvent::Tell(const std::vector<EventVerdicts::Decision>& decisions, Nanos now,
                        const Waiting& waiting, NetworkOutput* output) {
  const NetworkReport common = CommonReport(waiting);
  const size_t first = output->reports.size();
  std::vector<ToldBucket> told;
  for (const EventVerdicts::Decision& decision : decisions) {
    if (!inherited_.empty()) MeetInherited(decision);
    if (!decision.is_clear && !rate_.Take(now)) {
      ++counters_.reports_suppressed;
      continue;
    }
    NetworkReport report = MakeReport(decision, common, waiting);
    report.report.detected_ns = now;
    if (!decision.is_clear) verdicts_.MarkTold(decision.bucket);
    ++(decision.is_clear ? counters_.clears : counters_.reports);
    if (!decision.is_clear) told.push_back({decision.bucket, output->reports.size()});
    output->reports.push_back(std::move(report));
  }
  AddHostShares(waiting, std::move(told), output->reports.data());
  for (size_t i = first; i < output->reports.size(); ++i) Bound(&output->reports[i]);
}

// What holds for every bucket of the interval.
NetworkReport NetworkEvent::CommonReport(const Waiting& waiting) const {
  NetworkReport common;
  const Nanos start = verdicts_.NextStart();
  const Nanos end = verdicts_.NextEnd();
  uint32_t reasons = waiting.reasons;
  for (const Member& member : members_) {
    const NetworkHost& host = *(*hosts_)[member.host];
    const bool is_missed = IsMissed(member, next());
    if (!is_missed && !Owes(member, next())) continue;
    ++common.host_count;
    if (is_missed ? host.off_from < end : IsOff(member, next())) {
      reasons |= kMonitorInterrupted;
      common.off_hosts.push_back(host.name);
      continue;
    }
    if (is_missed) {
      reasons |= kHostSilent;
      common.silent_hosts.push_back(host.name);
      continue;
    }
    common.skew_bound_ns = std::max(common.skew_bound_ns, host.skew_bound_ns);
    reasons |= host.ReasonsIn(plan().spec.id, start, end);
    if (member.from > start || member.until < end) reasons |= kMonitorInterrupted;
    if (HasEnded(member, next())) continue;
    reasons |= kHostSilent;
    common.silent_hosts.push_back(host.name);
  }
  if (IsNobodyKnown()) reasons |= kHostSilent;
  if (plan().uses_flow_state && flows_.HasRefusedAfter(start)) reasons |= kConnectionEvicted;
  common.report.incomplete_reasons = verdicts_.Relevant(reasons);
  return common;
}

// No agent has come yet, nor been named: who counts what, nobody can say.  An event that none of
// the known hosts need count is another matter.
bool NetworkEvent::IsNobodyKnown() const {
  return members_.empty() &&
         std::all_of(hosts_->begin(), hosts_->end(), [](const auto& host) { return !host; });
}

NetworkReport NetworkEvent::MakeReport(const EventVerdicts::Decision& decision,
                                       const NetworkReport& common, const Waiting& waiting) {
  NetworkReport report = common;
  if (shares_ && !decision.is_clear) NamePollGaps(decision.key, waiting, &report);
  report.report = verdicts_.MakeReport(decision, report.report.incomplete_reasons);
  report.is_clear = decision.is_clear;
  report.stages = StagesOf(decision.key, waiting);
  report.suppressed = rate_.TakeSuppressed();
  return report;
}

VerdictStages NetworkEvent::StagesOf(std::string_view key, const Waiting& waiting) const {
  VerdictStages stages;
  if (waiting.ended_members == members_.size()) stages.delivered_ns = waiting.delivered_ns;
  const uint32_t bucket = shares_ ? waiting.polls.Find(key) : kNoBucket;
  if (bucket == kNoBucket) return stages;
  const PollTable::Times& times = waiting.polls.times(bucket);
  stages.told_ns = times.told_ns;
  stages.asked_ns = times.asked_ns;
  stages.answered_ns = times.answered_ns;
  return stages;
}

// Hosts that ended the interval but did not answer for the bucket.
void NetworkEvent::NamePollGaps(std::string_view key, const Waiting& waiting,
                                NetworkReport* report) const {
  const uint32_t bucket = waiting.polls.Find(key);
  uint32_t& reasons = report->report.incomplete_reasons;
  if (bucket != kNoBucket) reasons |= verdicts_.Relevant(waiting.polls.reasons(bucket));
  for (const Member& member : members_) {
    if (!Owes(member, next()) || !HasEnded(member, next()) || IsOff(member, next())) continue;
    const bool has_told = bucket != kNoBucket
                              ? waiting.polls.state(bucket, member.host) == PollState::kTold
                              : waiting.cells.Find(member.host, key) != kNoBucket;
    if (has_told || (bucket == kNoBucket && shares_->Largest(member.host) <= 1)) continue;
    reasons |= kHostSilent;
    report->silent_hosts.push_back((*hosts_)[member.host]->name);
  }
}

// [first, last) are sorted by bucket; the cells are not.  Few reports look for their cells, many
// are looked for by the cells.
// Merging has said for each cell where it went: one look at these finds the cells of all that are
// told of.
void NetworkEvent::AddHostShares(const Waiting& waiting, std::vector<ToldBucket> told,
                                 NetworkReport* reports) const {
  if (told.empty()) return;
  std::sort(told.begin(), told.end());
  std::vector<bool> is_told(told.back().first + 1);
  for (const ToldBucket& one : told) is_told[one.first] = true;
  const CellTable& cells = waiting.cells;
  cells.VisitMerged([&](uint32_t index, uint32_t bucket) {
    if (bucket >= is_told.size() || !is_told[bucket]) return;
    NetworkReport* const report =
        reports + std::lower_bound(told.begin(), told.end(), ToldBucket{bucket, 0})->second;
    if (cells.Is(index, report->report.bucket_key)) AddHostShare(waiting, index, report);
  });
}

void NetworkEvent::AddHostShare(const Waiting& waiting, uint32_t cells,
                                NetworkReport* report) const {
  const uint64_t* words = waiting.cells.words(cells);
  const uint32_t number = waiting.cells.host(cells);
  const NetworkHost& host = *(*hosts_)[number];
  const Nanos start = report->report.start_ns;
  const Nanos end = report->report.end_ns;
  HostShare share;
  share.host = host.name;
  share.packets = words[0];
  share.value = verdicts_.predicate().Test(words, {}).value;
  share.incomplete_reasons = verdicts_.Relevant(host.ReasonsIn(plan().spec.id, start, end));
  const Member* member = FindMember(number);
  const bool was_whole = member->from <= start && member->until >= end;
  if (!was_whole) share.incomplete_reasons |= kMonitorInterrupted;
  if (Owes(*member, next()) && !HasEnded(*member, next())) share.incomplete_reasons |= kHostSilent;
  report->hosts.push_back(std::move(share));
}

void NetworkEvent::Bound(NetworkReport* report) const {
  std::sort(report->hosts.begin(), report->hosts.end(), [](const HostShare& a, const HostShare& b) {
    return a.packets != b.packets ? a.packets > b.packets : a.host < b.host;
  });
  if (report->hosts.size() > limits_.max_hosts_per_report) {
    report->hosts_omitted =
        static_cast<uint32_t>(report->hosts.size() - limits_.max_hosts_per_report);
    report->hosts.resize(limits_.max_hosts_per_report);
  }
  const auto bound = [this](std::vector<std::string>* names) {
    std::sort(names->begin(), names->end());
    const size_t most = limits_.max_silent_per_report;
    const size_t omitted = names->size() - std::min(names->size(), most);
    names->resize(names->size() - omitted);
    return static_cast<uint32_t>(omitted);
  };
  report->silent_omitted = bound(&report->silent_hosts);
  report->off_omitted = bound(&report->off_hosts);
}

}  // namespace trumpet
