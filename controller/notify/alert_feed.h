// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// AlertFeed: brings reports to an Alertmanager as alerts that fire and are resolved (API v2).
//
// An alert is an event in a bucket.  It fires with the first report, is renewed while reports come,
// and is resolved when its event is clear; one that nobody renews ends by itself after
// resolve_after.  An event may come and go a hundred times a second: what is sent is how things are
// when the batch window ends.  Failed requests lose nothing, because the next one says it again.
//
// Threads: one, that of the loop.
// Memory: at most max_alerts alerts; reports of further ones are counted as dropped.

#ifndef TRUMPET_CONTROLLER_NOTIFY_ALERT_FEED_H
#define TRUMPET_CONTROLLER_NOTIFY_ALERT_FEED_H

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/notify/courier.h"
#include "controller/notify/notify_options.h"
#include "controller/store/report_store.h"
#include "lib/base/loop_event.h"

namespace trumpet {

struct Alert {
  std::shared_ptr<const ReportRow> row;  // the latest report that is no clear
  Nanos starts_ns = 0;
  Nanos ends_ns = 0;  // of a resolved one
  bool is_resolved = false;
};

// One alert of the API: labels from event and bucket, annotations from the values.  One that is not
// resolved ends at `expires_ns`, unless it is renewed.
std::string AlertToJson(const Alert& alert, Nanos expires_ns);

struct AlertFeedCounters {
  uint64_t delivered = 0;  // alerts, renewals and resolutions
  uint64_t refused = 0;    // by the receiver, for good
  uint64_t dropped = 0;    // reports for which there was no room
};

class AlertFeed {
 public:
  AlertFeed(event_base* base, Courier* courier, const NotifyReceiver& receiver, size_t max_alerts);
  ~AlertFeed();
  AlertFeed(const AlertFeed&) = delete;
  AlertFeed& operator=(const AlertFeed&) = delete;

  void OnReport(const std::shared_ptr<const ReportRow>& row);
  size_t alert_count() const { return alerts_.size(); }
  uint64_t waiting() const { return changed_.size(); }
  const AlertFeedCounters& counters() const { return counters_; }

 private:
  struct Entry {
    Alert alert;
    Nanos sent_ns = 0;
    uint64_t version = 0;
    bool is_waiting = false;  // in changed_
  };
  using Key = std::string;  // tenant, event and bucket
  struct Sent {
    Key key;
    uint64_t version = 0;
  };

  void Change(const Key& key, Entry* entry);
  void Send();
  std::string NextBody();
  void OnEnd(Courier::End end);
  void Sweep();

  Courier* const courier_;
  const NotifyReceiver& receiver_;
  const size_t max_alerts_;
  LoopEvent send_;
  LoopEvent sweep_;
  bool is_send_due_ = false;
  std::map<Key, Entry> alerts_;
  std::deque<Key> changed_;  // to be sent, oldest first
  std::vector<Sent> sent_;   // in the request under way
  AlertFeedCounters counters_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_NOTIFY_ALERT_FEED_H
