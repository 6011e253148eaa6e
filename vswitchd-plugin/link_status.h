// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// LinkStatus: what the agent tells of its session with the controller, as values.

#ifndef TRUMPET_VSWITCHD_PLUGIN_LINK_STATUS_H
#define TRUMPET_VSWITCHD_PLUGIN_LINK_STATUS_H

#include <cstddef>
#include <cstdint>
#include <string>

#include "lib/base/units.h"
#include "lib/wire/send_queue.h"

namespace trumpet {

struct NetworkDeskCounters {
  uint64_t reports_waiting = 0;  // now
  // Beyond kMaxWaitingReports, without a session; refused by one, or of another controller's
  // events.
  uint64_t reports_dropped = 0;
  uint64_t questions = 0;
  uint64_t questions_waiting = 0;  // now: for the end of an interval, or their turn
  uint64_t questions_refused = 0;  // beyond kMaxQuestions
  uint64_t buckets = 0;            // now
  uint64_t buckets_evicted = 0;
};

struct LinkStatus {
  bool is_configured = false;
  bool is_connected = false;
  std::string address;
  std::string host_id;
  std::string controller_name;
  Nanos since_ns = 0;      // connected, or not
  std::string last_error;  // empty: none so far
  uint64_t attempts = 0;   // to connect
  uint64_t established = 0;
  uint64_t controller_id = 0;  // whose set runs, and its generation; 0: none
  uint64_t generation = 0;
  uint64_t events = 0;  // in the set that came last
  bool has_clock = false;
  Nanos rtt_ns = 0;
  Nanos controller_ahead_ns = 0;  // its clock before ours
  Nanos skew_bound_ns = 0;        // of that
  std::string database;           // the switch's own, and how it goes; empty: it is not read
  uint64_t ports = 0;             // found there
  uint64_t facts_sent = 0;        // times
  uint64_t facts_left_out = 0;    // now: rows beyond the limits
  size_t queued_bytes = 0;
  uint64_t bytes_sent = 0;
  uint64_t bytes_received = 0;
  KindCounts dropped{};  // from the queue
  NetworkDeskCounters desk;
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_LINK_STATUS_H
