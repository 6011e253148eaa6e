// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Conflicts: branches of a ++ that write the same, or of which one reads what another writes.
// They are no mistakes, for their order is defined; but often they are not meant.

#ifndef TRUMPET_LIB_LANG_MAFIA_CONFLICTS_H
#define TRUMPET_LIB_LANG_MAFIA_CONFLICTS_H

#include "lib/model/measure_program.h"

namespace trumpet::mafia {

// Adds to program->diagnostics, for each pair of branches its names in order.
void FindConflicts(MeasureProgram* program);

}  // namespace trumpet::mafia

#endif  // TRUMPET_LIB_LANG_MAFIA_CONFLICTS_H
