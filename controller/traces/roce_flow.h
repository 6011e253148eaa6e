// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RoceFlow: the packets of one direction of a queue pair as several switches see them: how many of
// which kind, what is missing in their numbers (PSNs), and between which switches it went.
//
// Each switch on the way is a place with counts of its own; the counts of the place with most
// packets are those of the flow, so a packet counts once however many copies there are.
//
// Lost packets.  For each of the last kRoceWindow PSNs it is known how often it passed which place.
// One that passed the first place twice and the last place once was lost once, behind the last
// place (in the order of the way) where it was seen more often.  A reliable sender sends again
// what is lost: what passed once here and never there has lost its copy, not itself.  NAKs tell of
// losses that no place shows: before the first place, and behind the last.
//
// Threads: one.  Memory: 8 KiB as soon as PSNs are followed.

#ifndef TRUMPET_CONTROLLER_TRACES_ROCE_FLOW_H
#define TRUMPET_CONTROLLER_TRACES_ROCE_FLOW_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "controller/traces/roce_sight.h"

namespace trumpet {

constexpr size_t kRocePlaces = 7;
constexpr uint32_t kRoceWindow = 2048;  // PSNs; a power of two
// A step that is larger begins a new connection.
constexpr int32_t kRoceMaxStep = 65536;
constexpr size_t kRoceEvidence = 5;
constexpr int kNoPlace = -1;

// From one number of 24 bits to another, by the shorter way.
constexpr int32_t PsnStep(uint32_t from, uint32_t to) {
  return static_cast<int32_t>((to - from) << 8) >> 8;
}

struct RocePlaceCounts {
  uint16_t switch_number = 0;
  uint32_t port = 0;  // of the first packet
  Nanos first = 0;
  Nanos last = 0;
  uint64_t packets = 0;
  uint64_t bytes = 0;
  std::array<uint64_t, kRoceKinds> kinds{};
  uint64_t marked = 0;  // data with "congestion experienced"
  uint64_t corrupt = 0;
  std::array<uint64_t, kNakCodes + 1> naks{};  // the last: of other codes
  uint64_t not_ready = 0;
  Nanos longest_wait = 0;  // that "not ready" asked for
  uint64_t cnp_peak = 0;   // in a second
  Nanos cnp_peak_time = 0;
  // Of PSNs.
  uint64_t gaps = 0;      // places where numbers are left out
  uint64_t missing = 0;   // numbers left out
  uint64_t late = 0;      // of those that came after all
  uint64_t repeated = 0;  // numbers that had come already
  uint64_t restarts = 0;  // another connection

  // Under way.
  bool has_requests = false;
  uint32_t first_psn = 0;
  uint32_t next_psn = 0;     // behind the highest one
  uint32_t next_in_row = 0;  // behind the last one that came
  int32_t unknown_psns = 0;  // that a READ may take, beyond those counted
  bool is_in_response = false;
  uint32_t next_response = 0;
  uint64_t position_sum = 0;  // how many places had the packet before, each time
  uint64_t positions = 0;
  int64_t cnp_second = 0;
  uint64_t cnps_in_second = 0;
};

struct RoceEvidence {
  Nanos time = 0;
  uint16_t switch_number = 0;
  uint32_t port = 0;
  uint32_t sequence = 0;
};

struct RoceLoss {
  uint64_t packets = 0;
  std::vector<RoceEvidence> evidence;
};

struct RoceFlowCounts {
  std::vector<RocePlaceCounts> places;  // in the order of the way
  uint64_t places_not_kept = 0;         // packets at further ones
  // By place behind which, and the next one; kNoPlace: before the first, behind the last.
  std::map<std::pair<int, int>, RoceLoss> losses;
  uint64_t copies_missing = 0;  // packets that passed, without a copy at the last place
  uint64_t undecided = 0;       // they may have been sent again after all was over
  std::vector<RoceEvidence> gap_evidence;
  std::vector<RoceEvidence> nak_evidence;  // with the time and place of the NAK

  // That with most packets; null: there is none.
  const RocePlaceCounts* Main() const;
};

class RoceFlow {
 public:
  // `follows`: all packets are seen, so numbers that are left out mean something.
  explicit RoceFlow(bool follows) : follows_(follows) {}

  void Take(const RoceSight& sight);
  // Does the number lie where this flow's packets are now?
  bool IsNear(uint32_t psn) const;
  // A NAK of the receiver says that this number is missing; each copy of it may be told.
  void NoteNak(uint32_t psn, const RoceSight& sight);
  // What is known by now, with what is under way as if it were over.
  RoceFlowCounts Finish() const;

 private:
  struct Slot {
    uint32_t bits = 0;  // four for each place, and flags
  };

  int FindPlace(const RoceSight& sight);
  void Count(const RoceSight& sight, RocePlaceCounts* place) const;
  void FollowRequest(const RoceSight& sight, int place);
  void FollowResponse(const RoceSight& sight, int place);
  void Begin(uint32_t psn, RocePlaceCounts* place) const;
  void NoteGap(const RoceSight& sight, uint32_t psn);
  void NoteSkipped(uint32_t psn, const RocePlaceCounts& place);
  bool IsInWindow(uint32_t psn) const;
  Slot& SlotOf(uint32_t psn) { return window_[psn & (kRoceWindow - 1)]; }
  void Mark(uint32_t psn, int place, bool is_late);
  void MoveTo(uint32_t psn);
  // What is known of a number when it leaves the window.
  void Judge(uint32_t psn, uint32_t bits, bool is_over);
  void AddLoss(uint32_t psn, int behind, int next, uint64_t packets);
  std::vector<int> Order() const;

  bool follows_;
  bool is_reliable_ = true;
  RoceFlowCounts counts_;
  std::vector<Slot> window_;
  uint32_t top_ = 0;  // the highest number
  bool has_top_ = false;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_ROCE_FLOW_H
