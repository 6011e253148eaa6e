// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Workload: the constants of the Trumpet paper's experiments (their authors' receiver and sender).
//
// Epochs are counted in packets: 148,800 of them are 10 ms at 14.88 million packets per second, so
// the work per epoch does not depend on the machine.

#ifndef TRUMPET_TESTS_BENCH_WORKLOAD_H
#define TRUMPET_TESTS_BENCH_WORKLOAD_H

#include <cstdint>

#include "lib/base/units.h"

namespace trumpet::bench {

constexpr uint32_t kEpochPackets = 148800;
constexpr Nanos kEpochNs = 10 * kNanosPerMilli;
constexpr uint64_t kPacketsPerSecond = 14880000;
constexpr int kBatch = 32;
constexpr uint32_t kBuffers = 2048;

constexpr uint32_t kDstBase = 0x0a000400;  // 10.0.4.0
constexpr uint32_t kSrcBase = 0x0a000504;  // 10.0.5.4
constexpr uint16_t kSrcPort = 58513;
constexpr uint16_t kDstPort = 2500;
constexpr uint32_t kDestinations = 65536;

constexpr uint32_t kAttackDstBase = 0x78000400;  // 120.0.4.0
constexpr uint32_t kAttackSrcBase = 0x80000000;  // 128.0.0.0

// The IPv6 addresses are those of IPv4 below 2001:db8::.
constexpr uint32_t kIpv6Prefix = 0x20010db8;

enum class Encapsulation { kIpv4, kIpv6, kVxlan };

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_WORKLOAD_H
