// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/tem/report_hub.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace trumpet {

ReportHub::ReportHub(ReportStore* store)
    : store_(store),
      last_before_(store == nullptr ? 0 : store->last_number()),
      last_number_(last_before_) {}

void ReportHub::Publish(const NetworkReport* first, const NetworkReport* last,
                        const std::string& tenant) {
  if (first == last) return;
  ReportRows rows;
  rows.reserve(static_cast<size_t>(last - first));
  for (; first != last; ++first) {
    const NetworkReport& report = *first;
    auto row = std::make_shared<ReportRow>();
    row->number = ++last_number_;
    row->event = report.report.event;
    row->tenant = tenant;
    row->bucket = report.report.bucket_json;
    row->start_ns = report.report.start_ns;
    row->end_ns = report.report.end_ns;
    row->is_clear = report.is_clear;
    row->is_complete = report.report.is_complete();
    row->json = ToJsonLine(report);
    kept_.push_back(row);
    rows.push_back(std::move(row));
  }
  while (kept_.size() > kKept) kept_.pop_front();
  if (store_ != nullptr) store_->Append(rows);
  ++calls_;
  // Those who come meanwhile hear of the next ones.
  const size_t count = subscribers_.size();
  for (size_t i = 0; i < count; ++i) {
    if (subscribers_[i] != nullptr) subscribers_[i]->OnReports(rows);
  }
  --calls_;
  if (calls_ == 0) {
    subscribers_.erase(std::remove(subscribers_.begin(), subscribers_.end(), nullptr),
                       subscribers_.end());
  }
}

void ReportHub::Add(ReportSubscriber* subscriber) { subscribers_.push_back(subscriber); }

void ReportHub::Remove(ReportSubscriber* subscriber) {
  const auto found = std::find(subscribers_.begin(), subscribers_.end(), subscriber);
  if (found == subscribers_.end()) return;
  if (calls_ == 0) {
    subscribers_.erase(found);
  } else {
    *found = nullptr;
  }
}

ReportRows ReportHub::After(uint64_t number, size_t limit, bool* is_whole) const {
  // Numbers have no gaps here: the place of a row follows from its number.
  const uint64_t first = first_kept();
  *is_whole = number >= first - 1;
  const size_t skip = number < first ? 0 : static_cast<size_t>(number + 1 - first);
  ReportRows rows;
  for (size_t i = skip; i < kept_.size() && rows.size() < limit; ++i) rows.push_back(kept_[i]);
  return rows;
}

}  // namespace trumpet
