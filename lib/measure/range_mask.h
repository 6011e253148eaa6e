// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Which of the numbers of a burst lie in a range.
//
// Threads: pure functions.

#ifndef TRUMPET_LIB_MEASURE_RANGE_MASK_H
#define TRUMPET_LIB_MEASURE_RANGE_MASK_H

#include "lib/measure/operators.h"
#include "lib/packet/plain_quad.h"

namespace trumpet {

// Numbers, one for each packet of a burst that may be: those behind its last one mean nothing.
using BurstNumbers = const uint64_t (&)[kMaxMeasureBurst];

// A bit for each number that, with `mask`, is in the range; those behind the first `count` are
// undefined.
inline uint32_t RangeMask(BurstNumbers numbers, uint32_t count, uint64_t mask,
                          const NumberRange& range) {
  uint32_t in = 0;
  for (uint32_t i = 0; i < count; ++i) in |= uint32_t{range.Has(numbers[i] & mask)} << i;
  return in;
}

// The same, four at a time.  Only for processors that HasQuads().
[[gnu::target("avx2")]] inline uint32_t RangeMaskByQuads(BurstNumbers numbers, uint32_t count,
                                                         uint64_t mask, const NumberRange& range) {
  constexpr uint64_t kSign = uint64_t{1} << 63;  // comparisons are of signed numbers
  const __m256i masks = _mm256_set1_epi64x(static_cast<int64_t>(mask));
  const __m256i lows = _mm256_set1_epi64x(static_cast<int64_t>(range.low + kSign));
  const __m256i spans = _mm256_set1_epi64x(static_cast<int64_t>(range.span + kSign));
  uint32_t out = 0;
  for (uint32_t i = 0; i < count; i += 4) {
    const __m256i quad = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(numbers + i));
    const __m256i distance = _mm256_sub_epi64(_mm256_and_si256(quad, masks), lows);
    const __m256i is_beyond = _mm256_cmpgt_epi64(distance, spans);
    out |= static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(is_beyond))) << i;
  }
  return range.is_outside ? out : ~out;
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_RANGE_MASK_H
