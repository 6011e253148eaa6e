// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Parser: tokens of a measurement program as a tree; recursive descent with two tokens of
// look-ahead.  After a mistake it goes on at the next item.

#ifndef TRUMPET_LIB_LANG_MAFIA_PARSER_H
#define TRUMPET_LIB_LANG_MAFIA_PARSER_H

#include "lib/lang/mafia/ast.h"
#include "lib/lang/mafia/problems.h"

namespace trumpet::mafia {

// What could be read; whole if there are no problems.
Tree Parse(std::string_view text, Problems* problems);

}  // namespace trumpet::mafia

#endif  // TRUMPET_LIB_LANG_MAFIA_PARSER_H
