// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <utility>

#include "controller/tem/event_manager_impl.h"
#include "lib/model/bucket_key.h"

namespace trumpet {

// Reports of one event that stand together are published together.
void EventManager::Impl::OnNetworkReports(const std::vector<NetworkReport>& reports) {
  for (auto first = reports.begin(); first != reports.end();) {
    const uint32_t id = first->report.event_id;
    const auto last = std::find_if(
        first, reports.end(), [id](const NetworkReport& one) { return one.report.event_id != id; });
    if (LiveEvent* event = events_.Find(id)) event->last_report_ns = Now();
    const auto tenant = tenants_.find(id);
    parts_.reports->Publish({first, last}, tenant == tenants_.end() ? "" : tenant->second);
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
  event->last_report_ns = Now();
  parts_.reports->Publish({one}, event->record.tenant);
}

}  // namespace trumpet
