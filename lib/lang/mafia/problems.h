// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Problems: what is wrong with a measurement program, all of it, each with its place.

#ifndef TRUMPET_LIB_LANG_MAFIA_PROBLEMS_H
#define TRUMPET_LIB_LANG_MAFIA_PROBLEMS_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lib/lang/mafia/mafia_language.h"

namespace trumpet::mafia {

// From bytes of the text to lines and columns; the text must outlive it.
class Places {
 public:
  explicit Places(std::string_view text);
  MeasurePlace At(size_t offset) const;

 private:
  std::string_view text_;
  std::vector<size_t> line_starts_{0};
};

// Adds `problem` unless another one at its place has said as much, or there are `most`.
void AddTo(std::vector<MafiaProblem>* problems, size_t most, MafiaProblem problem);
// Puts them into the order of the text.
void SortByPlace(std::vector<MafiaProblem>* problems);

// Collects errors; keeps no more than a person reads.
class Problems {
 public:
  explicit Problems(std::string_view text) : places_(text) {}

  // False, so that a parser can `return Add(...)`.  See AddTo().
  bool Add(size_t offset, std::string code, std::string message) {
    // A place in a long line takes its time.
    return !is_full() && AddAt(places_.At(offset), std::move(code), std::move(message));
  }
  bool AddAt(MeasurePlace place, std::string code, std::string message);

  bool empty() const { return problems_.empty(); }
  // Whoever would work hard on a message need not: it would not be kept.
  bool is_full() const { return problems_.size() >= kMaxMafiaProblems; }
  const Places& places() const { return places_; }
  // In the order of the text.
  std::vector<MafiaProblem> Take();

 private:
  Places places_;
  std::vector<MafiaProblem> problems_;
};

}  // namespace trumpet::mafia

#endif  // TRUMPET_LIB_LANG_MAFIA_PROBLEMS_H
