// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Lower: a checked event's tree in the terms that the monitor computes with.
//
// Filters: chains of the same operator are flattened.  Predicates: chains become binary
// operators that associate to the left, rates and percentages plain arithmetic, adjacent
// `is_lost & is_burst` inside an aggregate one variable (docs/adr/0002, items 11, 12, 26).

#ifndef TRUMPET_LIB_LANG_EVENT_LOWER_H
#define TRUMPET_LIB_LANG_EVENT_LOWER_H

#include "lib/lang/event/ast.h"
#include "lib/lang/event/diagnostic.h"
#include "lib/model/event_spec.h"

namespace trumpet::event_lang {

// Sets filter, predicate, granularity and interval of `spec`.  False with `error` set
// when the lowered predicate is higher than kMaxDepth.
bool LowerEvent(const EventAst& event, EventSpec* spec, Diagnostic* error);

// The form that LowerEvent promises for filters: no chain directly inside one of its kind.
bool IsFlat(const FilterExpr& filter);

// The form that it promises for predicates: unary and binary operators only, at most kMaxDepth
// high.
bool IsBinary(const Expr& expr);

}  // namespace trumpet::event_lang

#endif  // TRUMPET_LIB_LANG_EVENT_LOWER_H
