// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Instants as people write them.
//
// Threads: pure functions.

#ifndef TRUMPET_LIB_BASE_UTC_TIME_H
#define TRUMPET_LIB_BASE_UTC_TIME_H

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <optional>

#include "lib/base/units.h"

namespace trumpet {

// Seconds of Unix time of what strptime() has read as UTC; none where there is no such day, as the
// 31st of February.
inline std::optional<int64_t> UtcSeconds(std::tm parts) {
  const int day = parts.tm_mday;
  const int64_t seconds = timegm(&parts);
  if (parts.tm_mday != day) return std::nullopt;
  return seconds;
}

// As far as nanoseconds reach, from 1677 to 2262, with a second to spare.
inline Nanos NanosOfSeconds(int64_t seconds) {
  constexpr int64_t kMost = INT64_MAX / kNanosPerSecond - 1;
  return std::clamp(seconds, -kMost, kMost) * kNanosPerSecond;
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_UTC_TIME_H
