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
// than there are numbers, some of these packets were lost, and not their copies: those whose copy
// would have been made farther from the time of the number.
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

// A copy that a switch that numbers its copies, and has lost some then, would have made between two
// times, most likely about `around`.
struct MissingCopy {
  uint16_t switch_number = 0;
  Nanos from = 0;
  Nanos around = 0;
  Nanos until = 0;
  Nanos spread = 0;         // times that differ by less say nothing of whose copy a number was
  bool is_certain = false;  // the packet passed there
};

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
  // Copies of it came that have a number.
  bool Numbers(uint16_t switch_number) const {
    return switch_number <= kMaxSwitchNumber && switches_[switch_number].is_begun;
  }

  // More numbers than these in the time of a claim tell nothing of each.
  static constexpr uint64_t kMostToClaim = 4;

  // With a greater share it is more likely the copy that was lost, and not the packet.
  static constexpr double kLikely = 0.5;

  struct Contest {
    // Of those who claim and whose times are alike: their copies were lost, and not they.
    double lost_share = 1;
    std::vector<Uint128> others;  // whose share is not more than that any more
  };
  // For a packet without its copy.  It claims once, however often it asks.
  Contest Claim(const MissingCopy& missing, Uint128 packet);

  uint64_t lost(uint16_t switch_number) const;

 private:
  struct Claimant {
    Uint128 packet = 0;
    MissingCopy missing;
    double lost_share = 1;  // see Contest
    bool is_told = false;   // that it is more likely lost itself
  };
  struct Gap {
    uint32_t first = 0;  // numbers that have not come
    uint32_t last = 0;
    Nanos before = 0;  // when its neighbours came
    Nanos after = 0;
    std::vector<Claimant> claims;  // the likeliest first

    uint64_t size() const { return uint64_t{last} - first + 1; }
    bool has_room() const { return claims.size() < size(); }
    Nanos Distance(Nanos around) const;
    bool IsLikelier(const MissingCopy& one, const MissingCopy& other) const;
    void Add(const Claimant& claim);
    bool WouldHold(const Claimant& claim) const;
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
  static bool MakeRoom(Switch* from, Gap* gap, std::vector<Gap*>* tried);
  static Gap* RoomIn(Switch* from, const std::vector<Gap*>& gaps);
  static std::vector<Gap*> GapsOf(Switch* from, const Claimant& claim);
  static Gap* Place(Switch* from, Claimant claim);
  static void Share(Gap* gap, Nanos spread);
  bool Fill(Switch* from, uint32_t sequence, Nanos time);
  void ForgetOldest(Switch* from) const;  // gap, if there are too many

  const size_t max_gaps_;
  std::vector<Switch> switches_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_COPY_SEQUENCES_H
