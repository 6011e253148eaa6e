// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <utility>

#include "controller/tem/event_manager_impl.h"
#include "lib/model/bucket_key.h"

namespace trumpet {
namespace {

constexpr size_t kHostReportsAtOnce = 1024;

}  // namespace

// Reports of one event that stand together are published together.
void EventManager::Impl::OnNetworkReports(const std::vector<NetworkReport>& reports) {
  const NetworkReport* const end = reports.data() + reports.size();
  for (const NetworkReport* first = reports.data(); first != end;) {
    const uint32_t id = first->report.event_id;
    const NetworkReport* const last = std::find_if(
        first, end, [id](const NetworkReport& one) { return one.report.event_id != id; });
    if (LiveEvent* event = events_.Find(id)) event->last_report_ns = Now();
    const auto tenant = tenants_.find(id);
    parts_.reports->Publish(first, last, tenant == tenants_.end() ? "" : tenant->second);
    first = last;
  }
}

void EventManager::Impl::OnShareOrder(const ShareOrder& order) {
  ManagedHost* const host = hosts_.FindByNumber(order.host);
  if (host == nullptr) return;
  host->sync.SetShare(order.event_id, order.share);
  Queue(host);
}

void EventManager::Impl::OnPollOrders(std::vector<PollOrder> orders) {
  std::map<uint32_t, std::vector<PollOrder>> by_host;
  for (PollOrder& order : orders) by_host[order.host].push_back(std::move(order));
  for (auto& [number, list] : by_host) {
    ManagedHost* const host = hosts_.FindByNumber(number);
    if (host == nullptr) continue;
    for (const Poll& poll : host->polls.Ask(std::move(list))) {
      // A host that cannot be asked is silent; its session may have ended with the first poll.
      if (host->session == nullptr || !host->session->Send(poll).ok()) break;
    }
  }
}

// The host has decided, with `for` and all; what remains is to say it as reports of networks are.
void EventManager::Impl::PublishHostReport(const ManagedHost& host, LiveEvent* event,
                                           Report report) {
  const EventSpec& spec = event->spec();
  if (!IsBucketKey(spec.granularity, report.bucket_key)) {
    ++event->host_counters.malformed;
    return;
  }
  const auto rate = rates_.find(spec.id);
  if (rate != rates_.end() && !rate->second.Take(Now())) {
    ++event->host_counters.reports_suppressed;
    return;
  }
  NetworkReport one;
  report.event = spec.name;
  report.severity = spec.severity;
  report.bucket_json = BucketToJson(spec.granularity, report.bucket_key);
  HostShare share;
  share.host = host.id;
  share.value = report.value;
  share.incomplete_reasons = report.incomplete_reasons;
  one.report = std::move(report);
  one.hosts.push_back(std::move(share));
  one.host_count = 1;
  one.stages.delivered_ns = Now();
  if (rate != rates_.end()) one.suppressed = rate->second.TakeSuppressed();
  ++event->host_counters.reports;
  host_reports_.push_back(std::move(one));
  if (host_reports_.size() == 1) publish_.RunSoon();
  if (host_reports_.size() >= kHostReportsAtOnce) PublishHostReports();
}

// Those that came in one turn of the loop, together: a call of the store and of every subscriber
// for each was half of what a report cost.
void EventManager::Impl::PublishHostReports() {
  const auto by_event = [](const NetworkReport& a, const NetworkReport& b) {
    return a.report.event_id < b.report.event_id;
  };
  if (!std::is_sorted(host_reports_.begin(), host_reports_.end(), by_event)) {
    std::stable_sort(host_reports_.begin(), host_reports_.end(), by_event);
  }
  OnNetworkReports(host_reports_);
  host_reports_.clear();
}

}  // namespace trumpet
