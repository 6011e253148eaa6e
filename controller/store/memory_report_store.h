// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MemoryReportStore: the last reports, for as long as the process lives.
//
// For trials, for disks that nobody wants to fill, and as the obvious twin of the others in tests.
//
// Threads, lifetime: as ReportStore; `base` must outlive it.

#ifndef TRUMPET_CONTROLLER_STORE_MEMORY_REPORT_STORE_H
#define TRUMPET_CONTROLLER_STORE_MEMORY_REPORT_STORE_H

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "controller/store/report_store.h"
#include "lib/base/loop_event.h"

struct event_base;

namespace trumpet {

class MemoryReportStore final : public ReportStore {
 public:
  // Keeps `max_reports`.  `last_number` should be more than that of any process before, for those
  // who come again: NumberOfTime() is.
  MemoryReportStore(event_base* base, size_t max_reports, uint64_t last_number);

  uint64_t last_number() const override { return last_number_; }
  void Append(const ReportRows& rows) override;
  void Query(const ReportQuery& query, Done done) override;
  ReportStoreCounters counters() const override { return counters_; }

 private:
  void RunLater();

  const size_t max_reports_;
  uint64_t last_number_;
  std::deque<std::shared_ptr<const ReportRow>> rows_;
  ReportStoreCounters counters_;
  std::vector<std::function<void()>> later_;
  LoopEvent later_event_;
};

bool Matches(const ReportQuery& query, const ReportRow& row);

// A number that is more than all before, where what these were is not known: microseconds of Unix
// time, as long as reports are fewer than a million a second.
uint64_t NumberOfTime(Nanos unix_now);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_MEMORY_REPORT_STORE_H
