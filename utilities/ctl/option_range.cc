// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/ctl/option_range.h"

#include <charconv>
#include <cstdlib>
#include <sstream>
#include <system_error>

namespace trumpet {
namespace {

std::string RangeText(const WholeRange& range) {
  if (range.least == 0 && range.most == UINT64_MAX) return "a whole number below 2^64";
  return std::to_string(range.least) + " to " + std::to_string(range.most);
}

std::string RangeText(const DecimalRange& range) {
  std::ostringstream text;
  text << range.least << " to " << range.most;
  return text.str();
}

template <typename Range>
Status Refusal(const std::string& option, const std::string& text, const Range& range) {
  return Status::Error("--" + option + " is '" + text + "'; it takes " + RangeText(range));
}

}  // namespace

Result<uint64_t> ReadWhole(const std::string& option, const std::string& text, WholeRange range) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec == std::errc() && read.ptr == end && value >= range.least && value <= range.most) {
    return value;
  }
  return Refusal(option, text, range);
}

// strtod() alone takes blanks in front, hexadecimal, and words such as nan.
Result<double> ReadDecimal(const std::string& option, const std::string& text, DecimalRange range) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789.eE+-") == text.npos &&
                         end == text.c_str() + text.size();
  if (is_number && value >= range.least && value <= range.most) return value;
  return Refusal(option, text, range);
}

Status CheckOptionNumber(const std::string& option, const std::string& text,
                         const OptionRange& range) {
  if (const auto* const whole = std::get_if<WholeRange>(&range)) {
    return ReadWhole(option, text, *whole).status();
  }
  if (const auto* const decimal = std::get_if<DecimalRange>(&range)) {
    return ReadDecimal(option, text, *decimal).status();
  }
  return Status::Ok();
}

}  // namespace trumpet
