// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PredicateParser: the text of a predicate as a tree.
//
// Binding, loosest first: or, and, not, one comparison, + -, * / %, unary minus.
// `%` is modulo before a number, a name or `(`, and ends a percentage elsewhere.

#ifndef TRUMPET_LIB_LANG_EVENT_PREDICATE_PARSER_H
#define TRUMPET_LIB_LANG_EVENT_PREDICATE_PARSER_H

#include <string_view>

#include "lib/lang/event/ast.h"
#include "lib/lang/event/diagnostic.h"

namespace trumpet::event_lang {

// False with `error` set when `text` is not a predicate.  Only the grammar is checked
// here; see check.h.  The tree's texts point into `text`.
bool ParsePredicate(std::string_view text, PredicateNode* predicate, Diagnostic* error);

}  // namespace trumpet::event_lang

#endif  // TRUMPET_LIB_LANG_EVENT_PREDICATE_PARSER_H
