// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Uint256: just enough of a wide integer to take the exact n*S2 - S*S of a standard deviation.

#ifndef TRUMPET_LIB_VERDICT_UINT256_H
#define TRUMPET_LIB_VERDICT_UINT256_H

#include <cmath>
#include <cstdint>

#include "lib/base/units.h"

namespace trumpet {

struct Uint256 {
  Uint128 high = 0;
  Uint128 low = 0;
};

inline Uint256 MultiplyWide(Uint128 a, Uint128 b) {
  const Uint128 a_low = static_cast<uint64_t>(a);
  const Uint128 a_high = a >> 64;
  const Uint128 b_low = static_cast<uint64_t>(b);
  const Uint128 b_high = b >> 64;
  const Uint128 low = a_low * b_low;
  const Uint128 cross = a_high * b_low + (low >> 64);  // at most 2^128 - 2^64: no overflow
  const Uint128 middle = a_low * b_high + static_cast<uint64_t>(cross);
  Uint256 product;
  product.low = (middle << 64) | static_cast<uint64_t>(low);
  product.high = a_high * b_high + (cross >> 64) + (middle >> 64);
  return product;
}

// a - b; 0 when b is the larger.
inline Uint256 SubtractOrZero(const Uint256& a, const Uint256& b) {
  if (a.high < b.high || (a.high == b.high && a.low < b.low)) return {};
  return {a.high - b.high - (a.low < b.low ? 1 : 0), a.low - b.low};
}

// The nearest double, ties to even.
inline double ToDouble(Uint256 value) {
  int exponent = 0;
  while (value.high != 0) {  // what is shifted out stays visible in the last bit
    value.low = (value.low >> 1) | (value.high << 127) | (value.low & 1);
    value.high >>= 1;
    ++exponent;
  }
  return std::ldexp(static_cast<double>(value.low), exponent);
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_VERDICT_UINT256_H
