// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ReportLog: the last reports, for those who ask.
//
// Threads: locked; any thread off the packet path.

#ifndef TRUMPET_VSWITCHD_PLUGIN_REPORT_LOG_H
#define TRUMPET_VSWITCHD_PLUGIN_REPORT_LOG_H

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "lib/model/report.h"

namespace trumpet {

class ReportLog {
 public:
  static constexpr size_t kCapacity = 1000;

  void Add(std::vector<Report> reports);

  // The latest `most` reports of `event` (empty: of all), the oldest first.
  std::vector<Report> Last(size_t most, const std::string& event) const;

  uint64_t total() const;      // ever added
  uint64_t forgotten() const;  // pushed out by later ones

 private:
  mutable std::mutex mutex_;
  std::deque<Report> reports_;
  uint64_t total_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_REPORT_LOG_H
