// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ReportHub: numbers reports and tells them to whoever asked: the store, streams, notifications.
//
// Subscribers are told in batches, in the order of numbers, from the loop.  The last kKept reports
// stay in memory, so that a subscriber who comes again goes on where he was; what is older is in
// the ReportStore.
//
// Threads: one, that of the libevent loop.  Subscribers may come and go within a call.
// Memory: kKept rows, shared with those who are still sending them.

#ifndef TRUMPET_CONTROLLER_TEM_REPORT_HUB_H
#define TRUMPET_CONTROLLER_TEM_REPORT_HUB_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "controller/store/report_store.h"
#include "lib/model/network_report.h"

namespace trumpet {

class ReportSubscriber {
 public:
  virtual ~ReportSubscriber() = default;
  virtual void OnReports(const ReportRows& rows) = 0;
};

class ReportHub {
 public:
  static constexpr size_t kKept = 65536;

  // `store` may be null: reports are then only told.
  explicit ReportHub(ReportStore* store);

  // Reports of one event, whose tenant this is.
  void Publish(const NetworkReport* first, const NetworkReport* last, const std::string& tenant);
  void Publish(const std::vector<NetworkReport>& reports, const std::string& tenant) {
    Publish(reports.data(), reports.data() + reports.size(), tenant);
  }

  void Add(ReportSubscriber* subscriber);
  void Remove(ReportSubscriber* subscriber);

  uint64_t last_number() const { return last_number_; }
  // Numbers above were given here, without gaps; which of those up to it were given by processes
  // before, nobody knows.
  uint64_t last_before() const { return last_before_; }
  // Of the rows that After() gives; one more than last_number() if there are none.
  uint64_t first_kept() const { return last_number_ - kept_.size() + 1; }
  // The kept rows after `number`, at most `limit`; `*is_whole` is false if some between are no
  // longer kept and must be asked of the store.
  ReportRows After(uint64_t number, size_t limit, bool* is_whole) const;

  ReportStore* store() const { return store_; }

 private:
  ReportStore* store_;
  const uint64_t last_before_;
  uint64_t last_number_;
  std::deque<std::shared_ptr<const ReportRow>> kept_;
  std::vector<ReportSubscriber*> subscribers_;  // null: left within a call
  int calls_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_REPORT_HUB_H
