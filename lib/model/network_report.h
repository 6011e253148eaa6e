// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// NetworkReport: an event of scope network has occurred, or has ended, in a bucket and an interval.
//
// Lists are bounded by who makes the report; what was left out is counted.

#ifndef TRUMPET_LIB_MODEL_NETWORK_REPORT_H
#define TRUMPET_LIB_MODEL_NETWORK_REPORT_H

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/units.h"
#include "lib/model/expr.h"
#include "lib/model/report.h"

namespace trumpet {

// What one host contributed.
struct HostShare {
  std::string host;
  uint64_t packets = 0;             // of the bucket in the interval
  Number value;                     // the report's value over these alone
  uint32_t incomplete_reasons = 0;  // IncompleteReason bits of this host
};

// When what happened to the bucket on its way to the verdict (Report::detected_ns), on the
// controller's clock; 0: it did not happen.
struct VerdictStages {
  Nanos told_ns = 0;       // a host was the first to report it, because it has reached a share
  Nanos delivered_ns = 0;  // the last host had delivered the interval
  Nanos asked_ns = 0;      // hosts that did not report it were asked
  Nanos answered_ns = 0;   // the last answer came
};

struct NetworkReport {
  Report report;
  // The bucket satisfied the event in the interval before, somebody was told, and it does not in
  // this one, or the event has ended (kEventEnded).  value and threshold are undefined.
  bool is_clear = false;
  std::vector<HostShare> hosts;  // with packets; those with most packets first
  uint32_t hosts_omitted = 0;
  std::vector<std::string> silent_hosts;  // not in the values; by name
  uint32_t silent_omitted = 0;
  std::vector<std::string> off_hosts;  // likewise: their monitors are switched off
  uint32_t off_omitted = 0;
  uint32_t host_count = 0;  // hosts that owed an answer
  Nanos skew_bound_ns = 0;  // the worst of theirs: how far apart their intervals may lie
  VerdictStages stages;
  uint64_t suppressed = 0;  // reports of this event withheld since the last one, by its rate limit
};

// One JSON object without newline: the contract's keys, then those of scope network.
std::string ToJsonLine(const NetworkReport& report);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MODEL_NETWORK_REPORT_H
