// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// DoubleDouble: a real sum with about 106 bits, as the unevaluated sum of two doubles.
//
// `high` is the sum rounded to a double and |low| is at most half a unit in the last place of it.
// Two threads that add the same values in different order get the same rounded sum.

#ifndef TRUMPET_LIB_TPM_DOUBLE_DOUBLE_H
#define TRUMPET_LIB_TPM_DOUBLE_DOUBLE_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace trumpet {

struct DoubleDouble {
  double high = 0;
  double low = 0;
};

// a + b exactly.
inline DoubleDouble TwoSum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

// a * b exactly.
inline DoubleDouble TwoProduct(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

inline DoubleDouble Add(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble high = TwoSum(a.high, b.high);
  const DoubleDouble low = TwoSum(a.low, b.low);
  const DoubleDouble sum = TwoSum(high.high, high.low + low.high);
  return TwoSum(sum.high, sum.low + low.low);
}

inline DoubleDouble Multiply(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble product = TwoProduct(a.high, b.high);
  return TwoSum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

// A DoubleDouble kept in two words of a cell.
inline DoubleDouble LoadDoubleDouble(const uint64_t* words) {
  DoubleDouble value;
  std::memcpy(&value.high, &words[0], sizeof value.high);
  std::memcpy(&value.low, &words[1], sizeof value.low);
  return value;
}

inline void StoreDoubleDouble(const DoubleDouble& value, uint64_t* words) {
  std::memcpy(&words[0], &value.high, sizeof value.high);
  std::memcpy(&words[1], &value.low, sizeof value.low);
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_DOUBLE_DOUBLE_H
