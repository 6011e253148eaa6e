// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// DropSearch: which packets to send next, to find out why those of a flow are dropped.
//
// First the flow's own.  If none is lost, or no more than copies are, that is all.  If all are,
// a few packets of each kind that differs in one field; then, where some pass, the place between
// what passes and what vanishes, and more source ports, by which equal ways are told from one
// flow.  If some are lost, so many of each field that it shows whether fewer of them are.
// Between them packets of the flow are sent again and again: what has come and gone is no pattern.
//
// Threads: values.  Which packets are next follows from what was taken, and the seed.

#ifndef TRUMPET_CONTROLLER_PROBE_DROP_SEARCH_H
#define TRUMPET_CONTROLLER_PROBE_DROP_SEARCH_H

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "controller/probe/drop_evidence.h"

namespace trumpet {

class DropSearch {
 public:
  static constexpr size_t kMaxRounds = 9;
  static constexpr size_t kMaxRoundPackets = 1000;

  explicit DropSearch(const DropSuspicion& suspicion);

  const DropEvidence& evidence() const { return evidence_; }
  size_t rounds() const { return rounds_; }
  // Packets to send, by their kind, in this order; empty: there is nothing left to find out.
  // What became of those of the round before must have been taken.
  std::vector<size_t> NextRound();
  void Take(const DropOutcome& outcome) { evidence_.Add(outcome); }

 private:
  struct Wanted {
    size_t kind = 0;
    uint32_t count = 0;
  };

  std::vector<Wanted> Plan();
  std::vector<Wanted> PlanWhereAllVanish();
  std::vector<Wanted> PlanWhereSomeVanish();
  void AddFirstKinds(uint32_t each, uint32_t of_field, std::vector<Wanted>* wanted);
  void AddBetween(const DropFieldRole& role, std::vector<Wanted>* wanted);
  void AddPorts(std::vector<Wanted>* wanted);
  std::vector<size_t> Spread(const std::vector<Wanted>& wanted, uint32_t own) const;

  DropEvidence evidence_;
  std::mt19937_64 random_;
  size_t rounds_ = 0;
  size_t partial_rounds_ = 0;  // since some were lost and some passed
  bool has_kinds_ = false;     // those that are first were sent
  bool has_ports_ = false;     // more source ports were
  bool is_partial_ = false;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PROBE_DROP_SEARCH_H
