// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CopyCollector: an analyzer as the campaign runtime sees it.  It is told which slices to expect
// and tells what arrived.
//
// Threads: all on the loop of the controller; answers come from the loop, never from within a call.

#ifndef TRUMPET_CONTROLLER_SLICE_COPY_COLLECTOR_H
#define TRUMPET_CONTROLLER_SLICE_COPY_COLLECTOR_H

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/model/slice_copies.h"

namespace trumpet {

class CopyCollector {
 public:
  using Tallies = std::function<void(const Result<std::vector<SliceTally>>&)>;

  virtual ~CopyCollector() = default;

  // Whether an analyzer is there to take copies.
  virtual bool is_ready() const = 0;
  // By how much instants that it tells may be wrong; none: nobody knows yet.
  virtual std::optional<Nanos> ClockError() const { return 0; }
  // Ahead of the slot; its copies are kept and matched until Finish().
  virtual void Expect(const std::vector<ExpectedSlice>& slices) = 0;
  // What has arrived of these tags.
  virtual void AskTallies(const std::vector<uint32_t>& tags, Tallies answer) = 0;
  // For one-way delays; before Finish().  Of routers not named here none are told.
  virtual void SetLatencies(uint64_t run, const std::vector<CopyLatency>& latencies) {
    (void)run, (void)latencies;
  }
  // The run is over: finish matching, tell the answers of its applications (JSON text, as
  // docs/slices.md has it), keep the packets as retention says.
  virtual void Finish(uint64_t run, std::function<void(const Result<std::string>&)> answer) = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_COPY_COLLECTOR_H
