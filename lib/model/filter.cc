// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/model/filter.h"

namespace trumpet {

bool Matches(const FieldTest& test, const FieldValue& value) {
  if (!value.is_present()) return false;
  if (test.is_any) return true;
  if (test.is_masked) return (value.value & test.mask) == test.expected;
  for (const ValueRange& range : test.ranges) {
    if (range.kind == value.kind && range.low <= value.value && value.value <= range.high) {
      return true;
    }
  }
  return false;
}

bool Matches(const FilterExpr& filter, const ParsedPacket& packet) {
  switch (filter.op) {
    case FilterOp::kTrue:
      return true;
    case FilterOp::kTest:
      return Matches(filter.test, ReadField(packet, filter.test.ref));
    case FilterOp::kNot:
      return !Matches(filter.args[0], packet);
    case FilterOp::kAnd:
      for (const FilterExpr& arg : filter.args) {
        if (!Matches(arg, packet)) return false;
      }
      return true;
    case FilterOp::kOr:
      for (const FilterExpr& arg : filter.args) {
        if (Matches(arg, packet)) return true;
      }
      return false;
  }
  return false;
}

}  // namespace trumpet
