// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PassedLengths: how long the longest packets were that passed a link of late on their way to an
// address, so that a link which loses long packets only is told from one that loses what goes to
// that address.
//
// Threads: one.  Memory: taken at the start; where two links and addresses meet in it, the later
// ones win, and nothing is known of the others.

#ifndef TRUMPET_CONTROLLER_TRACES_PASSED_LENGTHS_H
#define TRUMPET_CONTROLLER_TRACES_PASSED_LENGTHS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "controller/traces/trace_maker.h"
#include "lib/base/units.h"

namespace trumpet {

class PassedLengths {
 public:
  static constexpr size_t kCells = 8192;
  static constexpr Nanos kSpan = 10 * kNanosPerSecond;  // this one and the one before are known

  PassedLengths() : cells_(kCells) {}

  // Of a trace that is told the first time only.
  void Add(const TraceReport& report);
  // Bytes of the longest packets that came to a switch where this one, which was dropped, ought to
  // have come next; 0: none did, or it was not dropped.
  struct Longest {
    uint32_t to_address = 0;  // of those to its address
    uint32_t on_link = 0;     // of all
  };
  Longest Before(const TraceReport& report) const;

 private:
  struct Cell {
    uint64_t key = 0;
    Nanos begin = 0;  // of this span
    uint32_t now = 0;
    uint32_t before = 0;
  };

  void Note(uint64_t key, Nanos time, uint32_t bytes);
  uint32_t Find(uint64_t key, Nanos time) const;

  std::vector<Cell> cells_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_PASSED_LENGTHS_H
