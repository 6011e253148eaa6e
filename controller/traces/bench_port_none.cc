// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// In builds without libdpdk.

#include "controller/traces/bench_port.h"

namespace trumpet {

Result<std::unique_ptr<BenchPort>> BenchPort::Open(event_base*, TakeFrames) {
  return Status::Error("this build has no DPDK");
}

}  // namespace trumpet
