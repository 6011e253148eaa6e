// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Numbers as events write them: decimal digits, perhaps a fraction, perhaps a
// unit.  Values are exact where they are whole and correctly rounded elsewhere.

#ifndef TRUMPET_LIB_LANG_EVENT_NUMBER_H
#define TRUMPET_LIB_LANG_EVENT_NUMBER_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/status.h"
#include "lib/model/expr.h"

namespace trumpet::event_lang {

enum class Unit { kNone, kBytes, kTime, kBitRate, kPacketRate };

struct UnitValue {
  Unit unit = Unit::kNone;
  int64_t multiplier = 1;  // to bytes, nanoseconds, bits/s or packets/s
};

// "KB", "MiB", "ms", "Gbps", ...; "" is kNone.
std::optional<UnitValue> UnitByName(std::string_view name);

// "125" or "0.5" times the multiplier.  An integer if the product is whole.
Result<Number> ScaledNumber(std::string_view digits, int64_t multiplier);

// The double nearest to digits / 100; never an integer, even for "100".
Result<Number> Percentage(std::string_view digits);

// Text that reads back as the same number; a real that is whole is written as a
// percentage, which is the only source of such numbers.
std::string FormatNumber(const Number& number);

}  // namespace trumpet::event_lang

#endif  // TRUMPET_LIB_LANG_EVENT_NUMBER_H
