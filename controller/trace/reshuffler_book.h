// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ReshufflerBook: reshufflers as users see them: which slots are whose, who is alive, what was
// copied where (reshuffler_manager.h).
//
// Threads: one, that of the libevent loop.

#ifndef TRUMPET_CONTROLLER_TRACE_RESHUFFLER_BOOK_H
#define TRUMPET_CONTROLLER_TRACE_RESHUFFLER_BOOK_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/plan/reshuffle/slot_table.h"
#include "controller/trace/analyzer_health.h"
#include "lib/base/units.h"

namespace trumpet {

// The last time that slots moved.
struct ReshuffleMove {
  Nanos at_ns = 0;                 // of Unix time, when the switch had them; 0: never
  std::vector<std::string> lost;   // analyzers that went
  std::vector<std::string> taken;  // analyzers that came
  size_t slots = 0;                // that moved
  // From the last sign of life of whoever went until the switch had the new slots; 0: nobody went.
  Nanos failover_ns = 0;
};

struct ReshuffledAnalyzer {
  std::string name;
  std::string address;
  uint32_t weight = 1;
  AnalyzerState state = AnalyzerState::kAway;
  Nanos silent_ns = 0;    // since it was heard; 0 if it never was
  size_t home_slots = 0;  // while all are alive
};

enum class ReshufflerState : uint8_t {
  kAway,     // the switch is not connected
  kWaiting,  // for analyzers: it keeps the slots that it has
  kPending,  // it has not got its slots yet
  kInOrder,
};

const char* ReshufflerStateName(ReshufflerState state);

struct ReshufflerCounts {
  bool is_known = false;        // it has been asked
  uint64_t received = 0;        // copies that came
  uint64_t unassigned = 0;      // to slots of nobody
  std::vector<uint64_t> given;  // to each analyzer
};

struct ReshufflerView {
  std::string name;
  std::string address;
  uint32_t port = 0;
  ReshufflerState state = ReshufflerState::kAway;
  std::string error;  // the last one, if it has refused something
  SlotTable slots;    // that it has; empty: not known
  ReshufflerCounts counts;
  uint64_t changes = 0;      // times that slots moved
  uint64_t moved_slots = 0;  // of all of them
  ReshuffleMove last_move;
};

struct ReshufflersView {
  std::vector<ReshuffledAnalyzer> analyzers;
  std::vector<ReshufflerView> reshufflers;
};

class ReshufflerBook {
 public:
  virtual ~ReshufflerBook() = default;
  virtual ReshufflersView View() const = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACE_RESHUFFLER_BOOK_H
