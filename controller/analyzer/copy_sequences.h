// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CopySequences: which copies a switch has made and the analyzer has not got, by the numbers that
// the switch gives them.
//
// This tells a copy that was lost from a packet that was: a switch without a gap in its numbers has
// lost no copy.  It holds only where all copies of a switch's tunnel come to this analyzer, and the
// switch numbers them (GRE with a sequence, ERSPAN II and III).
//
// A number that is missing is of one copy.  Packets without their copy claim a number: if more do
// than there are numbers, some of these packets were lost, and not their copies.
//
// Threads: one.  Memory: at most `max_gaps` of each of 1,024 switches; older gaps are forgotten,
// and then nothing is known of their time.

#ifndef TRUMPET_CONTROLLER_ANALYZER_COPY_SEQUENCES_H
#define TRUMPET_CONTROLLER_ANALYZER_COPY_SEQUENCES_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "lib/base/units.h"
#include "lib/model/slice_spec.h"

namespace trumpet {

class CopySequences {
 public:
  explicit CopySequences(size_t max_gaps = 4096)
      : max_gaps_(max_gaps), switches_(kMaxSwitchNumber + 1) {}

  // Switches beyond kMaxSwitchNumber are not followed.
  void Take(uint16_t switch_number, uint32_t sequence, Nanos time);

  struct Around {
    bool is_known = false;
    uint64_t lost = 0;  // may have been made between the two times
    double made = 0;    // about so many were, those that are lost among them
  };
  Around Between(uint16_t switch_number, Nanos from, Nanos until) const;

  // More numbers than these in the time of a claim tell nothing of each.
  static constexpr uint64_t kMostToClaim = 4;

  struct Contest {
    double lost_share = 1;        // of those who claim: their copies were lost, and not they
    std::vector<Uint128> others;  // who have claimed, and for whom that is news
  };
  // Of a copy that the switch would have made between the two times, most likely at `around`.
  // `is_certain`: it has.  The same packet claims once, however often it asks.
  Contest Claim(uint16_t switch_number, Nanos from, Nanos around, Nanos until, Uint128 packet,
                bool is_certain);

  uint64_t lost(uint16_t switch_number) const;

 private:
  struct Claimant {
    Uint128 packet = 0;
    Nanos from = 0;
    Nanos until = 0;
    bool is_certain = false;
  };
  struct Gap {
    uint32_t first = 0;  // numbers that have not come
    uint32_t last = 0;
    Nanos before = 0;  // when its neighbours came
    Nanos after = 0;
    std::vector<Claimant> claims;

    uint64_t size() const { return uint64_t{last} - first + 1; }
    bool has_room() const { return claims.size() < size(); }
  };
  struct Switch {
    bool is_begun = false;
    uint32_t highest = 0;
    Nanos latest = 0;
    Nanos known_since = 0;
    Nanos spacing = 0;   // of copies, smoothed
    uint64_t lost = 0;   // before it began anew, too
    uint32_t count = 0;  // of copies since it began, up from the one before
    uint32_t behind = 0;
    std::deque<Gap> gaps;
  };

  static void Begin(Switch* from, uint32_t sequence, Nanos time);
  void Open(Switch* from, uint32_t sequence, Nanos time);
  static std::vector<Gap*> GapsBetween(Switch* from, Nanos begin, Nanos end);
  static bool MakeRoom(Switch* from, const std::vector<Gap*>& gaps);
  static bool Fill(Switch* from, uint32_t sequence, Nanos time);

  const size_t max_gaps_;
  std::vector<Switch> switches_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_COPY_SEQUENCES_H
