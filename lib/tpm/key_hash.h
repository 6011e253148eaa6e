// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// KeyHash: the hash of a flow table entry's key, seeded so that nobody outside can choose keys that
// collide.
//
// The ten 32-bit parts m of a key give the upper half of  k + sum of (m[i] + k[i]) * (m[j] + k[j])
// modulo 2^64, over five pairs (i, j) and with secret 64-bit numbers k.  This is strongly universal
// (Lemire and Kaser, "Strongly universal string hashing is fast", 2014: MULTILINEAR-HM): of two
// different keys chosen without knowing the seed, these 32 bits are as independent as if drawn by
// lot.  The finish is one-to-one on them, so the lower half of the answer, some bits of which
// choose the bucket, keeps that: no chosen set of keys fills a bucket more than random keys do on
// average. The upper half depends on the same 32 bits; it serves for tags, of which nothing is
// proven.
//
// Of an IPv4 key the parts that are always 0 make three of the five products constant: two are
// left to compute.

#ifndef TRUMPET_LIB_TPM_KEY_HASH_H
#define TRUMPET_LIB_TPM_KEY_HASH_H

#include <cstdint>
#include <cstring>

#include "lib/base/hash.h"
#include "lib/packet/flow_key.h"

namespace trumpet {

class KeyHash {
 public:
  explicit KeyHash(uint64_t seed) {
    uint64_t next = 0;
    for (uint64_t& number : numbers_) number = HashNumber(next++, seed);
    start_ = HashNumber(next, seed);
    ipv4_start_ =
        start_ + numbers_[2] * numbers_[3] + numbers_[4] * numbers_[5] + numbers_[6] * numbers_[7];
  }

  uint64_t operator()(const FlowKey& key) const {
    uint64_t words[5];
    std::memcpy(words, &key, sizeof words);
    return OfWords(words);
  }

  // The same for the key's five words.
  uint64_t OfWords(const uint64_t* words) const {
    uint64_t sum = start_;
    sum += Product(0, Low(words[0]), Low(words[2]));
    sum += Product(2, High(words[0]), High(words[2]));
    sum += Product(4, Low(words[1]), Low(words[3]));
    sum += Product(6, High(words[1]), High(words[3]));
    sum += Product(8, Low(words[4]), High(words[4]));
    return Finish(sum);
  }

  // The same for IPv4 keys, by their parts.
  class OfIpv4 {
   public:
    explicit OfIpv4(const KeyHash& hash)
        : src_number_(hash.numbers_[0]),
          dst_number_(hash.numbers_[1]),
          port_number_(hash.numbers_[8]),
          after_ports_number_(hash.numbers_[9]),
          start_(hash.ipv4_start_) {}

    // What the last four bytes of the key add to the hash.
    uint64_t PortFactor(uint32_t after_ports) const { return after_ports + after_ports_number_; }

    // The addresses as on the wire, the ports as in the key.
    [[gnu::always_inline]] uint64_t operator()(uint32_t src_ip, uint32_t dst_ip, uint32_t ports,
                                               uint64_t port_factor) const {
      return Finish(start_ + (src_ip + src_number_) * (dst_ip + dst_number_) +
                    (ports + port_number_) * port_factor);
    }

   private:
    friend class KeyHashQuad;
    uint64_t src_number_;
    uint64_t dst_number_;
    uint64_t port_number_;
    uint64_t after_ports_number_;
    uint64_t start_;
  };

 private:
  friend class KeyHashQuad;
  static constexpr int kFinishShift = 15;
  static constexpr uint64_t kFinishFactor = 0xbf58476d1ce4e5b9u;

  static uint64_t Low(uint64_t word) { return static_cast<uint32_t>(word); }
  static uint64_t High(uint64_t word) { return word >> 32; }
  uint64_t Product(int i, uint64_t a, uint64_t b) const {
    return (a + numbers_[i]) * (b + numbers_[i + 1]);
  }
  // Breaks up the pattern that keys in a row would make.
  [[gnu::always_inline]] static uint64_t Finish(uint64_t sum) {
    const uint64_t universal = sum >> 32;
    return (universal ^ universal >> kFinishShift) * kFinishFactor;
  }

  uint64_t numbers_[10];
  uint64_t start_;
  uint64_t ipv4_start_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_KEY_HASH_H
