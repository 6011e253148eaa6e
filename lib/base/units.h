// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Units that the whole project shares.

#ifndef TRUMPET_LIB_BASE_UNITS_H
#define TRUMPET_LIB_BASE_UNITS_H

#include <cstdint>

namespace trumpet {

// A point in Unix time, or a duration, in nanoseconds.
using Nanos = int64_t;

constexpr Nanos kNanosPerMicro = 1000;
constexpr Nanos kNanosPerMilli = 1000 * kNanosPerMicro;
constexpr Nanos kNanosPerSecond = 1000 * kNanosPerMilli;

// 128-bit integers: exact sums of squares, and IPv6 addresses as numbers.
using Int128 = __int128;
using Uint128 = unsigned __int128;

// The number of the cell of `length` that holds `time`; floors for times before 1970.
constexpr int64_t CellOf(Nanos time, Nanos length) {
  return time >= 0 ? time / length : -((-time + length - 1) / length);
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_UNITS_H
