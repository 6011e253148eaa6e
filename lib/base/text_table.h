// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TextTable: columns that line up, for people; and times as people read them.

#ifndef TRUMPET_LIB_BASE_TEXT_TABLE_H
#define TRUMPET_LIB_BASE_TEXT_TABLE_H

#include <string>
#include <vector>

#include "lib/base/units.h"

namespace trumpet {

class TextTable {
 public:
  // A heading that begins with `>` (not printed) makes a column of numbers, set to the right.
  explicit TextTable(std::vector<std::string> headings);

  void Add(std::vector<std::string> cells);  // as many as headings
  bool is_empty() const { return rows_.size() == 1; }

  // One line a row, headings first, each after `indent` spaces.
  std::string ToString(size_t indent) const;

 private:
  std::vector<bool> is_number_;
  std::vector<std::vector<std::string>> rows_;
};

// "2026-11-21T12:24:23.125Z"
std::string FormatTime(Nanos unix_ns);

// "12.3%"; "-" when there is no whole.
std::string FormatShare(double part, double whole);

// One decimal; "-" when divided by 0.
std::string FormatRatio(double part, double whole);

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_TEXT_TABLE_H
