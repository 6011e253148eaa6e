// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Lower: tasks from the tree to the program, whose declarations are resolved; what a step may do
// (E2 to E6, E11, E12) is checked on the way.

#ifndef TRUMPET_LIB_LANG_MAFIA_LOWER_H
#define TRUMPET_LIB_LANG_MAFIA_LOWER_H

#include "lib/lang/mafia/symbols.h"

namespace trumpet::mafia {

void Lower(const Tree& tree, const Symbols& symbols, Problems* problems, MeasureProgram* program);

}  // namespace trumpet::mafia

#endif  // TRUMPET_LIB_LANG_MAFIA_LOWER_H
