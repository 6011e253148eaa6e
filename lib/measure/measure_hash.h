// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The two families of hash functions of measurement programs.
//
// Reference: murmur3 (x86, 32 bits) with the number of the row as seed, so that runs can be
// compared cell by cell with other implementations.  Fast: one seeded hash of 64 bits per key that
// all variables of all programs share; rows are slices of it or mixed anew from it.  Never CRC with
// several initial values: it is linear, so keys that collide in one row collide in all.
//
// Threads: pure functions.

#ifndef TRUMPET_LIB_MEASURE_MEASURE_HASH_H
#define TRUMPET_LIB_MEASURE_MEASURE_HASH_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lib/base/hash.h"

namespace trumpet {

enum class MeasureHashFamily : uint8_t { kFast, kReference };

inline uint32_t Murmur3Scramble(uint32_t block) {
  block *= 0xcc9e2d51u;
  block = block << 15 | block >> 17;
  return block * 0x1b873593u;
}

inline uint32_t Murmur3(const uint8_t* key, size_t size, uint32_t seed) {
  uint32_t state = seed;
  size_t at = 0;
  for (; at + 4 <= size; at += 4) {
    uint32_t block;
    std::memcpy(&block, key + at, sizeof block);
    state ^= Murmur3Scramble(block);
    state = (state << 13 | state >> 19) * 5 + 0xe6546b64u;
  }
  uint32_t rest = 0;
  for (size_t left = size; left > at; --left) rest = rest << 8 | key[left - 1];
  if (at < size) state ^= Murmur3Scramble(rest);
  state ^= static_cast<uint32_t>(size);
  state = (state ^ state >> 16) * 0x85ebca6bu;
  state = (state ^ state >> 13) * 0xc2b2ae35u;
  return state ^ state >> 16;
}

// A number in [0, size) out of 32 even bits, without a division.
inline uint32_t ScaleHash(uint32_t bits, uint32_t size) {
  return static_cast<uint32_t>(uint64_t{bits} * size >> 32);
}

// Rows of at most this many cells take 16 bits of the hash each: an uneven share of at most 6 %.
constexpr uint32_t kMaxSlicedCells = 4096;
constexpr uint32_t kSlicedRows = 4;

// The cell of row `row` for a key of fast hash `hash`.
inline uint32_t FastRowIndex(uint64_t hash, uint32_t row, uint32_t size, bool is_sliced) {
  if (is_sliced) return static_cast<uint32_t>((hash >> (16 * row) & 0xffff) * size >> 16);
  return ScaleHash(static_cast<uint32_t>(MixBits(hash + row * 0x9e3779b97f4a7c15u) >> 32), size);
}

// The hash of variable number `number` among those that share a key: the first takes it as it is.
inline uint64_t HashDistance(uint32_t number) { return number * 0xd1342543de82ef95u; }
inline uint64_t FastVariableHash(uint64_t hash, uint32_t number) {
  return number == 0 ? hash : MixBits(hash + HashDistance(number));
}

// Of a 32-bit hash, for `1 << log2_size` bitmaps or registers: which one, and how many zeros lead
// the bits that do not say which.
struct BucketRank {
  uint32_t bucket;
  uint32_t zeros;
};
inline BucketRank RankOf(uint32_t hash, uint32_t log2_size) {
  const uint64_t shifted = uint64_t{hash} << log2_size;  // the bucket in the upper half
  const uint64_t end = uint64_t{1} << (31 + log2_size);  // so that no more than the rest is counted
  return {static_cast<uint32_t>(shifted >> 32),
          static_cast<uint32_t>(__builtin_clzll(shifted << 32 | end))};
}

// The same of the upper half of a hash, without shifts by variables, which take three steps each on
// some processors.  `size`: of buckets.
inline BucketRank RankOfUpper(uint64_t hash, uint64_t size) {
  const uint64_t shifted = (hash >> 32) * size;
  return {static_cast<uint32_t>(shifted >> 32),
          static_cast<uint32_t>(__builtin_clzll(shifted << 32 | size << 31))};
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_MEASURE_HASH_H
