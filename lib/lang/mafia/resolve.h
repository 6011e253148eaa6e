// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Resolve: the declarations of a tree, and what the names in it stand for.

#ifndef TRUMPET_LIB_LANG_MAFIA_RESOLVE_H
#define TRUMPET_LIB_LANG_MAFIA_RESOLVE_H

#include <optional>

#include "lib/lang/mafia/symbols.h"

namespace trumpet::mafia {

// The field of that name, also of a header of the program; E1 if there is none.
std::optional<MeasureFieldId> RequireField(const MeasureProgram& program, const Word& name,
                                           Problems* problems);
std::string_view FieldName(const MeasureProgram& program, MeasureFieldId field);
uint32_t FieldBits(const MeasureProgram& program, MeasureFieldId field);

// Its index; kNoIndex if there is none.
MeasureIndex FindRole(const MeasureProgram& program, const std::string& name);

// Everything of `program` but tasks, their windows and streams, nodes and expressions.
void Resolve(const Tree& tree, const MafiaOptions& options, Symbols* symbols, Problems* problems,
             MeasureProgram* program);

// Duration, quantum and mode.
std::optional<MeasureWindow> ResolveWindow(const Window& window, const Symbols& symbols,
                                           MeasureIndex role, Problems* problems);
// E10 when one of the variables is in a window already.
void AddWindow(MeasureWindow window, size_t offset, Problems* problems, MeasureProgram* program);

}  // namespace trumpet::mafia

#endif  // TRUMPET_LIB_LANG_MAFIA_RESOLVE_H
