// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Which packets of a burst have a number that lies in a range.
//
// Threads: pure functions.

#ifndef TRUMPET_LIB_MEASURE_RANGE_MASK_H
#define TRUMPET_LIB_MEASURE_RANGE_MASK_H

#include "lib/base/quads.h"
#include "lib/measure/operators.h"

namespace trumpet {

// One for each packet; those behind the last packet mean nothing.
using BurstNumbers = const uint64_t (&)[kMaxMeasureBurst];

// Those of the packets `chosen`, a bit each, whose number, with `mask`, is in the range.
inline uint32_t KeepInRange(BurstNumbers numbers, uint32_t chosen, uint64_t mask,
                            const NumberRange& range) {
  uint32_t in = 0;
  ForEachBit(chosen,
             [&](uint32_t packet) { in |= uint32_t{range.Has(numbers[packet] & mask)} << packet; });
  return in;
}

// The same, four at a time.  Only for processors that HasQuads().
[[gnu::target("avx2")]] inline uint32_t KeepQuadsInRange(BurstNumbers numbers, uint32_t chosen,
                                                         uint64_t mask, const NumberRange& range) {
  constexpr uint64_t kSign = uint64_t{1} << 63;  // comparisons are of signed numbers
  const __m256i masks = QuadOf(mask);
  const __m256i lows = QuadOf(range.low + kSign);
  const __m256i spans = QuadOf(range.span + kSign);
  const auto end = chosen == 0 ? 0 : 32 - static_cast<uint32_t>(__builtin_clz(chosen));
  uint32_t out = 0;
  for (uint32_t i = 0; i < end; i += 4) {
    const __m256i quad = LoadQuad(numbers + i);
    const __m256i distance = _mm256_sub_epi64(_mm256_and_si256(quad, masks), lows);
    const __m256i is_beyond = _mm256_cmpgt_epi64(distance, spans);
    out |= HighBitsOf(is_beyond) << i;
  }
  return chosen & (range.is_outside ? out : ~out);
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_RANGE_MASK_H
