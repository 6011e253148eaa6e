// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The expressions of tasks: from the tree to the program, with the checks of their types.

#ifndef TRUMPET_LIB_LANG_MAFIA_LOWER_EXPR_H
#define TRUMPET_LIB_LANG_MAFIA_LOWER_EXPR_H

#include "lib/lang/mafia/symbols.h"

namespace trumpet::mafia {

struct ExprScope {
  MeasureIndex role = kNoIndex;
  MeasureIndex written = kNoIndex;  // the variable whose set(), add() or init() this stands in
  bool is_guard = false;            // of a header: reads fields of the table only
};

// Adds it to program->exprs, children first; kNoIndex when a problem was told.
MeasureIndex LowerExpr(const Expr& expr, const ExprScope& scope, const Symbols& symbols,
                       Problems* problems, MeasureProgram* program);

// How many bits the value can need, as long as sums do not overflow what they are made of.
uint32_t BitsOf(const MeasureProgram& program, MeasureIndex expr);
// Up to which bit the vector of a membership filter lies in the value; 0 if there is none in it.
uint32_t FilterBitsOf(const MeasureProgram& program, MeasureIndex expr);

}  // namespace trumpet::mafia

#endif  // TRUMPET_LIB_LANG_MAFIA_LOWER_EXPR_H
