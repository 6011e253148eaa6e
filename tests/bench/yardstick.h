// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The plain programs to measure against: bytes per 5-tuple in std::unordered_map.
//
//   yardstick  what the program behind the published ratios does, and as long as it takes.  That
//              program, compiled, writes half a word of its key and reads the whole word back,
//              which the processor cannot forward from its store buffer: at few flows two thirds of
//              its time is that stall.  It is written down here, so that no compiler removes it.
//   map        the same without the stall: a harsher measure.
//
// Both read 13 bytes of a frame at the offsets of IPv4 without options; other traffic takes the
// offsets of its shape, but the last 32 bits of an address only.

#ifndef TRUMPET_TESTS_BENCH_YARDSTICK_H
#define TRUMPET_TESTS_BENCH_YARDSTICK_H

#include <memory>

#include "tests/bench/contender.h"
#include "tests/bench/traffic.h"

namespace trumpet::bench {

std::unique_ptr<Contender> MakeYardstick(const TrafficSpec& spec);
std::unique_ptr<Contender> MakeMap(const TrafficSpec& spec);

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_YARDSTICK_H
