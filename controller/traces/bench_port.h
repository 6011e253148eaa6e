// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// BenchPort: a port of DPDK in memory (net_ring), into which a benchmark puts frames as a card
// would, and the receiver that polls it.  One at a time.
//
// Threads: Put() from one, all else from that of the loop.

#ifndef TRUMPET_CONTROLLER_TRACES_BENCH_PORT_H
#define TRUMPET_CONTROLLER_TRACES_BENCH_PORT_H

#include <cstddef>
#include <cstdint>
#include <memory>

#include "controller/analyzer/copy_source.h"
#include "lib/base/status.h"
#include "lib/base/units.h"

struct event_base;

namespace trumpet {

class BenchPort {
 public:
  static Result<std::unique_ptr<BenchPort>> Open(event_base* base, TakeFrames take);
  virtual ~BenchPort() = default;

  // `count` frames of `bytes` each, `stride` apart; how many there was room for.
  virtual size_t Put(const uint8_t* frames, size_t stride, size_t bytes, size_t count) = 0;
  virtual uint64_t dropped() = 0;
  virtual Nanos polling_time() const = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_BENCH_PORT_H
