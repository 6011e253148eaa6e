// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// StageCutter: which operators of a program must stay together when the packets of a burst take
// them by stages, and which of those may be taken run by run (burst_stages.h).
//
// Threads: pure functions of a program that is being compiled, which is borrowed.

#ifndef TRUMPET_LIB_MEASURE_STAGE_CUTTER_H
#define TRUMPET_LIB_MEASURE_STAGE_CUTTER_H

#include <cstdint>
#include <vector>

#include "lib/measure/burst_stages.h"
#include "lib/measure/kernels.h"

namespace trumpet {

// Operators of one stage, by their places behind the first one of pkts.
struct StageRange {
  uint32_t first = 0;
  uint32_t last = 0;
};

// The copies of a packet stand behind its operators as one more.
class StageCutter {
 public:
  StageCutter(const std::vector<KnownSet>& known, const CompiledProgram& compiled, uint32_t entry);

  // Where the copies stand; behind the last operator.
  uint32_t end() const { return end_; }
  const Operator& OperatorAt(uint32_t place) const { return compiled_.operators[entry_ + place]; }
  // What it knows; and as far as there is a tie in it.
  const KnownSet& AllKnownAt(uint32_t place) const { return all_known_[place]; }
  const KnownSet& KnownAt(uint32_t place) const { return known_[place]; }
  bool IsCopy(uint32_t place) const { return OperatorAt(place).kernel == DuplicatePacket; }
  bool HasCopies() const;

  // The place where packets really go on that come to `place`.
  uint32_t Resolve(uint32_t place) const;
  bool IsJump(const StageRange& range) const;
  // One operator that a kernel does for all packets.  Copies may be left behind if they `wait`.
  bool IsTogether(const StageRange& range, bool wait) const;

  // The map whose cells alone tie the operators of the range together, each of which a kernel does
  // for packets that have different ones; none (its plan is null) if that is not so.
  HashUse RunCellsOf(const StageRange& range, bool wait) const;

  // Whether the operators of the range know nothing else that packets write.
  bool KnowsOnlyCells(const StageRange& range, const HashUse& cells) const;

  // `wait`: all packets have gone through the program before the first copy is run.
  std::vector<StageRange> Cut(bool wait) const;
  // Whether copies may wait, which is to say that nothing could tell, and that no packet is tagged
  // once it has left one.
  bool MayCopiesWait() const;

 private:
  void GatherKnown(const std::vector<KnownSet>& known);
  KnownSet SharedVariables() const;
  KnownSet WrittenThings() const;
  KnownSet KnownToCopies(const std::vector<KnownSet>& known) const;
  bool IsAlone(uint32_t at) const;
  void FreeIfByItself(uint32_t at);
  std::vector<uint32_t> Ties(bool holds_copies) const;
  bool Knows(uint32_t at, size_t thing, bool holds_copies) const;
  bool TieMore(const std::vector<StageRange>& ranges, bool wait,
               std::vector<uint32_t>* reach) const;
  bool IsDoneForAll(uint32_t place, bool wait) const;
  HashUse MapOf(size_t variable) const;
  bool IsOneByOne(const StageRange& range, bool wait) const;

  const CompiledProgram& compiled_;
  const MeasureProgram& source_;
  const uint32_t entry_;
  uint32_t end_ = 0;
  KnownSet keyed_;  // variables
  std::vector<KnownSet> all_known_;
  std::vector<KnownSet> known_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_STAGE_CUTTER_H
