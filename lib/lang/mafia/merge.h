// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Merge: how the replicas of each variable, one per packet thread, become one value, or that they
// do not.

#ifndef TRUMPET_LIB_LANG_MAFIA_MERGE_H
#define TRUMPET_LIB_LANG_MAFIA_MERGE_H

#include "lib/model/measure_program.h"

namespace trumpet::mafia {

// Sets `merge` of all variables.
void DecideMerges(MeasureProgram* program);

}  // namespace trumpet::mafia

#endif  // TRUMPET_LIB_LANG_MAFIA_MERGE_H
