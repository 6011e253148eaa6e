// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RealSum: a sum of doubles as the unevaluated sum of several, each the rounding errors of the one
// before (cascaded compensated summation, Ogita, Rump and Oishi 2005).
//
// Four parts carry some 212 bits, enough for the n*S2 - S*S of a standard deviation to cancel to
// exactly 0 over equal values, and for the order of adding not to show.  A sum beyond the range of
// doubles rounds to something that is not finite.

#ifndef TRUMPET_LIB_VERDICT_REAL_SUM_H
#define TRUMPET_LIB_VERDICT_REAL_SUM_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace trumpet {

template <int kParts>
struct RealSum {
  double parts[kParts] = {};

  void Add(double value) {
    for (int i = 0; i < kParts && value != 0; ++i) {
      const double sum = parts[i] + value;
      const double part = sum - parts[i];
      value = (parts[i] - (sum - part)) + (value - part);  // what the addition lost
      parts[i] = sum;
    }
  }

  void AddProduct(double a, double b) {
    const double product = a * b;
    Add(product);
    Add(std::fma(a, b, -product));  // what the multiplication lost
  }

  void Add(const RealSum& other) {
    for (const double part : other.parts) Add(part);
  }

  // The nearest double.
  double Rounded() const {
    RealSum sum = *this;
    for (int pass = 1; pass < kParts; ++pass) sum.PushErrorsDown();
    const double high = sum.parts[0];
    // Half way between two doubles the rest decides, not the even one.
    const double low = sum.parts[1];
    const double rest = sum.parts[2];
    if ((low < 0 && rest < 0) || (low > 0 && rest > 0)) {
      const double twice = 2 * low;
      const double next = high + twice;
      if (next - high == twice) return next;
    }
    return high;
  }

 private:
  static_assert(kParts >= 3);

  void PushErrorsDown() {
    for (int i = kParts - 1; i > 0; --i) {
      const double sum = parts[i - 1] + parts[i];
      const double part = sum - parts[i - 1];
      parts[i] = (parts[i - 1] - (sum - part)) + (parts[i] - part);
      parts[i - 1] = sum;
    }
  }
};

// As it is kept in the words of a cell.
constexpr int kRealSumWords = 4;
using CellSum = RealSum<kRealSumWords>;

inline CellSum LoadCellSum(const uint64_t* words) {
  CellSum sum;
  std::memcpy(sum.parts, words, sizeof sum.parts);
  return sum;
}

inline void StoreCellSum(const CellSum& sum, uint64_t* words) {
  std::memcpy(words, sum.parts, sizeof sum.parts);
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_VERDICT_REAL_SUM_H
