// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ReportFeed: brings every report to one receiver, in order and in batches.
//
//   {"receiver":"ops","reports":[{"number":17,"event":...}, ...]}
//
// The feed is a place in the stream of reports and at most one batch under way.  What comes while a
// receiver is slow or down waits where it is kept anyway: in the hub, and beyond that in the report
// store.  The place is kept in a file, so that a restart goes on where it was; a batch may come
// twice then, and numbers say so.  Reports that the store no longer has are counted as missed, if
// this process numbered them: which numbers were given before it, nobody knows.  A batch that
// nobody takes goes to the dead letters.
//
// Threads: one, that of the loop.

#ifndef TRUMPET_CONTROLLER_NOTIFY_REPORT_FEED_H
#define TRUMPET_CONTROLLER_NOTIFY_REPORT_FEED_H

#include <memory>
#include <string>

#include "controller/notify/courier.h"
#include "controller/notify/file_worker.h"
#include "controller/notify/notify_options.h"
#include "controller/store/report_store.h"
#include "controller/tem/report_hub.h"
#include "lib/base/loop_event.h"

namespace trumpet {

struct ReportFeedCounters {
  uint64_t delivered = 0;     // reports
  uint64_t dead_letters = 0;  // reports given up
  uint64_t missed = 0;        // reports that expired before they could be told
};

// Whether a receiver wants this report.
bool Wants(const NotifyReceiver& receiver, const ReportRow& row);

class ReportFeed {
 public:
  static constexpr size_t kMaxBodyBytes = 1 << 20;  // one report more, at most

  // `directory` may be empty.  Goes on at the place in its file, or begins with the next report.
  ReportFeed(event_base* base, ReportHub* hub, FileWorker* files, Courier* courier,
             const NotifyReceiver& receiver, const NotifyOptions& options);
  ~ReportFeed();
  ReportFeed(const ReportFeed&) = delete;
  ReportFeed& operator=(const ReportFeed&) = delete;

  void OnReports();
  uint64_t waiting() const { return hub_->last_number() - place_; }
  const ReportFeedCounters& counters() const { return counters_; }

 private:
  void Step();
  void AskStore();
  void CountMissed(uint64_t after, uint64_t before);
  // Makes a batch of those that are wanted and sends it.  `rows` follow the place.
  void Take(const ReportRows& rows);
  void OnEnd(Courier::End end);
  void MoveTo(uint64_t number);
  void SavePlace();
  std::string PathOf(const char* kind) const;

  ReportHub* const hub_;
  FileWorker* const files_;
  Courier* const courier_;
  const NotifyReceiver& receiver_;
  const NotifyOptions& options_;
  LoopEvent step_;
  LoopEvent save_;
  bool is_step_due_ = false;
  bool is_save_due_ = false;
  bool is_asking_ = false;
  uint64_t place_ = 0;  // the last number that is dealt with
  ReportRows batch_;
  uint64_t batch_end_ = 0;
  ReportFeedCounters counters_;
  std::shared_ptr<bool> is_alive_ = std::make_shared<bool>(true);
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_NOTIFY_REPORT_FEED_H
