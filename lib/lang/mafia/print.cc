// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/mafia/print.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "lib/lang/mafia/expr_parser.h"

namespace trumpet::mafia {
namespace {

constexpr size_t kLineWidth = 100;
constexpr size_t kIndent = 2;

std::string Based(uint64_t value, int base, const char* prefix) {
  std::array<char, 64> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
  return prefix + std::string(digits.data(), end);
}

std::string DecimalText(const MeasureNumber& number) {
  std::string fraction;
  for (uint64_t scale = number.denominator; scale > 1; scale /= 10) fraction += '0';
  const std::string digits = std::to_string(number.numerator % number.denominator);
  fraction.replace(fraction.size() - digits.size(), digits.size(), digits);
  return std::to_string(number.numerator / number.denominator) + "." + fraction;
}

std::string DurationText(uint64_t nanos) {
  const auto in = [nanos](uint64_t unit, const char* name) {
    return std::to_string(nanos / unit) + name;
  };
  if (nanos % kNanosPerSecond == 0) return in(kNanosPerSecond, "s");
  if (nanos % kNanosPerMilli == 0) return in(kNanosPerMilli, "ms");
  if (nanos % kNanosPerMicro == 0) return in(kNanosPerMicro, "us");
  return in(1, "ns");
}

std::string Ipv4Text(uint64_t address) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) {
    text += std::to_string(address >> shift & 0xff) + (shift > 0 ? "." : "");
  }
  return text;
}

Level LevelOf(const Expr& expr) {
  return expr.kind == ExprKind::kBinary ? BinaryOperatorOf(expr.op).level : Level::kUnary;
}

// In parentheses where the grammar would not give the operand otherwise.
std::string Operand(const Expr& expr, Level least) {
  const std::string text = PrintExpr(expr);
  return LevelOf(expr) < least ? "(" + text + ")" : text;
}

std::string BinaryText(const Expr& expr) {
  const BinaryOperator& op = BinaryOperatorOf(expr.op);
  const auto tighter = static_cast<Level>(static_cast<int>(op.level) + 1);
  const Level left = op.level == Level::kCompare ? tighter : op.level;
  return Operand(expr.operands[0], left) + " " + std::string(op.sign) + " " +
         Operand(expr.operands[1], tighter);
}

std::string WindowText(const Window& window) {
  std::string text = "window(" + PrintExpr(window.duration);
  if (window.quantum) text += ", quantum=" + PrintExpr(*window.quantum);
  if (!window.mode.text.empty()) text += ", mode=" + window.mode.text;
  return text + ")";
}

std::string ConstructorText(const Constructor& constructor);

std::string ArgumentText(const Argument& argument) {
  std::string text = argument.keyword.text + "=";
  if (argument.expr) return text + PrintExpr(*argument.expr);
  if (!argument.type.empty()) return text + ConstructorText(argument.type[0]);
  if (argument.keyword.text == "key") return text + argument.word.text;
  return text + '"' + argument.word.text + '"';
}

// What it is, of what, how large: in one order whatever the text's is.  Unknown keywords go last,
// in their own order.
size_t RankOf(const Argument& argument) {
  constexpr std::string_view kOrder[] = {"alg", "key", "nhash", "size", "width", "type", "collide"};
  return static_cast<size_t>(
      std::find(std::begin(kOrder), std::end(kOrder), argument.keyword.text) - std::begin(kOrder));
}

std::string ConstructorText(const Constructor& constructor) {
  std::vector<const Argument*> arguments;
  for (const Argument& argument : constructor.arguments) arguments.push_back(&argument);
  std::stable_sort(arguments.begin(), arguments.end(),
                   [](const Argument* a, const Argument* b) { return RankOf(*a) < RankOf(*b); });
  std::string list;
  for (const Word& field : constructor.fields) list += (list.empty() ? "" : ", ") + field.text;
  for (const Argument* argument : arguments) {
    list += (list.empty() ? "" : ", ") + ArgumentText(*argument);
  }
  return constructor.type.text + "(" + list + ")";
}

std::string PrimitiveText(const Step& step) {
  const std::string expr = step.expr ? PrintExpr(*step.expr) : "";
  switch (step.kind) {
    case MeasureNodeKind::kMatch:
      return "match(" + expr + ")";
    case MeasureNodeKind::kTag:
      return "tag(" + step.name.text + ", " + expr + ")";
    case MeasureNodeKind::kTimestamp:
      return "timestamp(" + step.name.text + ")";
    case MeasureNodeKind::kDuplicate:
      return "duplicate(" + step.name.text + ")";
    case MeasureNodeKind::kCollect:
      return "collect(" + step.name.text + ")";
    default:
      return step.name.text + "." + step.method.text + "(" + expr + ")";
  }
}

bool IsComposition(const Step& step) { return !step.children.empty(); }

std::string SignOf(const Step& step) { return step.kind == MeasureNodeKind::kPar ? "++ " : ">> "; }

// On one line.
std::string FlatText(const Step& step) {
  if (!IsComposition(step)) return PrimitiveText(step);
  std::string text;
  for (const Step& child : step.children) {
    if (!text.empty()) text += " " + SignOf(step);
    text += IsComposition(child) ? "(" + FlatText(child) + ")" : FlatText(child);
  }
  return text;
}

std::string StepText(const Step& step, size_t column);

// In parentheses; with room for signs of its own when it needs several lines.
std::string GroupText(const Step& step, size_t column) {
  std::string flat = "(" + FlatText(step) + ")";
  if (column + flat.size() <= kLineWidth) return flat;
  return "(  " + StepText(step, column + 3) + ")";
}

// On as many lines as it needs; the first one begins at `column`.
std::string StepText(const Step& step, size_t column) {
  std::string flat = FlatText(step);
  if (!IsComposition(step) || column + flat.size() <= kLineWidth) return flat;
  std::string text;
  for (const Step& child : step.children) {
    if (!text.empty()) text += "\n" + std::string(column - 3, ' ') + SignOf(step);
    text += IsComposition(child) ? GroupText(child, column) : PrimitiveText(child);
  }
  return text;
}

std::string TaskText(const Item& item, size_t indent) {
  std::string head = item.names[0].text;
  if (item.window) head += "." + WindowText(*item.window);
  head += " >> ";
  if (indent + head.size() + FlatText(item.pipeline).size() < kLineWidth) {
    return head + FlatText(item.pipeline) + ";";
  }
  const std::string line = "\n" + std::string(indent + kIndent, ' ') + ">> ";
  head.resize(head.size() - 4);
  if (item.pipeline.kind == MeasureNodeKind::kPar) {
    return head + line + GroupText(item.pipeline, indent + kIndent + 3) + ";";
  }
  return head + line + StepText(item.pipeline, indent + kIndent + 3) + ";";
}

std::string HeaderText(const Item& item) {
  std::string text = "header " + item.names[0].text + " when " + PrintExpr(*item.expr) + " at " +
                     std::to_string(item.header_offset) + " {";
  for (const HeaderField& field : item.header_fields) {
    text += " " + field.name.text + ": " + std::to_string(field.bits) + ";";
  }
  return text + " }";
}

std::string ItemsText(const std::vector<Item>& items, size_t indent);

std::string ItemText(const Item& item, size_t indent) {
  std::string text;
  switch (item.kind) {
    case ItemKind::kConst:
    case ItemKind::kParam:
      text = (item.kind == ItemKind::kConst ? "const " : "param ") + item.names[0].text;
      return text + (item.expr ? " = " + PrintExpr(*item.expr) : "") + ";";
    case ItemKind::kEndpoint:
      for (const Word& name : item.names) text += (text.empty() ? "endpoint " : ", ") + name.text;
      return text + ";";
    case ItemKind::kRole:
      return "role " + item.names[0].text + " {\n" + ItemsText(item.items, indent + kIndent) +
             std::string(indent, ' ') + "}";
    case ItemKind::kWindow:
      return WindowText(*item.window) + ";";
    case ItemKind::kHeader:
      return HeaderText(item);
    case ItemKind::kDeclaration:
      return item.names[0].text + " = " + ConstructorText(item.constructor) + ";";
    case ItemKind::kTask:
      return TaskText(item, indent);
  }
  return text;
}

std::string ItemsText(const std::vector<Item>& items, size_t indent) {
  std::string text;
  for (const Item& item : items) text += std::string(indent, ' ') + ItemText(item, indent) + "\n";
  return text;
}

}  // namespace

std::string PrintExpr(const Expr& expr) {
  const auto operand = [&expr](size_t i) { return PrintExpr(expr.operands[i]); };
  switch (expr.kind) {
    case ExprKind::kInteger:
      if (expr.base == 16) return Based(expr.number.numerator, 16, "0x");
      if (expr.base == 2) return Based(expr.number.numerator, 2, "0b");
      return std::to_string(expr.number.numerator);
    case ExprKind::kDecimal:
      return DecimalText(expr.number);
    case ExprKind::kDuration:
      return DurationText(expr.number.numerator);
    case ExprKind::kIpv4:
      return Ipv4Text(expr.number.numerator);
    case ExprKind::kName:
    case ExprKind::kField:
      return expr.name;
    case ExprKind::kMethod:
      return expr.name + "." + expr.method.text + "(" + (expr.operands.empty() ? "" : operand(0)) +
             ")";
    case ExprKind::kUnary: {
      const char* sign = expr.op == MeasureOp::kNot     ? "!"
                         : expr.op == MeasureOp::kMinus ? "-"
                                                        : "~";
      return sign + Operand(expr.operands[0], Level::kUnary);
    }
    case ExprKind::kBinary:
      return BinaryText(expr);
    case ExprKind::kMin:
    case ExprKind::kMax:
      return (expr.kind == ExprKind::kMin ? "min(" : "max(") + operand(0) + ", " + operand(1) + ")";
    case ExprKind::kRandom:
      return "random([" + operand(0) + ":" + operand(1) + "])";
  }
  return "";
}

std::string Print(const Tree& tree) { return ItemsText(tree.items, 0); }

}  // namespace trumpet::mafia
