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
inline uint64_t MixBits(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// Hash of a number: cheaper than HashBytes of its eight bytes.
inline uint64_t HashNumber(uint64_t value, uint64_t seed) {
  return MixBits(value + MixBits(seed + 0x9e3779b97f4a7c15u));
}

// Hashes pairs of numbers: multiply, add and keep the upper half of 128 bits, which is strongly
// universal (Dietzfelbinger 1996): of two different pairs chosen without knowing the seed, hashes
// are as independent as if drawn by lot, in all bits together and in any of them.  So no chosen set
// of keys fills a bucket more than random keys do on average.  The last step, one-to-one, keeps
// that and breaks up the pattern that keys in a row would make.  A third of the cost of HashBytes.
class PairHash {
 public:
  explicit PairHash(uint64_t seed) {
    uint64_t next = 0;
    for (Number& factor : factors_) {
      const uint64_t high = HashNumber(next++, seed);
      factor = static_cast<Number>(high) << 64 | HashNumber(next++, seed);
    }
  }

  uint64_t operator()(uint64_t a, uint64_t b) const {
    const Number sum = factors_[0] * a + factors_[1] * b + factors_[2];
    const auto high = static_cast<uint64_t>(sum >> 64);
    return (high ^ high >> 32) * 0xbf58476d1ce4e5b9u;
  }

 private:
  __extension__ using Number = unsigned __int128;
  Number factors_[3];
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_HASH_H
