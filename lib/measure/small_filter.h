// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Which packets of a burst are in a small membership filter: one of at most 64 cells is a word with
// a bit for each, and four packets at a time shift it by their rows.
//
// Threads: pure functions.

#ifndef TRUMPET_LIB_MEASURE_SMALL_FILTER_H
#define TRUMPET_LIB_MEASURE_SMALL_FILTER_H

#include <emmintrin.h>

#include "lib/base/quads.h"
#include "lib/measure/slot_sources.h"

namespace trumpet {

// Whether there is such a word of the filter, and its rows are the four slices of a hash.
inline bool IsSmallFilter(const SlotPlan& plan) {
  return plan.is_sliced && plan.rows == kSlicedRows && plan.log2 == 0 && plan.size <= 64 &&
         plan.size % 16 == 0;
}

// Of cells of a byte each, 0 or 1; a multiple of 16 of them.
inline uint64_t BitsOfCells(const uint8_t* cells, uint32_t count) {
  uint64_t bits = 0;
  for (uint32_t i = 0; i < count; i += 16) {
    const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(cells + i));
    const int mask = _mm_movemask_epi8(_mm_slli_epi16(part, 7));  // the lowest bit of each byte
    bits |= uint64_t{static_cast<uint32_t>(mask)} << i;
  }
  return bits;
}

// OwnHash() of each.
template <bool kMixes>
TRUMPET_QUADS __m256i OwnHashes(__m256i hashes, __m256i distance) {
  if constexpr (!kMixes) return hashes;
  __m256i value = _mm256_add_epi64(hashes, distance);
  value = ProductOf(_mm256_xor_si256(value, _mm256_srli_epi64(value, 30)), QuadOf(kFirstMixFactor));
  value =
      ProductOf(_mm256_xor_si256(value, _mm256_srli_epi64(value, 27)), QuadOf(kSecondMixFactor));
  return _mm256_xor_si256(value, _mm256_srli_epi64(value, 31));
}

// A bit for each of the first `count` packets, in the filter of these cells; those behind them mean
// nothing.  `hashes` has kMaxMeasureBurst.  Only for processors that HasQuads().
template <bool kMixes>
TRUMPET_QUADS uint32_t PacketsInFilter(const SlotPlan& plan, const uint8_t* cells,
                                       const uint64_t* hashes, uint32_t count) {
  const __m256i bits = QuadOf(BitsOfCells(cells, plan.size));
  const __m256i distance = QuadOf(HashDistance(plan.number));
  const __m256i size = _mm256_set1_epi16(static_cast<int16_t>(plan.size));
  const __m256i slice = QuadOf(0xffff);
  uint32_t in = 0;
  for (uint32_t i = 0; i < count; i += 4) {
    const __m256i own = OwnHashes<kMixes>(LoadQuad(hashes + i), distance);
    const __m256i rows = _mm256_mulhi_epu16(own, size);
    const __m256i bit0 = _mm256_srlv_epi64(bits, _mm256_and_si256(rows, slice));
    const __m256i bit1 =
        _mm256_srlv_epi64(bits, _mm256_and_si256(_mm256_srli_epi64(rows, 16), slice));
    const __m256i bit2 =
        _mm256_srlv_epi64(bits, _mm256_and_si256(_mm256_srli_epi64(rows, 32), slice));
    const __m256i bit3 = _mm256_srlv_epi64(bits, _mm256_srli_epi64(rows, 48));
    const __m256i all =
        _mm256_and_si256(_mm256_and_si256(bit0, bit1), _mm256_and_si256(bit2, bit3));
    in |= HighBitsOf(_mm256_slli_epi64(all, 63)) << i;
  }
  return in;
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_SMALL_FILTER_H
