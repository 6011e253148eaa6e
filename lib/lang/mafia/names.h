// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The words of the measurement language: those with a meaning of their own, those that stand for
// others, and what each kind of state can do.

#ifndef TRUMPET_LIB_LANG_MAFIA_NAMES_H
#define TRUMPET_LIB_LANG_MAFIA_NAMES_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/model/measure_program.h"

namespace trumpet::mafia {

// "ip.dest" is "ipv4.dst", "switchid" is "switch.id"; other names stay as they are.
std::string FieldOfAlias(std::string_view name);
std::vector<std::string> AliasNames();

// The words that begin items, and the streams that are always there: nothing else is named so.
bool IsReserved(std::string_view word);

std::string_view NameOf(MeasureKind kind);
std::string_view NameOf(MeasureUpdate update);
std::string_view NameOf(MeasureAggregate aggregate);

std::optional<MeasureUpdate> UpdateByName(std::string_view name);
// "read" is none of them, though it stands where they do.
std::optional<MeasureAggregate> AggregateByName(std::string_view name);

// Does the kind have it?  For messages: all that it has, "set(), add() and reset()".
bool HasUpdate(MeasureKind kind, MeasureUpdate update);
bool HasAggregate(MeasureKind kind, MeasureAggregate aggregate);
std::string UpdatesOf(MeasureKind kind);
std::string AggregatesOf(MeasureKind kind);

// All names that can stand behind the dot of a variable in a task, or in an expression.
std::vector<std::string> UpdateNames();
std::vector<std::string> AggregateNames();

}  // namespace trumpet::mafia

#endif  // TRUMPET_LIB_LANG_MAFIA_NAMES_H
