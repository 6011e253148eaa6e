// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// OptionRange: which numbers an option of trumpetctl takes, and the one reader of them.
//
// Whole numbers are decimal digits and nothing else; others may have a point and an exponent.
// Errors name the option and what it takes: "--count is 'many'; it takes 1 to 1000000000".

#ifndef TRUMPET_UTILITIES_CTL_OPTION_RANGE_H
#define TRUMPET_UTILITIES_CTL_OPTION_RANGE_H

#include <cstdint>
#include <string>
#include <variant>

#include "lib/base/status.h"

namespace trumpet {

// Both ends are in it.  The default is for numbers whose range is the controller's to say.
struct WholeRange {
  uint64_t least = 0;
  uint64_t most = UINT64_MAX;
};

struct DecimalRange {
  double least = 0;
  double most = 0;
};

// std::monostate: an option that takes no number.
using OptionRange = std::variant<std::monostate, WholeRange, DecimalRange>;

Result<uint64_t> ReadWhole(const std::string& option, const std::string& text, WholeRange range);
Result<double> ReadDecimal(const std::string& option, const std::string& text, DecimalRange range);

// Is `text` one that `range` holds?  Any text is, where it holds none.
Status CheckOptionNumber(const std::string& option, const std::string& text,
                         const OptionRange& range);

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_CTL_OPTION_RANGE_H
