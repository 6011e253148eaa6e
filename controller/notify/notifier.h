// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Notifier: tells others of reports over HTTP: webhooks and Alertmanagers.
//
// Threads: one, that of the loop.
// Lifetime: base and hub must outlive it.

#ifndef TRUMPET_CONTROLLER_NOTIFY_NOTIFIER_H
#define TRUMPET_CONTROLLER_NOTIFY_NOTIFIER_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/notify/alert_feed.h"
#include "controller/notify/courier.h"
#include "controller/notify/file_worker.h"
#include "controller/notify/http_sender.h"
#include "controller/notify/notify_options.h"
#include "controller/notify/report_feed.h"
#include "controller/tem/report_hub.h"
#include "lib/base/status.h"

namespace trumpet {

// How it goes with one receiver.
struct ReceiverView {
  std::string name;
  NotifyFormat format = NotifyFormat::kTrumpet;
  CourierCounters requests;
  uint64_t delivered = 0;  // reports, or alerts
  uint64_t dropped = 0;    // reports that were given up, missed, or had no room
  uint64_t waiting = 0;    // reports, or alerts that have changed
};

class Notifier final : public ReportSubscriber {
 public:
  // Level "info", "warn" or "err".
  using Log = std::function<void(const char* level, const std::string& text)>;

  Notifier(event_base* base, ReportHub* hub, NotifyOptions options, Log log);
  ~Notifier() override;
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  // Checks the options, reads the files of headers and makes the directory; reports are told from
  // then on.  Nothing is begun after an error.
  Status Start();
  // Reads the files of headers again; those that cannot be read stay as they were.
  Status Reload();

  void OnReports(const ReportRows& rows) override;

  std::vector<ReceiverView> Receivers() const;
  uint64_t file_failures() const { return files_.failed() + files_.dropped(); }

 private:
  struct Receiver {
    std::unique_ptr<Courier> courier;
    std::unique_ptr<ReportFeed> reports;  // one of the two
    std::unique_ptr<AlertFeed> alerts;
    std::string told_error;  // in the log
  };

  void Watch();

  event_base* const base_;
  ReportHub* const hub_;
  const NotifyOptions options_;
  const Log log_;
  FileWorker files_;
  HttpSender sender_;
  SendSlots slots_;
  std::vector<Receiver> receivers_;  // as in options_
  LoopEvent watch_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_NOTIFY_NOTIFIER_H
