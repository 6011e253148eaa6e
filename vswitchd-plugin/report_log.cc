// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/report_log.h"

#include <algorithm>
#include <utility>

namespace trumpet {

void ReportLog::Add(std::vector<Report> reports) {
  const std::lock_guard<std::mutex> lock(mutex_);
  total_ += reports.size();
  const size_t skip = reports.size() > kCapacity ? reports.size() - kCapacity : 0;
  for (size_t i = skip; i < reports.size(); ++i) {
    if (reports_.size() == kCapacity) reports_.pop_front();
    reports_.push_back(std::move(reports[i]));
  }
}

std::vector<Report> ReportLog::Last(size_t most, const std::string& event) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Report> found;
  for (auto report = reports_.rbegin(); report != reports_.rend() && found.size() < most;
       ++report) {
    if (event.empty() || report->event == event) found.push_back(*report);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

uint64_t ReportLog::total() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return total_;
}

uint64_t ReportLog::forgotten() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return total_ - reports_.size();
}

}  // namespace trumpet
