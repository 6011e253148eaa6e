// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// KeyHashQuad: the hashes of four IPv4 keys side by side, as KeyHash::OfIpv4 gives them.
//
// Threads: immutable.  Only for processors that HasQuads().

#ifndef TRUMPET_LIB_TPM_KEY_HASH_QUAD_H
#define TRUMPET_LIB_TPM_KEY_HASH_QUAD_H

#include <cstdint>

#include "lib/base/quads.h"
#include "lib/tpm/key_hash.h"

namespace trumpet {

class KeyHashQuad {
 public:
  explicit KeyHashQuad(const KeyHash::OfIpv4& hash) : ipv4_(hash) {}

  // As KeyHash::OfIpv4.  The upper halves of `ports` are 0.
  TRUMPET_QUADS __m256i operator()(__m256i ips, __m256i ports, __m256i port_factors) const {
    const __m256i src =
        _mm256_add_epi64(_mm256_and_si256(ips, QuadOf(UINT32_MAX)), QuadOf(ipv4_.src_number_));
    const __m256i dst = _mm256_add_epi64(_mm256_srli_epi64(ips, 32), QuadOf(ipv4_.dst_number_));
    const __m256i port = _mm256_add_epi64(ports, QuadOf(ipv4_.port_number_));
    const __m256i sum = _mm256_add_epi64(
        QuadOf(ipv4_.start_), _mm256_add_epi64(ProductOf(src, dst), ProductOf(port, port_factors)));
    return Finish(sum);
  }

 private:
  TRUMPET_QUADS static __m256i Finish(__m256i sum) {
    const __m256i universal = _mm256_srli_epi64(sum, 32);
    const __m256i mixed =
        _mm256_xor_si256(universal, _mm256_srli_epi64(universal, KeyHash::kFinishShift));
    // Its upper halves are 0, and so is one of the products across.
    const __m256i across = _mm256_mul_epu32(mixed, QuadOf(KeyHash::kFinishFactor >> 32));
    return _mm256_add_epi64(_mm256_mul_epu32(mixed, QuadOf(KeyHash::kFinishFactor)),
                            _mm256_slli_epi64(across, 32));
  }

  const KeyHash::OfIpv4 ipv4_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_KEY_HASH_QUAD_H
