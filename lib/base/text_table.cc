// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/base/text_table.h"

#include <time.h>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <utility>

namespace trumpet {
namespace {

// Characters, not bytes, of UTF-8.
size_t WidthOf(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

TextTable::TextTable(std::vector<std::string> headings) {
  for (std::string& heading : headings) {
    is_number_.push_back(heading[0] == '>');
    if (is_number_.back()) heading.erase(0, 1);
  }
  rows_.push_back(std::move(headings));
}

void TextTable::Add(std::vector<std::string> cells) {
  assert(cells.size() == is_number_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::ToString(size_t indent) const {
  std::vector<size_t> widths(is_number_.size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], WidthOf(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line(indent, ' ');
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string fill(widths[i] - WidthOf(row[i]), ' ');
      line += is_number_[i] ? fill + row[i] : row[i] + fill;
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string FormatTime(Nanos unix_ns) {
  const time_t seconds = static_cast<time_t>(CellOf(unix_ns, kNanosPerSecond));
  const auto millis = static_cast<int>((unix_ns - seconds * kNanosPerSecond) / kNanosPerMilli);
  tm parts{};
  gmtime_r(&seconds, &parts);
  char date[40];
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
  char text[60];
  snprintf(text, sizeof text, "%s.%03dZ", date, millis);
  return text;
}

std::string FormatShare(double part, double whole) {
  if (whole <= 0) return "-";
  char text[32];
  snprintf(text, sizeof text, "%.1f%%", 100 * part / whole);
  return text;
}

std::string FormatRatio(double part, double whole) {
  if (whole <= 0) return "-";
  char text[32];
  snprintf(text, sizeof text, "%.1f", part / whole);
  return text;
}

}  // namespace trumpet
