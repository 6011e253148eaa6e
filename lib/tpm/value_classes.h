// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ValueClasses: numbers cut into intervals, the classes, at given starts.
//
// Cells of equal width between the first and the last start lead close to the class, and a binary
// search within the cell finds it: when the starts are spread evenly one look is enough, and
// however they are spread it takes no more than the search among all of them.
//
// Threads: immutable once made.

#ifndef TRUMPET_LIB_TPM_VALUE_CLASSES_H
#define TRUMPET_LIB_TPM_VALUE_CLASSES_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lib/tpm/cache_warmer.h"

namespace trumpet {

template <typename Number>
class ValueClasses {
 public:
  ValueClasses() : starts_{0} {}

  // `starts`: the lowest number of each class, rising, the first one 0.
  explicit ValueClasses(std::vector<Number> starts) : starts_(std::move(starts)) {
    if (starts_.size() > 1) MakeCells();
  }

  size_t count() const { return starts_.size(); }
  void AddMemory(CacheWarmer* warmer) const {
    warmer->Add(cells_);
    warmer->Add(starts_);
  }

  size_t ClassOf(Number value) const {
    if (value < first_start_ || starts_.size() == 1) return 0;
    const Number cells_before = (value - first_start_) >> cell_shift_;  // may be more than a size_t
    if (cells_before >= cells_.size() - 1) return starts_.size() - 1;
    const auto cell = static_cast<size_t>(cells_before);
    const Number* start = &starts_[cells_[cell]];
    for (size_t count = cells_[cell + 1] - cells_[cell] + size_t{1}; count > 1;) {
      const size_t half = count / 2;
      start += start[half] <= value ? half : 0;
      count -= half;
    }
    return static_cast<size_t>(start - starts_.data());
  }

 private:
  // About one cell per class.
  void MakeCells() {
    first_start_ = starts_[1];
    const Number width = starts_.back() - first_start_;
    while ((width >> cell_shift_) >= starts_.size()) cell_shift_++;
    cells_.resize(static_cast<size_t>(width >> cell_shift_) + 2);
    uint32_t at = 1;
    for (size_t cell = 0; cell + 1 < cells_.size(); cell++) {
      const Number first = first_start_ + (static_cast<Number>(cell) << cell_shift_);
      while (at + 1 < starts_.size() && starts_[at + 1] <= first) at++;
      cells_[cell] = at;
    }
    cells_.back() = static_cast<uint32_t>(starts_.size() - 1);
  }

  std::vector<Number> starts_;
  Number first_start_ = 0;       // the first that is not 0
  int cell_shift_ = 0;           // a cell is 1 << cell_shift_ numbers
  std::vector<uint32_t> cells_;  // class of each cell's first number; the last one ends the range
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_VALUE_CLASSES_H
