// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Quads: four words of 64 bits side by side, by the vectors of AVX2.
//
// Programs are for all processors; parts of them are compiled for AVX2, and taken where there is
// it.  What they say is what the plain code beside them says.
//
// Threads: pure functions.  All but HasQuads() only for processors that have them.

#ifndef TRUMPET_LIB_BASE_QUADS_H
#define TRUMPET_LIB_BASE_QUADS_H

#include <immintrin.h>

#include <cstdint>

namespace trumpet {

// Parts of functions that are compiled for AVX2 in a program for all processors.
#define TRUMPET_QUADS [[gnu::target("avx2"), gnu::always_inline]] inline

inline bool HasQuads() { return __builtin_cpu_supports("avx2") != 0; }

// The word four times.
TRUMPET_QUADS __m256i QuadOf(uint64_t word) {
  return _mm256_set1_epi64x(static_cast<int64_t>(word));
}

TRUMPET_QUADS __m256i LoadQuad(const uint64_t* words) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words));
}

// A bit for each word whose highest bit is set.
TRUMPET_QUADS uint32_t HighBitsOf(__m256i words) {
  return static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(words)));
}

// Their lower 64 bits.  AVX2 multiplies lower halves only.
TRUMPET_QUADS __m256i ProductOf(__m256i a, __m256i b) {
  const __m256i across = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(a, 32), b),
                                          _mm256_mul_epu32(a, _mm256_srli_epi64(b, 32)));
  return _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64(across, 32));
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_QUADS_H
