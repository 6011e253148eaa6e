// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The event as written: trees whose nodes know their place in the text.
//
// Redundant parentheses are gone, sugar (rates, percentages, adjacent
// `is_lost & is_burst`) is still there.

#ifndef TRUMPET_LIB_LANG_EVENT_AST_H
#define TRUMPET_LIB_LANG_EVENT_AST_H

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lib/lang/event/number.h"
#include "lib/model/event_spec.h"

namespace trumpet::event_lang {

struct FilterNode {
  FilterOp op = FilterOp::kTrue;
  size_t offset = 0;
  FieldTest test;                // kTest
  std::vector<FilterNode> args;  // kAnd, kOr: a chain of two or more as written
  int height = 0;
};

enum class Literal { kPlain, kPercent };

struct PredicateNode {
  ExprOp op = ExprOp::kNumber;
  size_t offset = 0;
  std::string_view text;              // leaves and kAggregate: as written
  Number number;                      // kNumber
  Literal literal = Literal::kPlain;  // kNumber
  Unit unit = Unit::kNone;            // kNumber
  Variable variable = Variable::kPackets;
  AggregateKind aggregate = AggregateKind::kSum;
  MeasuredState measured;           // kMeasured
  std::vector<PredicateNode> args;  // kAnd, kOr: a chain of two or more as written
  int height = 0;                   // operators above each other in the binary tree it becomes

  bool is_rate() const { return unit == Unit::kBitRate || unit == Unit::kPacketRate; }
};

struct GranularityItem {
  GranularityField field;
  size_t offset = 0;
};

struct GranularityNode {
  bool is_five_tuple = false;
  std::vector<GranularityItem> items;
};

struct EventAst {
  FilterNode filter;
  PredicateNode predicate;
  GranularityNode granularity;
  uint32_t interval_ms = 0;
  size_t interval_offset = 0;
};

}  // namespace trumpet::event_lang

#endif  // TRUMPET_LIB_LANG_EVENT_AST_H
