// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FilterExpr: which packets belong to an event, as a checked tree.
//
// A test of a field that the packet lacks is false, so `not` of it is true.

#ifndef TRUMPET_LIB_MODEL_FILTER_H
#define TRUMPET_LIB_MODEL_FILTER_H

#include <cstdint>
#include <vector>

#include "lib/packet/fields.h"
#include "lib/packet/parsed_packet.h"

namespace trumpet {

// low <= value <= high, for values of one kind.  A prefix is a range; a single value has low ==
// high.
struct ValueRange {
  ValueKind kind = ValueKind::kNumber;
  Uint128 low = 0;
  Uint128 high = 0;

  bool operator==(const ValueRange& other) const {
    return kind == other.kind && low == other.low && high == other.high;
  }
};

struct FieldTest {
  FieldRef ref;
  bool is_any = false;     // field=*: the field is present
  bool is_masked = false;  // tcpFlags=+syn-ack: (value & mask) == expected
  uint16_t mask = 0;
  uint16_t expected = 0;
  std::vector<ValueRange> ranges;  // otherwise: the value lies in one of them

  bool operator==(const FieldTest& other) const {
    return ref == other.ref && is_any == other.is_any && is_masked == other.is_masked &&
           mask == other.mask && expected == other.expected && ranges == other.ranges;
  }
};

enum class FilterOp : uint8_t { kTrue, kTest, kAnd, kOr, kNot };

struct FilterExpr {
  FilterOp op = FilterOp::kTrue;
  FieldTest test;                // kTest
  std::vector<FilterExpr> args;  // kAnd, kOr: two or more; kNot: one

  bool operator==(const FilterExpr& other) const {
    return op == other.op && test == other.test && args == other.args;
  }
};

bool Matches(const FieldTest& test, const FieldValue& value);
bool Matches(const FilterExpr& filter, const ParsedPacket& packet);

// Calls `visit` for every field the filter looks at, repeats included.
template <typename Visitor>
void VisitFields(const FilterExpr& filter, const Visitor& visit) {
  if (filter.op == FilterOp::kTest) visit(filter.test.ref);
  for (const FilterExpr& arg : filter.args) VisitFields(arg, visit);
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_MODEL_FILTER_H
