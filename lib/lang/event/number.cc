// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/number.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace trumpet::event_lang {
namespace {

constexpr size_t kMaxDigits = 24;  // significant ones
constexpr size_t kMaxTextBytes = 128;
constexpr double kSmallest = 1e-30;
constexpr Int128 kLargest = std::numeric_limits<int64_t>::max();
constexpr int64_t kLargestPercentage = 1'000'000'000'000'000;

struct NamedUnit {
  std::string_view name;
  UnitValue value;
};

constexpr int64_t kKilo = 1000;
constexpr int64_t kMega = 1000 * kKilo;
constexpr int64_t kGiga = 1000 * kMega;
constexpr int64_t kKibi = 1024;

constexpr NamedUnit kUnits[] = {
    {"", {Unit::kNone, 1}},
    {"KB", {Unit::kBytes, kKilo}},
    {"MB", {Unit::kBytes, kMega}},
    {"GB", {Unit::kBytes, kGiga}},
    {"KiB", {Unit::kBytes, kKibi}},
    {"MiB", {Unit::kBytes, kKibi* kKibi}},
    {"GiB", {Unit::kBytes, kKibi* kKibi* kKibi}},
    {"ns", {Unit::kTime, 1}},
    {"us", {Unit::kTime, kKilo}},
    {"ms", {Unit::kTime, kMega}},
    {"s", {Unit::kTime, kGiga}},
    {"bps", {Unit::kBitRate, 1}},
    {"kbps", {Unit::kBitRate, kKilo}},
    {"Kbps", {Unit::kBitRate, kKilo}},
    {"Mbps", {Unit::kBitRate, kMega}},
    {"Gbps", {Unit::kBitRate, kGiga}},
    {"pps", {Unit::kPacketRate, 1}},
    {"kpps", {Unit::kPacketRate, kKilo}},
    {"Kpps", {Unit::kPacketRate, kKilo}},
    {"Mpps", {Unit::kPacketRate, kMega}},
    {"Gpps", {Unit::kPacketRate, kGiga}},
};

// mantissa * 10^-fraction_digits, exactly.
struct Decimal {
  Int128 mantissa = 0;
  int fraction_digits = 0;
};

Result<Decimal> ReadDecimal(std::string_view digits) {
  Decimal decimal;
  size_t significant = 0;
  bool in_fraction = false;
  for (char c : digits) {
    if (c == '.') {
      in_fraction = true;
      continue;
    }
    if (significant > 0 || c != '0') ++significant;
    if (significant > kMaxDigits || digits.size() > kMaxTextBytes) {
      return Status::Error("this number has too many digits; " + std::to_string(kMaxDigits) +
                           " are allowed");
    }
    decimal.mantissa = decimal.mantissa * 10 + (c - '0');
    if (in_fraction) ++decimal.fraction_digits;
  }
  return decimal;
}

std::string DigitsOf(Int128 value) {
  std::string text;
  do {
    text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value != 0);
  return text;
}

double NearestDouble(const Decimal& decimal) {
  const std::string text =
      DigitsOf(decimal.mantissa) + "e-" + std::to_string(decimal.fraction_digits);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Status TooSmall() {
  return Status::Error("this number is too small; 0 or at least 1e-30 is allowed");
}

}  // namespace

std::optional<UnitValue> UnitByName(std::string_view name) {
  for (const NamedUnit& unit : kUnits) {
    if (unit.name == name) return unit.value;
  }
  return std::nullopt;
}

Result<Number> ScaledNumber(std::string_view digits, int64_t multiplier) {
  Result<Decimal> decimal = ReadDecimal(digits);
  if (!decimal.ok()) return decimal.status();
  decimal->mantissa *= multiplier;  // at most 24 digits times 2^30: no overflow
  while (decimal->fraction_digits > 0 && decimal->mantissa % 10 == 0) {
    decimal->mantissa /= 10;
    --decimal->fraction_digits;
  }
  if (decimal->fraction_digits == 0 && decimal->mantissa <= kLargest) {
    return Number::Integer(decimal->mantissa);
  }
  const double real = NearestDouble(*decimal);
  if (real >= static_cast<double>(kLargest)) {
    return Status::Error("this number is too large; at most 9223372036854775807 is allowed");
  }
  if (real < kSmallest) return TooSmall();
  // A fraction that no double keeps leaves an integer.
  if (real == std::floor(real)) return Number::Integer(static_cast<Int128>(real));
  return Number::Real(real);
}

Result<Number> Percentage(std::string_view digits) {
  Result<Decimal> decimal = ReadDecimal(digits);
  if (!decimal.ok()) return decimal.status();
  decimal->fraction_digits += 2;
  const double real = NearestDouble(*decimal);
  if (real > static_cast<double>(kLargestPercentage / 100)) {
    return Status::Error("this percentage is too large; at most 1000000000000000% is allowed");
  }
  if (real != 0 && real < kSmallest) return TooSmall();
  return Number::Real(real);
}

std::string FormatNumber(const Number& number) {
  if (number.is_integer()) {
    const Int128 value = number.integer();
    return value < 0 ? "-" + DigitsOf(-value) : DigitsOf(value);
  }
  const double real = number.AsDouble();
  if (real == std::floor(real) && std::fabs(real) <= kLargestPercentage / 100) {
    return DigitsOf(static_cast<Int128>(real) * 100) + "%";
  }
  char text[512];
  const auto end = std::to_chars(text, text + sizeof text, real, std::chars_format::fixed);
  return std::string(text, end.ptr);
}

}  // namespace trumpet::event_lang
