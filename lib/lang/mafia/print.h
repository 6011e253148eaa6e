// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Print: the canonical text of a tree; it reads back as the same tree.

#ifndef TRUMPET_LIB_LANG_MAFIA_PRINT_H
#define TRUMPET_LIB_LANG_MAFIA_PRINT_H

#include <string>

#include "lib/lang/mafia/ast.h"

namespace trumpet::mafia {

// One item a line, ended with ";"; tasks that are longer than a line have one step of their
// outermost composition on each.
std::string Print(const Tree& tree);
std::string PrintExpr(const Expr& expr);

}  // namespace trumpet::mafia

#endif  // TRUMPET_LIB_LANG_MAFIA_PRINT_H
