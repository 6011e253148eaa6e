// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// EventCost: what an event costs a host and the wire, estimated before it is installed.
//
// The sizes are exact; the time is an estimate from the figures of docs/performance.md, taken on
// one machine, and says whether an event is cheap or dear rather than what it will cost here.

#ifndef TRUMPET_CONTROLLER_PLAN_COST_H
#define TRUMPET_CONTROLLER_PLAN_COST_H

#include <cstdint>

#include "lib/verdict/trigger_plan.h"

namespace trumpet {

struct EventCost {
  uint32_t words_per_bucket = 0;    // 8 bytes each, that a host keeps and sends
  uint64_t bytes_per_interval = 0;  // from a host in mode "partials", kCostedBuckets with packets
  double ns_per_packet = 0;         // of a packet thread, per packet that matches
};

constexpr uint64_t kCostedBuckets = 1000;

EventCost EstimateCost(const TriggerPlan& plan);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PLAN_COST_H
