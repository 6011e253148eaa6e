// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/mafia/constants.h"

#include <algorithm>

#include "lib/lang/event/diagnostic.h"
#include "lib/lang/mafia/lexer.h"
#include "lib/model/measure_math.h"

namespace trumpet::mafia {
namespace {

using event_lang::Quote;

std::optional<uint64_t> EvaluateWhole(const Expr& expr, const Symbols& symbols, MeasureIndex role,
                                      Problems* problems) {
  const auto number = Evaluate(expr, symbols, role, problems);
  if (!number) return std::nullopt;
  if (number->denominator == 1) return number->numerator;
  problems->Add(expr.offset, "E2",
                "a decimal is only compared with a ratio a / b; a whole number is needed here");
  return std::nullopt;
}

}  // namespace

std::optional<MeasureNumber> Evaluate(const Expr& expr, const Symbols& symbols, MeasureIndex role,
                                      Problems* problems) {
  const auto operand = [&](size_t i) {
    return EvaluateWhole(expr.operands[i], symbols, role, problems);
  };
  switch (expr.kind) {
    case ExprKind::kInteger:
    case ExprKind::kDecimal:
    case ExprKind::kDuration:
    case ExprKind::kIpv4:
      return expr.number;
    case ExprKind::kName: {
      const Symbol* symbol = symbols.Find(expr.name, role);
      if (symbol != nullptr && symbol->kind == SymbolKind::kNumber) {
        if (!symbol->is_sound) return std::nullopt;
        return symbol->number;
      }
      if (symbol == nullptr && symbols.Require({expr.name, expr.offset}, role) == nullptr) {
        return std::nullopt;
      }
      break;
    }
    case ExprKind::kUnary: {
      const auto a = operand(0);
      if (!a) return std::nullopt;
      return MeasureNumber{MeasureCompute(expr.op, *a), 1};
    }
    case ExprKind::kBinary:
    case ExprKind::kMin:
    case ExprKind::kMax: {
      const auto a = operand(0);
      const auto b = operand(1);
      if (!a || !b) return std::nullopt;
      if (expr.kind == ExprKind::kMin) return MeasureNumber{std::min(*a, *b), 1};
      if (expr.kind == ExprKind::kMax) return MeasureNumber{std::max(*a, *b), 1};
      return MeasureNumber{MeasureCompute(expr.op, *a, *b), 1};
    }
    case ExprKind::kField:
    case ExprKind::kMethod:
    case ExprKind::kRandom:
      break;
  }
  const std::string what = expr.name.empty() ? "random()" : Quote(expr.name);
  problems->Add(expr.offset, "E2",
                what + " is known only of a packet; numbers, consts and params can stand here");
  return std::nullopt;
}

std::optional<uint64_t> EvaluateBetween(const Expr& expr, const std::string& what, uint64_t least,
                                        uint64_t most, const Symbols& symbols, MeasureIndex role,
                                        Problems* problems) {
  const auto value = EvaluateWhole(expr, symbols, role, problems);
  if (!value || (*value >= least && *value <= most)) return value;
  problems->Add(expr.offset, "E12",
                what + " is " + std::to_string(*value) + "; it takes " + std::to_string(least) +
                    " to " + std::to_string(most));
  return std::nullopt;
}

std::optional<MeasureNumber> ReadNumber(const std::string& text) {
  Problems problems(text);
  const auto tokens = Lex(text, &problems);
  const bool is_one = tokens.size() == 2 && problems.empty() &&
                      tokens[0].kind != TokenKind::kWord && tokens[0].kind != TokenKind::kSign &&
                      tokens[0].kind != TokenKind::kString;
  if (!is_one) return std::nullopt;
  return tokens[0].number;
}

}  // namespace trumpet::mafia
