// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Report: an event has occurred in a bucket and an interval.

#ifndef TRUMPET_LIB_MODEL_REPORT_H
#define TRUMPET_LIB_MODEL_REPORT_H

#include <cstdint>
#include <string>

#include "lib/base/units.h"
#include "lib/model/expr.h"

namespace trumpet {

// Why a report may rest on less than everything; bits of Report::incomplete_reasons.
enum IncompleteReason : uint32_t {
  kSweepSkipped = 1u << 0,        // an epoch ended before the sweep of the last one
  kFlowTableFull = 1u << 1,       // packets of new flows were not counted
  kBucketEvicted = 1u << 2,       // the event had more buckets than it may
  kRingFull = 1u << 3,            // partials were lost between packet thread and agent
  kConnectionEvicted = 1u << 4,   // TCP state was given up early
  kAdmissionWithheld = 1u << 5,   // packets withheld by the admission filter
  kMonitorInterrupted = 1u << 6,  // the monitor was off during part of the interval
  kSplitConnection = 1u << 7,     // directions of a connection on threads that could not tell all
  kHostSilent = 1u << 8,          // network scope: a host had not answered by the deadline
  kEventEnded = 1u << 9,          // network scope: the event was removed, disabled or replaced
};
constexpr uint32_t kAllIncompleteReasons = (1u << 8) - 1;  // that a host can have

struct Report {
  uint32_t event_id = 0;
  std::string event;        // its name
  std::string severity;     // may be empty
  std::string bucket_key;   // bytes, see bucket_key.h
  std::string bucket_json;  // rendered
  Nanos start_ns = 0;
  Nanos end_ns = 0;
  Number value;
  Number threshold;
  bool is_unscaled = false;
  uint32_t incomplete_reasons = 0;
  Nanos detected_ns = 0;  // wall clock when decided; 0 offline

  bool is_complete() const { return incomplete_reasons == 0; }
};

// One JSON object without newline, keys in the contract's order.  detected_ns is printed when not
// 0.
std::string ToJsonLine(const Report& report);

// IncompleteReason bits as a JSON list of their names.
std::string ReasonsToJson(uint32_t reasons);

// `text` as a JSON string, quotes included.
std::string JsonQuote(const std::string& text);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MODEL_REPORT_H
