// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <iterator>

#include "lib/lang/event/filter_value.h"
#include "lib/lang/event/print.h"

namespace trumpet::event_lang {
namespace {

// How tightly each operator binds.
int Binding(FilterOp op) {
  switch (op) {
    case FilterOp::kOr:
      return 1;
    case FilterOp::kAnd:
      return 2;
    case FilterOp::kNot:
      return 3;
    default:
      return 4;
  }
}

std::string PrintValue(Field field, ValueKind kind, Uint128 value) {
  if (field == Field::kProtocol && !ProtocolName(value).empty()) {
    return std::string(ProtocolName(value));
  }
  if (field == Field::kEthType) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%04x", static_cast<unsigned>(value));
    return text;
  }
  return FormatValue(FieldValue{kind, value});
}

// The length of the prefix that is exactly this range, or -1.
int PrefixLength(const ValueRange& range, int width) {
  const Uint128 host_mask = range.low ^ range.high;
  if ((host_mask & (host_mask + 1)) != 0 || (range.low & host_mask) != 0) return -1;
  int host_bits = 0;
  while (host_bits < width && ((host_mask >> host_bits) & 1) != 0) ++host_bits;
  return width - host_bits;
}

std::string PrintRange(Field field, const ValueRange& range) {
  const std::string low = PrintValue(field, range.kind, range.low);
  if (range.low == range.high) return low;
  if (range.kind != ValueKind::kNumber) {
    const int length = PrefixLength(range, FieldWidth(field, range.kind));
    if (length >= 0) return low + "/" + std::to_string(length);
  }
  return low + "-" + PrintValue(field, range.kind, range.high);
}

std::string PrintFlags(const FieldTest& test) {
  std::string text;
  for (size_t i = 0; i < std::size(kTcpFlagNames); ++i) {
    if ((test.mask >> i & 1) == 0) continue;
    text += (test.expected >> i & 1) != 0 ? '+' : '-';
    text += kTcpFlagNames[i];
  }
  return text;
}

std::string PrintTest(const FieldTest& test) {
  std::string text = FieldRefName(test.ref) + "=";
  if (test.is_any) return text + "*";
  if (test.is_masked) return text + PrintFlags(test);
  if (test.ranges.size() == 1) return text + PrintRange(test.ref.field, test.ranges[0]);
  const char* separator = "{";
  for (const ValueRange& range : test.ranges) {
    text += separator + PrintRange(test.ref.field, range);
    separator = ",";
  }
  return text + "}";
}

std::string PrintOperand(const FilterExpr& arg, FilterOp parent) {
  const std::string text = PrintFilter(arg);
  const bool binds_tighter =
      Binding(arg.op) > Binding(parent) || (arg.op == FilterOp::kNot && parent == FilterOp::kNot);
  return binds_tighter ? text : "(" + text + ")";
}

}  // namespace

std::string PrintFilter(const FilterExpr& filter) {
  switch (filter.op) {
    case FilterOp::kTrue:
      return "*";
    case FilterOp::kTest:
      return PrintTest(filter.test);
    case FilterOp::kNot:
      return "not " + PrintOperand(filter.args[0], filter.op);
    default:
      break;
  }
  std::string text;
  for (const FilterExpr& arg : filter.args) {
    if (!text.empty()) text += filter.op == FilterOp::kAnd ? " and " : " or ";
    text += PrintOperand(arg, filter.op);
  }
  return text;
}

}  // namespace trumpet::event_lang
