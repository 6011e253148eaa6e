// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The expressions of measurement programs: their grammar, and the names of their operators.

#ifndef TRUMPET_LIB_LANG_MAFIA_EXPR_PARSER_H
#define TRUMPET_LIB_LANG_MAFIA_EXPR_PARSER_H

#include "lib/lang/mafia/ast.h"
#include "lib/lang/mafia/token_cursor.h"

namespace trumpet::mafia {

// How tight operators bind, from the loosest to the tightest.
enum class Level : uint8_t {
  kOr,
  kAnd,
  kCompare,  // does not associate
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kSum,
  kProduct,
  kUnary,
};

struct BinaryOperator {
  std::string_view sign;
  MeasureOp op;
  Level level;
};

// Null when `sign` is no binary operator.
const BinaryOperator* FindBinaryOperator(std::string_view sign);
const BinaryOperator& BinaryOperatorOf(MeasureOp op);

// False when a problem was told.
bool ParseExpr(TokenCursor* cursor, Expr* expr);
// "ipv4.src", its alias replaced.
bool ParseField(TokenCursor* cursor, Word* field);

}  // namespace trumpet::mafia

#endif  // TRUMPET_LIB_LANG_MAFIA_EXPR_PARSER_H
