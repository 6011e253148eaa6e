// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The RoCEv2 debugger: what the packets of RDMA, and the frames that stop senders, say of where the
// network is congested, loses packets or stands still, and which receivers are not ready.
//
//   RoceDebugger debugger(options);
//   debugger.Take(sight);                         // each copy
//   for (const Json& finding : debugger.Findings(switches)) ...
//
// Threads: one.  Memory: `max_flows` directions of queue pairs (10 KiB each if their PSNs are
// followed), the one without packets for longest goes first; the ports of PauseOptions; kMaxGroups
// findings of a kind.  What an evicted flow had is in the findings.

#ifndef TRUMPET_CONTROLLER_TRACES_ROCE_DEBUGGER_H
#define TRUMPET_CONTROLLER_TRACES_ROCE_DEBUGGER_H

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/traces/pause_book.h"
#include "controller/traces/roce_flow.h"
#include "controller/traces/roce_groups.h"
#include "controller/traces/switch_book.h"

namespace trumpet {

struct RoceOptions {
  // All packets of queue pairs are seen, so numbers that are left out mean something.
  bool has_all_packets = true;
  size_t max_flows = 4096;
  PauseOptions pauses;
};

class RoceDebugger {
 public:
  explicit RoceDebugger(const RoceOptions& options) : options_(options), pauses_(options.pauses) {}

  // Nearly in the order of time.
  void Take(const RoceSight& sight);
  // A packet of RoCE that was last seen there is known to be lost.
  void TakeDrop(const RoceSight& sight);
  // Each copy of a stored trace; of one that is dropped only that it was lost, if `is_drop`.
  void TakeStored(const StoredTrace& trace, bool is_drop);

  // An object for each; one with "nothing" if there is nothing abnormal.
  nlohmann::ordered_json Findings(const SwitchBook& switches) const;
  // An object for each direction of a queue pair that is in memory.
  nlohmann::ordered_json Flows(const SwitchBook& switches) const;
  nlohmann::ordered_json Sums() const;

 private:
  struct Entry {
    RoceFlow flow;
    std::list<RoceFlowKey>::iterator age;
  };

  Entry& FindFlow(const RoceFlowKey& key);
  void PassNak(const RoceSight& sight);

  const RoceOptions options_;
  PauseBook pauses_;
  std::map<RoceFlowKey, Entry> flows_;
  std::list<RoceFlowKey> ages_;  // the one without packets for longest first
  RoceGroups evicted_;           // what they had
  RoceGroups drops_;
  // Behind each switch, at most max_flows in all: those beyond are not counted.
  std::set<std::pair<uint16_t, RoceFlowKey>> dropped_flows_;
  uint64_t sights_ = 0;
  uint64_t evicted_count_ = 0;
  uint64_t naks_without_flow_ = 0;  // copies of them, of many that they may be for or none
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_ROCE_DEBUGGER_H
