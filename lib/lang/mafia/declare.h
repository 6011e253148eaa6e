// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Declare: keys and variables from their constructors.

#ifndef TRUMPET_LIB_LANG_MAFIA_DECLARE_H
#define TRUMPET_LIB_LANG_MAFIA_DECLARE_H

#include <optional>

#include "lib/lang/mafia/symbols.h"

namespace trumpet::mafia {

// Without name, role and place; nothing when a problem was told.
std::optional<MeasureKey> ResolveKey(const Constructor& constructor, const MeasureProgram& program,
                                     Problems* problems);
std::optional<MeasureVariable> ResolveVariable(const Constructor& constructor,
                                               const Symbols& symbols, MeasureIndex role,
                                               Problems* problems);

}  // namespace trumpet::mafia

#endif  // TRUMPET_LIB_LANG_MAFIA_DECLARE_H
