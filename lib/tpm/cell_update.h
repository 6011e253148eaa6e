// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Adding one packet's value to a cell: the packet path's half of trigger_plan.h.

#ifndef TRUMPET_LIB_TPM_CELL_UPDATE_H
#define TRUMPET_LIB_TPM_CELL_UPDATE_H

#include <cstdint>
#include <cstring>

#include "lib/base/units.h"
#include "lib/verdict/real_sum.h"
#include "lib/verdict/trigger_plan.h"

namespace trumpet {

inline void AddToInt128(Int128 value, uint64_t* words) {
  Uint128 sum = static_cast<Uint128>(words[1]) << 64 | words[0];
  sum += static_cast<Uint128>(value);
  words[0] = static_cast<uint64_t>(sum);
  words[1] = static_cast<uint64_t>(sum >> 64);
}

// Adds an integer operand's value to a cell of one of the integer kinds.
inline void AddInteger(CellKind kind, int64_t value, uint64_t* words) {
  switch (kind) {
    case CellKind::kCount:
      words[0]++;
      break;
    case CellKind::kSum:
      AddToInt128(value, words);
      break;
    case CellKind::kSumSquares:
      AddToInt128(static_cast<Int128>(value) * value, words);
      break;
    default: {
      // A cell of one value merges like a packet: minimum and maximum have one definition.
      uint64_t one[2];
      std::memcpy(one, &value, sizeof value);
      MergeCell(kind, one, words);
    }
  }
}

// Adds a real operand's value, which is defined, to a cell of one of the real kinds, or to its
// count.
inline void AddReal(CellKind kind, const Number& value, uint64_t* words) {
  if (kind == CellKind::kCount) {
    words[0]++;
    return;
  }
  if (kind == CellKind::kRealSum || kind == CellKind::kRealSumSquares) {
    CellSum sum = LoadCellSum(words);
    if (kind == CellKind::kRealSum) {
      AddValue(value, &sum);
    } else {
      AddSquare(value, &sum);
    }
    StoreCellSum(sum, words);
    return;
  }
  const double rounded = value.AsDouble();
  uint64_t bits;  // a cell of one value merges like a packet
  std::memcpy(&bits, &rounded, sizeof bits);
  MergeCell(kind, &bits, words);
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_CELL_UPDATE_H
