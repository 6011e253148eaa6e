// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/mafia/expr_parser.h"

#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/suggest.h"
#include "lib/lang/mafia/names.h"

namespace trumpet::mafia {
namespace {

constexpr BinaryOperator kBinaryOperators[] = {
    {"||", MeasureOp::kOr, Level::kOr},
    {"&&", MeasureOp::kAnd, Level::kAnd},
    {"==", MeasureOp::kEqual, Level::kCompare},
    {"!=", MeasureOp::kNotEqual, Level::kCompare},
    {"<", MeasureOp::kLess, Level::kCompare},
    {"<=", MeasureOp::kLessEqual, Level::kCompare},
    {">", MeasureOp::kGreater, Level::kCompare},
    {">=", MeasureOp::kGreaterEqual, Level::kCompare},
    {"|", MeasureOp::kBitOr, Level::kBitOr},
    {"^", MeasureOp::kBitXor, Level::kBitXor},
    {"&", MeasureOp::kBitAnd, Level::kBitAnd},
    {"<<", MeasureOp::kShiftLeft, Level::kShift},
    {">>", MeasureOp::kShiftRight, Level::kShift},
    {"+", MeasureOp::kPlus, Level::kSum},
    {"-", MeasureOp::kMinus, Level::kSum},
    {"*", MeasureOp::kTimes, Level::kProduct},
    {"/", MeasureOp::kDivide, Level::kProduct},
    {"%", MeasureOp::kRemainder, Level::kProduct},
};

class ExprParser {
 public:
  explicit ExprParser(TokenCursor* cursor) : at_(*cursor) {}

  // All operators of `lowest` and tighter ones.
  bool Binary(Level lowest, Expr* expr);

 private:
  bool Unary(Expr* expr);
  bool Atom(Expr* expr);
  bool Parentheses(Expr* expr);
  bool Call(Expr* expr);
  bool Random(Expr* expr);
  bool NameOrField(Expr* expr);
  bool Method(Expr* expr);
  bool Operand(Expr* parent);

  TokenCursor& at_;
};

bool ExprParser::Operand(Expr* parent) {
  Expr child;
  if (!at_.Enter() || !Binary(Level::kOr, &child)) return false;
  at_.Leave();
  return at_.Adopt(parent, &Expr::operands, std::move(child));
}

bool ExprParser::Binary(Level lowest, Expr* expr) {
  if (!Unary(expr)) return false;
  // Operators that may still follow on the left: after a comparison no other one.
  bool has_compared = false;
  for (;;) {
    const Token& token = at_.Peek();
    const BinaryOperator* found =
        token.kind == TokenKind::kSign ? FindBinaryOperator(token.text) : nullptr;
    if (found == nullptr || found->level < lowest) return true;
    if (found->level == Level::kCompare && has_compared) {
      return at_.FailAt(token.offset,
                        "comparisons do not follow each other; put one into parentheses");
    }
    has_compared = found->level == Level::kCompare;
    Expr whole;
    whole.kind = ExprKind::kBinary;
    whole.op = found->op;
    whole.offset = at_.Next().offset;
    Expr right;
    const auto tighter = static_cast<Level>(static_cast<int>(found->level) + 1);
    if (!at_.Adopt(&whole, &Expr::operands, std::move(*expr)) || !Binary(tighter, &right))
      return false;
    if (!at_.Adopt(&whole, &Expr::operands, std::move(right))) return false;
    *expr = std::move(whole);
  }
}

bool ExprParser::Unary(Expr* expr) {
  if (!at_.At("!") && !at_.At("-") && !at_.At("~")) return Atom(expr);
  if (!at_.Enter()) return false;
  expr->kind = ExprKind::kUnary;
  expr->op = at_.At("!")   ? MeasureOp::kNot
             : at_.At("-") ? MeasureOp::kMinus
                           : MeasureOp::kComplement;
  expr->offset = at_.Next().offset;
  Expr operand;
  const bool is_read = Unary(&operand) && at_.Adopt(expr, &Expr::operands, std::move(operand));
  at_.Leave();
  return is_read;
}

bool ExprParser::Atom(Expr* expr) {
  const Token& token = at_.Peek();
  expr->offset = token.offset;
  expr->number = token.number;
  switch (token.kind) {
    case TokenKind::kInteger:
      expr->kind = ExprKind::kInteger;
      expr->base = static_cast<uint8_t>(token.base);
      break;
    case TokenKind::kDecimal:
      expr->kind = ExprKind::kDecimal;
      break;
    case TokenKind::kDuration:
      expr->kind = ExprKind::kDuration;
      break;
    case TokenKind::kIpv4:
      expr->kind = ExprKind::kIpv4;
      break;
    default:
      return Call(expr);
  }
  at_.Next();
  return true;
}

bool ExprParser::Parentheses(Expr* expr) {
  if (!at_.Enter() || !at_.Expect("(") || !Binary(Level::kOr, expr)) return false;
  at_.Leave();
  return at_.Expect(")");
}

bool ExprParser::Call(Expr* expr) {
  if (at_.At("(")) return Parentheses(expr);
  if (!at_.AtWord()) return at_.Expected("a value");
  if (!at_.At("(", 1)) return NameOrField(expr);
  if (at_.At("random")) return Random(expr);
  if (!at_.At("min") && !at_.At("max")) {
    const std::string name(at_.Peek().text);
    return at_.FailAt(expr->offset, event_lang::Quote(name) + " is no function" +
                                        event_lang::DidYouMean(name, {"min", "max", "random"}));
  }
  expr->kind = at_.At("min") ? ExprKind::kMin : ExprKind::kMax;
  at_.Next();
  at_.Next();
  return Operand(expr) && at_.Expect(",") && Operand(expr) && at_.Expect(")");
}

// random([0:100]), or random(0, 100).
bool ExprParser::Random(Expr* expr) {
  expr->kind = ExprKind::kRandom;
  at_.Next();
  at_.Next();
  const bool is_range = at_.Take("[");
  return Operand(expr) && at_.Expect(is_range ? ":" : ",") && Operand(expr) &&
         (!is_range || at_.Expect("]")) && at_.Expect(")");
}

bool ExprParser::NameOrField(Expr* expr) {
  if (at_.At(".", 1) && at_.AtWord(2) && at_.At("(", 3)) return Method(expr);
  const bool is_alias = FieldOfAlias(at_.Peek().text) != at_.Peek().text;
  Word name;
  if (at_.At(".", 1) || is_alias) {
    expr->kind = ExprKind::kField;
    if (!ParseField(&at_, &name)) return false;
  } else {
    expr->kind = ExprKind::kName;
    if (!at_.ExpectWord("a name", &name)) return false;
  }
  expr->name = std::move(name.text);
  return true;
}

bool ExprParser::Method(Expr* expr) {
  expr->kind = ExprKind::kMethod;
  expr->name = std::string(at_.Next().text);
  at_.Next();
  if (!at_.ExpectWord("what is read", &expr->method)) return false;
  const std::string& name = expr->method.text;
  if (!AggregateByName(name) && name != "read") {
    const char* hint = UpdateByName(name) ? "; that changes state, and is a step of a task" : "";
    return at_.FailAt(expr->method.offset, event_lang::Quote(name) + " is not read of a variable" +
                                               hint +
                                               event_lang::DidYouMean(name, AggregateNames()));
  }
  at_.Next();
  if (at_.Take(")")) return true;
  return Operand(expr) && at_.Expect(")");
}

}  // namespace

const BinaryOperator* FindBinaryOperator(std::string_view sign) {
  for (const BinaryOperator& known : kBinaryOperators) {
    if (sign == known.sign) return &known;
  }
  return nullptr;
}

const BinaryOperator& BinaryOperatorOf(MeasureOp op) {
  static_assert(static_cast<size_t>(MeasureOp::kRemainder) + 1 ==
                sizeof(kBinaryOperators) / sizeof(kBinaryOperators[0]));
  return kBinaryOperators[static_cast<size_t>(op)];
}

bool ParseExpr(TokenCursor* cursor, Expr* expr) {
  return ExprParser(cursor).Binary(Level::kOr, expr);
}

bool ParseField(TokenCursor* cursor, Word* field) {
  if (!cursor->ExpectWord("a field", field)) return false;
  while (cursor->Take(".")) {
    Word part;
    if (!cursor->ExpectWord("the rest of a field's name", &part)) return false;
    field->text += "." + part.text;
  }
  field->text = FieldOfAlias(field->text);
  return true;
}

}  // namespace trumpet::mafia
