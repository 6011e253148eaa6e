// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// BenchLoopback: `lo` of a network namespace of this process's own, at which a benchmark sends
// frames, and which one processor receives.
//
// Frames go by AF_XDP, which costs the sender half of what AF_PACKET does, and are copied once.
// What the kernel does to receive them, from the backlog of `lo` to the rings of who listens, runs
// on the processor named (RPS), as with a card whose interrupts go there.
//
// Needs root, and a kernel with AF_XDP and RPS.  The process stays in its namespaces.
//
// Threads: one.

#ifndef TRUMPET_CONTROLLER_TRACES_BENCH_LOOPBACK_H
#define TRUMPET_CONTROLLER_TRACES_BENCH_LOOPBACK_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "lib/base/status.h"

namespace trumpet {

class BenchLoopback {
 public:
  // `folder` may be mounted on meanwhile.
  static Result<std::unique_ptr<BenchLoopback>> Open(size_t receiving, const std::string& folder);
  virtual ~BenchLoopback() = default;

  // `count` frames of `bytes` each, `stride` apart; how many were sent.
  virtual size_t Put(const uint8_t* frames, size_t stride, size_t bytes, size_t count) = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_BENCH_LOOPBACK_H
