// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/mafia/problems.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace trumpet::mafia {
namespace {

bool IsBefore(const MafiaProblem& a, const MafiaProblem& b) {
  return std::tie(a.place.line, a.place.column) < std::tie(b.place.line, b.place.column);
}

}  // namespace

Places::Places(std::string_view text) : text_(text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') line_starts_.push_back(i + 1);
  }
}

MeasurePlace Places::At(size_t offset) const {
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const size_t start = *(next - 1);
  MeasurePlace place;
  place.line = static_cast<uint32_t>(next - line_starts_.begin());
  for (size_t i = start; i < std::min(offset, text_.size()); ++i) {
    const bool is_tail = (static_cast<unsigned char>(text_[i]) & 0xc0) == 0x80;
    if (!is_tail) ++place.column;
  }
  return place;
}

bool Problems::AddAt(MeasurePlace place, std::string code, std::string message) {
  const MafiaProblem problem{std::move(code), place, std::move(message)};
  const auto is_here = [&problem](const MafiaProblem& other) {
    return !IsBefore(problem, other) && !IsBefore(other, problem);
  };
  const bool is_known = std::any_of(problems_.begin(), problems_.end(), is_here);
  if (!is_known && !is_full()) problems_.push_back(problem);
  return false;
}

std::vector<MafiaProblem> Problems::Take() {
  std::stable_sort(problems_.begin(), problems_.end(), IsBefore);
  return std::move(problems_);
}

}  // namespace trumpet::mafia
