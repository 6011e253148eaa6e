// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ReshufflerManager: gives the slots of reshufflers to analyzers that are alive
// (docs/reshuffler.md).
//
// All reshufflers have the same slots.  What does not change is among the standing rules of their
// switches (ReshuffleBase()); slots are ours, and a claim (ReshuffleClaim()) until it is known who
// is alive: a controller that has just started touches nothing before its analyzers had time to
// come.  When nobody is alive, slots stay as they are: nothing is won by taking them away.
//
// Threads: one, that of the libevent loop.  Lifetime: the parts must outlive it.

#ifndef TRUMPET_CONTROLLER_TRACE_RESHUFFLER_MANAGER_H
#define TRUMPET_CONTROLLER_TRACE_RESHUFFLER_MANAGER_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/openflow/openflow_net.h"
#include "controller/plan/reshuffle/reshuffle_flows.h"
#include "controller/trace/reshuffler_book.h"
#include "lib/base/loop_event.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {

// A switch that reshuffles.
struct ReshufflerPlace {
  std::string name;
  uint64_t datapath_id = 0;
  ReshuffleBridge bridge;
};

struct ReshuffleTarget {
  ReshuffleMember member;
  std::string address;  // IPv4, where it receives
};

// What slots at a switch are known by.
OpenflowClaim ReshuffleClaim();
// What stands at a reshuffler: the group, and all flows but those of slots.
std::vector<OpenflowRule> ReshuffleBase(const ReshuffleBridge& bridge,
                                        const std::vector<ReshuffleTarget>& targets);

struct ReshufflerParts {
  event_base* base = nullptr;
  const WireClock* clock = nullptr;
  OpenflowNet* net = nullptr;
  std::vector<ReshufflerPlace> places;
  std::vector<ReshuffleTarget> targets;
  AnalyzerHealthOptions health;
  std::function<std::vector<AnalyzerSign>()> signs;  // of those that are connected
  std::function<void(const char* level, const std::string& text)> log;
};

class ReshufflerManager final : public ReshufflerBook {
 public:
  static constexpr Nanos kTick = 50 * kNanosPerMilli;
  static constexpr Nanos kRetry = kNanosPerSecond;        // of what a switch has refused
  static constexpr Nanos kCountPeriod = kNanosPerSecond;  // of asking for counts

  explicit ReshufflerManager(const ReshufflerParts& parts);
  ~ReshufflerManager() override;
  ReshufflerManager(const ReshufflerManager&) = delete;
  ReshufflerManager& operator=(const ReshufflerManager&) = delete;

  void Start();
  // Another controller acts now; until Start().  Slots stay as they are.
  void StandBy();

  ReshufflersView View() const override;

 private:
  struct Bridge {
    ReshufflerPlace place;
    SlotTable installed;  // empty: not adopted yet
    bool is_busy = false;
    bool is_counting = false;
    Nanos retry_at = 0;  // monotonic
    std::string error;
    ReshufflerCounts counts;
    uint64_t changes = 0;
    uint64_t moved_slots = 0;
    ReshuffleMove last_move;
  };
  // What is on its way to a switch.
  struct Move {
    SlotTable table;
    ReshuffleMove what;
    Nanos last_sign_at = 0;  // monotonic, of whoever went; 0: nobody did
  };

  void Tick();
  void Plan(Nanos now);
  void Sync(Bridge* bridge);
  Move MoveOf(const Bridge& bridge) const;
  void Arrived(Bridge* bridge, const Move& move, const Status& status);
  void Count();
  void TakeCounts(Bridge* bridge, const std::vector<OpenflowFlow>& flows) const;
  ReshufflerState StateOf(const Bridge& bridge) const;

  const ReshufflerParts parts_;
  std::vector<ReshuffleMember> members_;
  std::vector<size_t> home_slots_;
  std::unique_ptr<AnalyzerHealth> health_;  // null: standing by
  std::vector<bool> planned_for_;           // who was alive
  SlotTable wanted_;                        // empty: not known yet
  std::vector<std::unique_ptr<Bridge>> bridges_;
  LoopEvent ticker_;
  LoopEvent counter_;
  // Of calls back of switches, which may outlive us.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACE_RESHUFFLER_MANAGER_H
