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
// Threads: one packet thread.  Never allocates after Init().  Cost: one cache line per packet, and
// no branch that the packets of a flood could choose to be mispredicted.

#ifndef TRUMPET_LIB_TPM_ADMISSION_FILTER_H
#define TRUMPET_LIB_TPM_ADMISSION_FILTER_H

#include <emmintrin.h>

#include <algorithm>
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

  // Of a packet of so many bytes on the wire.
  static uint32_t UnitsOf(uint32_t bytes) { return (std::max(bytes, 1u) - 1) / kUnitBytes + 1; }

  // The filter as it is now, as a value, for loops over a batch: a compiler reads members anew for
  // every packet, as they might have been written to.  Good until the next round or epoch.
  class Lines;
  Lines lines();

  // As Lines::Offer().
  bool Offer(uint64_t hash, uint32_t bytes, uint32_t volume, uint32_t threshold, Withheld* credit,
             uint32_t weight = 1);

  // Halves all scores.
  void NextRound() { round_++; }
  // Voids all credits: they belong to an epoch that is over.
  void NextEpoch() { epoch_++; }

  size_t size_bytes() const { return buffer_.size_bytes(); }

 private:
  static constexpr uint32_t kRowCells = 8;
  struct alignas(64) Line {
    uint16_t scores[2 * kRowCells];  // as of `round`
    uint32_t tag;                    // of the flow that the credit belongs to
    uint32_t packets;                // the credit: fewer than kMaxUnits
    uint32_t bytes;
    uint32_t volume;
    uint32_t round;
    uint32_t epoch;  // of the credit
  };
  static_assert(sizeof(Line) == 64);

  // A quarter as many as flows, a power of two, at most 4 MiB.
  static size_t LinesFor(size_t flows) {
    size_t lines = 64;
    while (lines < flows / 4 && lines < (1u << 16)) lines *= 2;
    return lines;
  }

  PageBuffer<Line> buffer_;
  size_t line_mask_ = 0;
  uint32_t round_ = 1;
  uint32_t epoch_ = 1;
};

class AdmissionFilter::Lines {
 public:
  const void* AddressOf(uint64_t hash) const { return &lines_[LineOf(Spread(hash))]; }

  // Takes in a packet of a flow by its (seeded) hash, which weighs as much as `weight` of them, but
  // not in the credit.  True when the flow reaches `threshold` units with it, which must be 1 or
  // more: `credit` is then what is known to be owed to it, this packet excluded.  False: the packet
  // is withheld, and noted for a later credit.
  [[gnu::always_inline]] bool Offer(uint64_t hash, uint32_t bytes, uint32_t volume,
                                    uint32_t threshold, Withheld* credit, uint32_t weight) const {
    const uint64_t spread = Spread(hash);
    Line& line = lines_[LineOf(spread)];
    const auto tag = static_cast<uint32_t>(hash);
    Age(&line);
    uint16_t& first = line.scores[spread % kRowCells];
    uint16_t& second = line.scores[kRowCells + spread / kRowCells % kRowCells];
    const uint32_t units = weight * UnitsOf(bytes);
    const uint32_t score = std::min(uint32_t{std::min(first, second)} + units, kMaxUnits);
    // Conservative: a counter that is already higher owes that to other flows.
    first = static_cast<uint16_t>(std::max(uint32_t{first}, score));
    second = static_cast<uint16_t>(std::max(uint32_t{second}, score));
    if (__builtin_expect(score < threshold, 1)) {
      Note(tag, bytes, volume, &line);
      return false;
    }
    *credit = Withheld{};
    if (line.packets != 0 && line.tag == tag) {
      *credit = {line.packets, line.bytes, line.volume};
      line.packets = 0;
    }
    return true;
  }

 private:
  friend class AdmissionFilter;
  Lines(Line* lines, size_t mask, uint32_t round, uint32_t epoch)
      : lines_(lines), mask_(mask), round_(round), epoch_(epoch) {}

  // Bits of their own: those that placed the flow in the flow table say nothing about it here.
  static uint64_t Spread(uint64_t hash) { return (hash ^ hash >> 32) * 0x9e3779b97f4a7c15u; }
  size_t LineOf(uint64_t spread) const { return spread >> 32 & mask_; }

  // A shift by more than 15 leaves nothing.
  [[gnu::always_inline]] void Age(Line* line) const {
    auto* rows = reinterpret_cast<__m128i*>(line->scores);
    const __m128i rounds = _mm_cvtsi32_si128(static_cast<int>(round_ - line->round));
    _mm_store_si128(rows, _mm_srl_epi16(_mm_load_si128(rows), rounds));
    _mm_store_si128(rows + 1, _mm_srl_epi16(_mm_load_si128(rows + 1), rounds));
    const uint32_t age = (round_ ^ line->round) | (epoch_ ^ line->epoch);
    line->packets = age == 0 ? line->packets : 0;
    line->round = round_;
    line->epoch = epoch_;
  }

  // The place goes to the first who comes, and on from a flow that sent a single packet.
  [[gnu::always_inline]] static void Note(uint32_t tag, uint32_t bytes, uint32_t volume,
                                          Line* line) {
    const uint32_t packets = line->packets;
    const bool is_own = packets != 0 && line->tag == tag;
    const bool is_taken = packets > 1 && !is_own;
    const uint32_t own = is_own ? UINT32_MAX : 0;
    line->tag = is_taken ? line->tag : tag;
    line->packets = is_taken ? packets : (packets & own) + 1;
    line->bytes = is_taken ? line->bytes : (line->bytes & own) + bytes;
    line->volume = is_taken ? line->volume : (line->volume & own) + volume;
  }

  Line* lines_;
  size_t mask_;
  uint32_t round_;
  uint32_t epoch_;
};

inline AdmissionFilter::Lines AdmissionFilter::lines() {
  return {buffer_.data(), line_mask_, round_, epoch_};
}

inline bool AdmissionFilter::Offer(uint64_t hash, uint32_t bytes, uint32_t volume,
                                   uint32_t threshold, Withheld* credit, uint32_t weight) {
  return lines().Offer(hash, bytes, volume, threshold, credit, weight);
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_ADMISSION_FILTER_H
