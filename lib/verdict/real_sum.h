// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RealSum: a sum of doubles as the unevaluated sum of several, each the rounding errors of the one
// before (cascaded compensated summation, Ogita, Rump and Oishi 2005).
//
// Four parts carry some 212 bits, enough for the n*S2 - S*S of a standard deviation to cancel to
// exactly 0 over equal values, and for the order of adding not to show.  So do whole numbers that
// are too wide for a double, as long as sums have some 200 bits.  A sum beyond the range of doubles
// rounds to something that is not finite.

#ifndef TRUMPET_LIB_VERDICT_REAL_SUM_H
#define TRUMPET_LIB_VERDICT_REAL_SUM_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

#include "lib/base/units.h"

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

  void AddWhole(Int128 value) {
    for (const double piece : WholePieces(value).pieces) Add(piece);
  }

  void AddWholeSquare(Int128 value) {
    const WholePieces whole(value);
    for (const double a : whole.pieces) {
      for (const double b : whole.pieces) AddProduct(a, b);
    }
  }

  // The exact sum of what were only whole numbers; none if it may not fit.
  std::optional<Int128> Whole() const {
    Int128 sum = 0;
    for (const double part : parts) {
      if (!(std::fabs(part) < 0x1p127)) return std::nullopt;
      if (__builtin_add_overflow(sum, static_cast<Int128>(part), &sum)) return std::nullopt;
    }
    return sum;
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

  // A whole number as doubles of 50 bits at most, which all have its sign or are 0.
  struct WholePieces {
    double pieces[3];

    explicit WholePieces(Int128 value) {
      const Uint128 magnitude =
          value < 0 ? -static_cast<Uint128>(value) : static_cast<Uint128>(value);
      const double sign = value < 0 ? -1 : 1;
      constexpr Uint128 kMask = (Uint128{1} << 50) - 1;
      pieces[0] = sign * std::ldexp(static_cast<double>(magnitude >> 100), 100);
      pieces[1] = sign * std::ldexp(static_cast<double>(magnitude >> 50 & kMask), 50);
      pieces[2] = sign * static_cast<double>(magnitude & kMask);
    }
  };

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
