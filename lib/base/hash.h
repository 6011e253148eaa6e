// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Hashes of 64 bits, seeded so that nobody outside can choose keys that collide.
//
// HashBytes is XXH3 of libxxhash, compiled in.  Take the seed from the machine's random source
// for tables that packets fill, and a fixed one where runs must repeat.

#ifndef TRUMPET_LIB_BASE_HASH_H
#define TRUMPET_LIB_BASE_HASH_H

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

#include <cstddef>
#include <cstdint>

namespace trumpet {

// All 64 bits of the answer depend on every byte and on the seed.
inline uint64_t HashBytes(const void* bytes, size_t size, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, size, seed);
}

// A one-to-one scrambling of 64 bits (the finishing step of SplitMix64).
constexpr uint64_t kFirstMixFactor = 0xbf58476d1ce4e5b9u;
constexpr uint64_t kSecondMixFactor = 0x94d049bb133111ebu;
inline uint64_t MixBits(uint64_t value) {
  value = (value ^ (value >> 30)) * kFirstMixFactor;
  value = (value ^ (value >> 27)) * kSecondMixFactor;
  return value ^ (value >> 31);
}

// Hash of a number: cheaper than HashBytes of its eight bytes.
inline uint64_t HashNumber(uint64_t value, uint64_t seed) {
  return MixBits(value + MixBits(seed + 0x9e3779b97f4a7c15u));
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_HASH_H
