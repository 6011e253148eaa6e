// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TriggerPlan: an event compiled into the running values ("cells") it needs.
//
// A cell is a mergeable partial of one aggregate operand: count, sum, sum of squares, minimum,
// maximum. Packet threads keep cells per flow, the agent merges them per bucket and computes the
// predicate from them.  All cells of a trigger lie in one array of 64-bit words.
//
// Threads: immutable once made; shared by all.

#ifndef TRUMPET_LIB_VERDICT_TRIGGER_PLAN_H
#define TRUMPET_LIB_VERDICT_TRIGGER_PLAN_H

#include <cstdint>
#include <vector>

#include "lib/model/event_spec.h"
#include "lib/model/expr.h"
#include "lib/verdict/real_sum.h"

namespace trumpet {

// Integer sums take two words (128 bits, low word first); real sums four doubles whose exact sum is
// the value (see real_sum.h), so that no order of merging shows.
enum class CellKind : uint8_t {
  kCount,  // packets on which the operand is defined
  kSum,
  kSumSquares,
  kMin,
  kMax,
  kRealSum,
  kRealSumSquares,
  kRealMin,
  kRealMax,
};

constexpr int CellWords(CellKind kind) {
  switch (kind) {
    case CellKind::kSum:
    case CellKind::kSumSquares:
      return 2;
    case CellKind::kRealSum:
    case CellKind::kRealSumSquares:
      return kRealSumWords;
    default:
      return 1;
  }
}

struct CellSpec {
  CellKind kind = CellKind::kCount;
  uint16_t operand = 0;  // index into TriggerPlan::operands
  uint16_t offset = 0;   // in words

  bool operator==(const CellSpec& other) const {
    return kind == other.kind && operand == other.operand && offset == other.offset;
  }
};

struct TriggerPlan {
  EventSpec spec;
  std::vector<Expr> operands;   // distinct; operands[0] is the variable `packets`
  std::vector<bool> is_real;    // per operand: computed in doubles
  std::vector<CellSpec> cells;  // cells[0] counts the packets of the bucket
  uint16_t word_count = 0;
  bool uses_flow_state = false;  // bare ack/seq/dup or *_lastepoch in the predicate
  bool uses_last_epoch = false;  // *_lastepoch among them
  bool uses_rwnd = false;
  bool uses_rtt = false;
  // A host counts only those packets that spec.observe gives to it, not all that it sees.  For
  // events of a controller; not of the event itself, so whoever installs it says so.
  bool follows_observe = false;
};

TriggerPlan MakeTriggerPlan(const EventSpec& spec);

// Is `operand` an integer that, with every step of its computation, always fits in 63 bits?
bool IsExactInteger(const Expr& operand);

// Cells of nothing.
void ResetCell(CellKind kind, uint64_t* words);
void ResetCells(const std::vector<CellSpec>& cells, uint64_t* words);

// Adds `from` into `into`; both hold cells of the same kind.
void MergeCell(CellKind kind, const uint64_t* from, uint64_t* into);
void MergeCells(const std::vector<CellSpec>& cells, const uint64_t* from, uint64_t* into);

// Adds a value of a real operand, or its square; whole numbers are not rounded, whatever their
// width.
void AddValue(const Number& value, CellSum* sum);
void AddSquare(const Number& value, CellSum* sum);

// Where the cells of one aggregate lie, found once per plan: offsets in words, 0 where there is
// none.
struct AggregateCells {
  AggregateKind kind = AggregateKind::kCount;
  bool is_real = false;
  bool is_whole = false;    // though real: too wide for 63 bits, but without fractions
  bool is_packets = false;  // the operand is always 1: count is all there is
  uint16_t count = 0;
  uint16_t sum = 0;
  uint16_t sum_squares = 0;
  uint16_t extreme = 0;
};

AggregateCells FindAggregateCells(const TriggerPlan& plan, const Expr& aggregate);
Number AggregateValue(const AggregateCells& cells, const uint64_t* words);

// The value of an aggregate node of the plan's predicate; `words` holds the merged cells of the
// bucket.
Number AggregateValue(const TriggerPlan& plan, const Expr& aggregate, const uint64_t* words);

}  // namespace trumpet

#endif  // TRUMPET_LIB_VERDICT_TRIGGER_PLAN_H
