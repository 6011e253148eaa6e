// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Check: what only shows in a whole program: how copies run through its streams (E7, E8, E12).

#ifndef TRUMPET_LIB_LANG_MAFIA_CHECK_H
#define TRUMPET_LIB_LANG_MAFIA_CHECK_H

#include "lib/lang/mafia/ast.h"
#include "lib/lang/mafia/problems.h"

namespace trumpet::mafia {

// Steps with mistakes are not in the program, so that what fills a stream is looked for in the
// tree.
void Check(const Tree& tree, const MeasureProgram& program, Problems* problems);

}  // namespace trumpet::mafia

#endif  // TRUMPET_LIB_LANG_MAFIA_CHECK_H
