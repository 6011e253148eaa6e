// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// AdmissionFilter: which flows sent so little that matching them can wait.  (The Trumpet paper's
// defence against floods of new flows; docs/adr/0008.)
//
// A count sketch of two rows with conservative update, in units of 64 bytes on the wire.  What a
// flow is taken to have sent is never less than what it did send lately, so no heavy flow is kept
// out for longer than its threshold; another flow may be taken for heavier than it is.  Scores are
// halved every round.  Both counters of a flow lie in one cache line, whose age is one number: no
// loop ever visits all lines.
//
// Beside its scores a line remembers exactly what one flow sent in this round without being
// counted: its credit on admission.  A credit is never more than the flow sent; it is less, or
// nothing, when another flow took the place.
//
// Threads: one packet thread.  Never allocates after Init().  Cost: one cache line per packet.

#ifndef TRUMPET_LIB_TPM_ADMISSION_FILTER_H
#define TRUMPET_LIB_TPM_ADMISSION_FILTER_H

#include <cstddef>
#include <cstdint>

#include "lib/base/page_buffer.h"

namespace trumpet {

// What a flow sent without being counted.
struct Withheld {
  uint32_t packets = 0;
  uint64_t bytes = 0;
  uint64_t volume = 0;
};

class AdmissionFilter {
 public:
  static constexpr uint32_t kUnitBytes = 64;
  static constexpr uint32_t kMaxUnits = UINT16_MAX;  // of a score, which stays there

  // Memory for a table of so many flows.
  static size_t BytesFor(size_t flows) { return PageBuffer<Line>::BytesFor(LinesFor(flows)); }

  // False when there is no memory.
  [[nodiscard]] bool Init(size_t flows, PageSource* source = nullptr);

  void Prefetch(uint64_t hash) const { __builtin_prefetch(&lines_[LineOf(Spread(hash))]); }

  // Takes in a packet of a flow by its (seeded) hash.  True when the flow reaches `threshold`
  // units with it, which must be 1 or more: `credit` is then what is known to be owed to it, this
  // packet excluded.  False: the packet is withheld, and noted for a later credit.
  bool Offer(uint64_t hash, uint32_t bytes, uint32_t volume, uint32_t threshold, Withheld* credit);

  // Halves all scores.
  void NextRound() { round_++; }
  // Voids all credits: they belong to an epoch that is over.
  void NextEpoch() { epoch_++; }

  size_t size_bytes() const { return lines_.size_bytes(); }

 private:
  static constexpr uint32_t kRowCells = 8;
  struct alignas(64) Line {
    uint16_t scores[2 * kRowCells];  // as of `round`
    uint32_t round;
    uint32_t epoch;  // of the credit
    uint32_t tag;    // of the flow that the credit belongs to
    uint32_t packets;
    uint64_t bytes;
    uint64_t volume;
  };
  static_assert(sizeof(Line) == 64);

  // A quarter as many as flows, a power of two, at most 4 MiB.
  static size_t LinesFor(size_t flows) {
    size_t lines = 64;
    while (lines < flows / 4 && lines < (1u << 16)) lines *= 2;
    return lines;
  }

  // Bits of their own: those that placed the flow in the flow table say nothing about it here.
  static uint64_t Spread(uint64_t hash) { return (hash ^ hash >> 32) * 0x9e3779b97f4a7c15u; }
  size_t LineOf(uint64_t spread) const { return spread >> 32 & line_mask_; }
  void Age(Line* line) const;
  static void Note(uint32_t tag, uint32_t bytes, uint32_t volume, Line* line);

  PageBuffer<Line> lines_;
  size_t line_mask_ = 0;
  uint32_t round_ = 1;
  uint32_t epoch_ = 1;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_ADMISSION_FILTER_H
