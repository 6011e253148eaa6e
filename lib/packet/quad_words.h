// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// For tests and fuzzers: what PlainQuadReader says of four frames, as words that any code can read.

#ifndef TRUMPET_LIB_PACKET_QUAD_WORDS_H
#define TRUMPET_LIB_PACKET_QUAD_WORDS_H

#include <cstdint>

#include "lib/packet/plain_quad.h"

namespace trumpet {

struct QuadWords {
  uint64_t ips[4] = {};
  uint64_t ports[4] = {};
  uint64_t volume_and_ecn[4] = {};
  uint32_t tcp = 0;
  uint32_t plain = 0;
  uint64_t wire_bytes[4] = {};  // their sum counts
};

// Only on a processor that HasQuads().  Without a plain frame only `wire_bytes` is told.
[[gnu::target("avx2")]] inline QuadWords ReadQuad(const PlainReader& reader, const Frame* frames) {
  QuadWords words;
  __m256i wire_bytes = _mm256_setzero_si256();
  const PlainQuad quad = PlainQuadReader(reader).Read(frames, &wire_bytes);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(words.wire_bytes), wire_bytes);
  words.plain = quad.plain;
  if (quad.plain == 0) return words;
  words.tcp = quad.tcp;
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(words.ips), quad.ips);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(words.ports), quad.ports);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(words.volume_and_ecn), quad.volume_and_ecn);
  return words;
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_QUAD_WORDS_H
