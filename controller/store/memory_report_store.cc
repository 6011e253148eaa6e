// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/memory_report_store.h"

#include <algorithm>
#include <utility>

namespace trumpet {

MemoryReportStore::MemoryReportStore(event_base* base, size_t max_reports, uint64_t last_number)
    : max_reports_(max_reports),
      last_number_(last_number),
      later_event_(base, [this] { RunLater(); }) {}

void MemoryReportStore::RunLater() {
  std::vector<std::function<void()>> actions;
  actions.swap(later_);
  for (const auto& action : actions) action();
}

void MemoryReportStore::Append(const ReportRows& rows) {
  for (const auto& row : rows) {
    rows_.push_back(row);
    last_number_ = std::max(last_number_, row->number);
    counters_.stored_bytes += sizeof *row + row->json.size() + row->bucket.size();
  }
  counters_.appended += rows.size();
  counters_.written += rows.size();
  for (; rows_.size() > max_reports_; rows_.pop_front()) {
    const ReportRow& row = *rows_.front();
    counters_.stored_bytes -= sizeof row + row.json.size() + row.bucket.size();
    ++counters_.expired;
  }
}

bool Matches(const ReportQuery& query, const ReportRow& row) {
  return row.number > query.after_number && row.number < query.before_number &&
         row.end_ns >= query.from_ns && row.end_ns < query.until_ns &&
         (query.event.empty() || row.event == query.event) &&
         (query.tenant.empty() || row.tenant == query.tenant) &&
         (query.bucket.empty() || row.bucket == query.bucket);
}

void MemoryReportStore::Query(const ReportQuery& query, Done done) {
  ReportRows found;
  const auto look = [&](const std::shared_ptr<const ReportRow>& row) {
    if (found.size() < query.limit && Matches(query, *row)) found.push_back(row);
  };
  if (query.is_newest_first) {
    std::for_each(rows_.rbegin(), rows_.rend(), look);
  } else {
    std::for_each(rows_.begin(), rows_.end(), look);
  }
  later_.push_back([done = std::move(done), found = std::move(found)] { done(found); });
  later_event_.RunSoon();
}

uint64_t NumberOfTime(Nanos unix_now) {
  return static_cast<uint64_t>(std::max<Nanos>(0, unix_now) / kNanosPerMicro);
}

}  // namespace trumpet
