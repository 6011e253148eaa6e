// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MeasuredSource: where events with measured values get these from.  The seam between the events
// and controller/measure, which lies above.
//
// Threads: that of the libevent loop.  Answers never come from within a call.

#ifndef TRUMPET_CONTROLLER_TEM_MEASURED_SOURCE_H
#define TRUMPET_CONTROLLER_TEM_MEASURED_SOURCE_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/model/expr.h"

namespace trumpet {

// Of one state, of all hosts together.
struct MeasuredReading {
  Number value;                     // undefined if no host has answered
  std::vector<std::string> hosts;   // that have answered, by id
  std::vector<std::string> silent;  // that run it, or should, and have not
};

class MeasuredSource {
 public:
  virtual ~MeasuredSource() = default;

  // Why an event of that interval cannot read it now; empty: it can.
  virtual std::string ProblemOf(const MeasuredState& state, uint32_t interval_ms) const = 0;

  using Done = std::function<void(const MeasuredReading&)>;
  // Begins to read; the answer is a number for what follows.  `done` is called once, when every
  // host has answered or is known not to.
  virtual Result<uint64_t> Read(const MeasuredState& state, Done done) = 0;
  // What has come until now; hosts that have not answered yet are silent.
  virtual MeasuredReading SoFar(uint64_t number) const = 0;
  // Nobody waits any longer; `done` is not called any more.
  virtual void End(uint64_t number) = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_MEASURED_SOURCE_H
