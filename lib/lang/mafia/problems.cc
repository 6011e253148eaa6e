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

bool IsRemark(const MafiaProblem& problem) {
  return problem.code == "warning" || problem.code == "note";
}

// Whether `later` says no more than `problem`: what the text itself lacks is told once at a place,
// and so are rules that follow from another; one rule may be broken there in more than one way, and
// branches may have more than one thing in common.
bool Covers(const MafiaProblem& problem, const MafiaProblem& later) {
  if (IsBefore(problem, later) || IsBefore(later, problem)) return false;
  const bool is_other_rule = problem.code != later.code && !IsRemark(problem);
  return problem.code.empty() || is_other_rule || problem.message == later.message;
}

}  // namespace

Places::Places(std::string_view text) : text_(text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_end = text[i] == '\n' || (text[i] == '\r' && text.substr(i + 1, 1) != "\n");
    if (is_end) line_starts_.push_back(i + 1);
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
  AddTo(&problems_, kMaxMafiaProblems, {std::move(code), place, std::move(message)});
  return false;
}

std::vector<MafiaProblem> Problems::Take() {
  SortByPlace(&problems_);
  return std::move(problems_);
}

void AddTo(std::vector<MafiaProblem>* problems, size_t most, MafiaProblem problem) {
  const bool is_known =
      std::any_of(problems->begin(), problems->end(),
                  [&problem](const MafiaProblem& other) { return Covers(other, problem); });
  if (!is_known && problems->size() < most) problems->push_back(std::move(problem));
}

void SortByPlace(std::vector<MafiaProblem>* problems) {
  std::stable_sort(problems->begin(), problems->end(), IsBefore);
}

}  // namespace trumpet::mafia
