// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Constants: numbers that are known when a program is compiled.

#ifndef TRUMPET_LIB_LANG_MAFIA_CONSTANTS_H
#define TRUMPET_LIB_LANG_MAFIA_CONSTANTS_H

#include <optional>
#include <string>

#include "lib/lang/mafia/symbols.h"

namespace trumpet::mafia {

// Numbers, consts, params and operators; a decimal only alone.  Tells problems.
std::optional<MeasureNumber> Evaluate(const Expr& expr, const Symbols& symbols, MeasureIndex role,
                                      Problems* problems);

// A whole number from `least` to `most`; E12 when it is another one.  `what` is "size".
std::optional<uint64_t> EvaluateBetween(const Expr& expr, const std::string& what, uint64_t least,
                                        uint64_t most, const Symbols& symbols, MeasureIndex role,
                                        Problems* problems);

// "10ms", "0.05", "10.0.0.1": one number as programs write it.
std::optional<MeasureNumber> ReadNumber(const std::string& text);

}  // namespace trumpet::mafia

#endif  // TRUMPET_LIB_LANG_MAFIA_CONSTANTS_H
