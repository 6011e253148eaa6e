// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CellRuns: a burst, parted into runs of packets no two of which have the same cell of a map.
//
// Packets of different cells cannot tell in which order they take operators that know nothing but
// their cells, so those of a run take each operator together.  Runs keep the order of the packets;
// where operators know nothing that packets of other cells write, either, that of the packets of
// each cell is enough, and takes fewer runs.  Cells that only seem the same (their marks meet) are
// taken for one.
//
// Threads: one thread owns it.

#ifndef TRUMPET_LIB_MEASURE_CELL_RUNS_H
#define TRUMPET_LIB_MEASURE_CELL_RUNS_H

#include <cstdint>
#include <cstring>

#include "lib/measure/measured_packet.h"

namespace trumpet {

class CellRuns {
 public:
  // Of each packet of the burst, to be set before the first run.
  uint32_t* cells() { return cells_; }

  // The first packets of `left`, a bit each, that have different cells, at least one: those before
  // the first cell that comes again, or the first of each cell.  (Asked packet by packet, the order
  // costs 2 ns of 20.)
  template <bool kKeepsOrder>
  uint32_t Next(uint32_t left) {
    if (++run_ == 0) Forget();
    uint32_t run = 0;
    for (; left != 0; left &= left - 1) {
      const auto packet = static_cast<uint32_t>(__builtin_ctz(left));
      uint8_t* const mark = &marks_[cells_[packet] * 0x9e3779b1u >> kShift];
      const bool is_new = *mark != run_;
      if (kKeepsOrder && !is_new) break;
      *mark = run_;
      run |= uint32_t{is_new} << packet;
    }
    return run;
  }

 private:
  static constexpr uint32_t kLog2Marks = 10;
  static constexpr uint32_t kShift = 32 - kLog2Marks;

  void Forget() {
    std::memset(marks_, 0, sizeof marks_);
    run_ = 1;
  }

  uint32_t cells_[kMaxMeasureBurst] = {};
  uint8_t run_ = 0;
  uint8_t marks_[1u << kLog2Marks] = {};  // the last run that had a cell there
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_CELL_RUNS_H
