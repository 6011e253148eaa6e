// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/trace_run.h"

#include <ostream>
#include <utility>

#include "controller/traces/trace_text.h"

namespace trumpet {
namespace {

constexpr size_t kBatch = 1024;  // rows

}  // namespace

void TraceRun::Tell(const TraceReport& report) {
  if (store_ != nullptr && counts_links_) links_.Add(report);
  lengths_.Add(report);
  rules_.Add(report);
  if (!report.is_kept && !prints_all_) return;
  StoredTrace trace =
      ToStored(report, switches_, lengths_.Before(report), rules_.TruncatedTo(report));
  out_ << JsonLine(ToJson(trace, switches_));
  if (store_ != nullptr && report.is_kept) waiting_.push_back(std::move(trace));
}

void TraceRun::WriteIfMuch(Nanos now) {
  if (waiting_.size() >= kBatch || links_.size() >= kBatch) Write(now);
}

void TraceRun::Write(Nanos now) {
  if (store_ == nullptr) return;
  const std::vector<LinkCounters> links = links_.TakeAll();
  if (!waiting_.empty()) Note(store_->Append(waiting_, now), waiting_.size());
  if (!links.empty()) Note(store_->AppendCounters(links, now), links.size());
  waiting_.clear();
  Note(store_->Expire(now), 0);
}

void TraceRun::Note(const Status& status, size_t rows) {
  if (status.ok()) return;
  refused_ += rows;
  if (first_error_.empty()) first_error_ = status.message();
}

}  // namespace trumpet
