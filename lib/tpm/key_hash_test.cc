// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/key_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "lib/tpm/key_hash_quad.h"
#include "lib/tpm/key_layout.h"

namespace trumpet {
namespace {

using KeyBytes = std::array<uint8_t, sizeof(FlowKey)>;

FlowKey KeyOf(const KeyBytes& bytes) {
  FlowKey key;
  std::memcpy(&key, bytes.data(), sizeof key);
  return key;
}

FlowKey Ipv4Key(uint32_t src_ip, uint32_t dst_ip, uint32_t ports, uint32_t after_ports) {
  KeyBytes bytes{};
  std::memcpy(&bytes[0], &src_ip, 4);
  std::memcpy(&bytes[16], &dst_ip, 4);
  std::memcpy(&bytes[32], &ports, 4);
  std::memcpy(&bytes[36], &after_ports, 4);
  return KeyOf(bytes);
}

// As FlowTable does.
uint32_t BucketOf(uint64_t hash, int bits) { return static_cast<uint32_t>(hash) >> (32 - bits); }

TEST(KeyHash, ChangesManyBitsOfBothHalvesWithEveryBitOfTheKey) {
  KeyBytes bytes{};
  const KeyHash hash(1);
  const uint64_t before = hash(KeyOf(bytes));
  EXPECT_NE(before, KeyHash(2)(KeyOf(bytes)));
  for (size_t bit = 0; bit < bytes.size() * 8; bit++) {
    bytes[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    const uint64_t changed = before ^ hash(KeyOf(bytes));
    EXPECT_GT(__builtin_popcount(static_cast<uint32_t>(changed)), 2) << bit;
    EXPECT_GT(__builtin_popcount(static_cast<uint32_t>(changed >> 32)), 2) << bit;
    bytes[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
  }
}

TEST(KeyHash, HasAShortWayForIpv4ThatSaysTheSame) {
  std::mt19937 random(7);
  for (uint64_t seed = 1; seed <= 1000; seed++) {
    const KeyHash hash(seed);
    const uint32_t src = random();
    const uint32_t dst = random();
    const uint32_t ports = random();
    const uint32_t rest = random();
    const KeyHash::OfIpv4 short_way(hash);
    EXPECT_EQ(short_way(src, dst, ports, short_way.PortFactor(rest)),
              hash(Ipv4Key(src, dst, ports, rest)));
  }
}

[[gnu::target("avx2")]] void HashQuad(const KeyHashQuad& hash, const uint64_t* ips,
                                      const uint64_t* ports, const uint64_t* factors,
                                      uint64_t* hashes) {
  const auto words = [](const uint64_t* four) { return reinterpret_cast<const __m256i*>(four); };
  const __m256i quad = hash(_mm256_loadu_si256(words(ips)), _mm256_loadu_si256(words(ports)),
                            _mm256_loadu_si256(words(factors)));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(hashes), quad);
}

TEST(KeyHash, SaysOfFourIpv4KeysWhatItSaysOfEach) {
  if (!HasQuads()) GTEST_SKIP() << "this processor has no AVX2";
  std::mt19937_64 random(8);
  for (uint64_t seed = 1; seed <= 1000; seed++) {
    const KeyHash key_hash(seed);
    const KeyHash::OfIpv4 short_way(key_hash);
    uint64_t ips[4];
    uint64_t ports[4];
    uint64_t factors[4];
    uint64_t hashes[4];
    for (size_t i = 0; i < 4; i++) {
      ips[i] = seed % 10 == 0 ? UINT64_MAX : random();
      ports[i] = seed % 10 == 0 ? UINT32_MAX : static_cast<uint32_t>(random());
      factors[i] = short_way.PortFactor(static_cast<uint32_t>(random()));
    }
    HashQuad(KeyHashQuad(short_way), ips, ports, factors, hashes);
    for (size_t i = 0; i < 4; i++) {
      EXPECT_EQ(hashes[i],
                short_way(static_cast<uint32_t>(ips[i]), static_cast<uint32_t>(ips[i] >> 32),
                          static_cast<uint32_t>(ports[i]), factors[i]))
          << "seed " << seed;
    }
  }
}

// 4,096 keys in a row at each step of a power of two in each part of an IPv4 key, over 1,024
// buckets.
TEST(KeyHash, OfKeysInARowFillsNoBucketTooFullWhateverTheStep) {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    const KeyHash hash(seed);
    for (int part = 0; part < 4; part++) {
      for (int shift = 0; shift <= 20; shift++) {
        std::array<int, 1024> buckets{};
        for (uint32_t i = 0; i < 4096; i++) {
          std::array<uint32_t, 4> parts{1, 2, 3, 4};
          parts[static_cast<size_t>(part)] += i << shift;
          buckets[BucketOf(hash(Ipv4Key(parts[0], parts[1], parts[2], parts[3])), 10)]++;
        }
        const int most = *std::max_element(buckets.begin(), buckets.end());
        EXPECT_LT(most, 64) << "seed " << seed << ", part " << part << ", shift " << shift;
      }
    }
  }
}

// Of any two keys, over many seeds: they meet in one of 256 buckets as often as chance has it.
TEST(KeyHash, LetsTwoKeysMeetNoMoreOftenThanChance) {
  const std::array<FlowKey, 5> keys = {Ipv4Key(0, 0, 0, 0), Ipv4Key(1, 0, 0, 0),
                                       Ipv4Key(0, 1, 0, 0), Ipv4Key(0x80000000, 0, 0, 0),
                                       Ipv4Key(0, 0, 0xffffffff, 0xffffffff)};
  constexpr int kSeeds = 100000;
  for (size_t a = 0; a < keys.size(); a++) {
    for (size_t b = 0; b < a; b++) {
      int meetings = 0;
      for (uint64_t seed = 0; seed < kSeeds; seed++) {
        const KeyHash hash(seed);
        meetings += BucketOf(hash(keys[a]), 8) == BucketOf(hash(keys[b]), 8);
      }
      EXPECT_NEAR(meetings, kSeeds / 256, 100) << a << " and " << b;
    }
  }
}

}  // namespace
}  // namespace trumpet
