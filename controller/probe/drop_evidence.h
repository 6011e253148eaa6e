// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// DropEvidence: what became of the packets that were sent to find out why some are dropped, and
// what that says of each field.
//
// A packet that passed has passed; one that seems lost may have lost its last copies only.  So a
// kind of packets passes if one of it has, and vanishes if two or more are known and none has.
//
// Threads: values.

#ifndef TRUMPET_CONTROLLER_PROBE_DROP_EVIDENCE_H
#define TRUMPET_CONTROLLER_PROBE_DROP_EVIDENCE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "controller/probe/drop_kinds.h"

namespace trumpet {

enum class ProbeFate : uint8_t {
  kUnknown,  // no copies, or nobody knows where it ought to go
  kPassed,
  kLost,
  kLooped,
};

struct DropOutcome {
  size_t kind = 0;
  ProbeFate fate = ProbeFate::kUnknown;
  double copies_odds = 0;  // of a lost one: how likely its last copies are lost by themselves
  std::string behind;      // the last switch that is known to have had it
  std::vector<std::string> towards;  // where it ought to have been seen next
  std::vector<std::string> path;
  std::string trace;  // by which it can be asked for
};

struct DropTally {
  uint32_t sent = 0;
  uint32_t known = 0;  // passed or lost
  uint32_t lost = 0;
  uint32_t looped = 0;
  double copies_odds = 0;  // of those that were lost, added up

  void Add(const DropOutcome& outcome);
  void Add(const DropTally& other);
  bool passes() const { return lost < known; }
  bool vanishes() const { return known >= 2 && lost == known; }
};

enum class DropRole : uint8_t {
  kNotTried,
  kNotKnown,
  kNoMatter,   // packets vanish whatever its value
  kOneValue,   // with any other value they pass
  kRange,      // they vanish around the flow's value, and pass farther away
  kScattered,  // they vanish with some values, in no order
};

// From the flow's value to one side.  In between `near` and `far` nothing is known.
struct DropEdge {
  uint32_t near = 0;      // up to this distance they vanish
  uint32_t far = 0;       // and from here on pass; 0: nowhere that was tried
  bool is_whole = false;  // it was tried to the end
};

struct DropFieldRole {
  DropField field = DropField::kNone;
  DropRole role = DropRole::kNotTried;
  std::array<DropEdge, 2> edges;  // of fields in order, by DropSide
  std::vector<size_t> vanish;     // kinds
  std::vector<size_t> pass;
  DropTally tally;
};

class DropEvidence {
 public:
  explicit DropEvidence(const DropSuspicion& suspicion);

  const DropSuspicion& suspicion() const { return suspicion_; }
  // The first one is the flow's own.
  const std::vector<DropKind>& kinds() const { return kinds_; }
  const std::vector<DropOutcome>& outcomes() const { return outcomes_; }
  const DropTally& tally(size_t kind) const { return tallies_[kind]; }
  const DropTally& flow() const { return tallies_.front(); }

  // Its number; the old one if it is there.
  size_t AddKind(const DropKind& kind);
  // In the order in which they were sent.
  void Add(const DropOutcome& outcome);

  DropFieldRole RoleOf(DropField field) const;
  std::vector<DropFieldRole> Roles() const;

  // Is it likelier than not by far that so many of a kind were not lost for want of copies?
  bool IsReal(const DropTally& tally) const { return ChanceOfCopies(tally) < kUnlikely; }
  double ChanceOfCopies(const DropTally& tally) const;
  // Packets of kinds that pass are lost as well, more often than copies are.
  bool IsByChance() const;

  static constexpr double kUnlikely = 1e-4;

 private:
  double CopyLoss(const DropTally& tally) const;
  void FindEdges(DropFieldRole* role, bool* is_in_order) const;

  DropSuspicion suspicion_;
  std::vector<DropKind> kinds_;
  std::vector<DropTally> tallies_;  // of each kind
  std::vector<DropOutcome> outcomes_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PROBE_DROP_EVIDENCE_H
