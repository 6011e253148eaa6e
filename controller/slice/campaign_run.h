// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CampaignRun: one run of a campaign, slot by slot.
//
//   plan -> [look at unknown prefixes, plan] -> (turn on -> mirror -> tally)* -> finish
//               ^-- over budget, or the network has changed --'
//
// Nothing is turned on unless every router of the plan has a driver and an analyzer is there.  What
// a slot may copy is capped at the switches, and compared with the budget when it is over: above
// it, the run stops, waits until the second has room, and plans again with what it has learnt.
// docs/life-of-a-slice.md tells the whole way.
//
// Threads: one.  It waits for nobody: Step() when due() has come, and answers of its parts.
// Lifetime: the parts must outlive it.  Its end drops answers, but turns off nothing: Stop() does.

#ifndef TRUMPET_CONTROLLER_SLICE_CAMPAIGN_RUN_H
#define TRUMPET_CONTROLLER_SLICE_CAMPAIGN_RUN_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/plan/topology_change.h"
#include "controller/slice/copy_collector.h"
#include "controller/slice/demand_book.h"
#include "controller/slice/latency_book.h"
#include "controller/slice/second_budget.h"
#include "controller/slice/slice_driver.h"
#include "controller/slice/slice_planner.h"
#include "controller/slice/tag_pool.h"
#include "lib/lang/slice/slice_language.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {

struct SliceRunOptions {
  Nanos shortest_slice = 25 * kNanosPerMilli;
  Nanos longest_path = 0;                        // to cross the network takes no longer
  Nanos least_spacing = 5 * kNanosPerMilli;      // between slots, if copies arrive at once
  Nanos most_spacing = kNanosPerSecond;          // copies that take longer are late
  Nanos patience = kNanosPerSecond;              // with switches and the analyzer
  Nanos finish_patience = 30 * kNanosPerSecond;  // with the analyzer's answers
  double plan_seconds = 1;                       // for the solvers
  // How much more than the budget a slot may copy, as a part of it, before anybody knows better.
  double excess = 1;
  uint32_t copy_overhead = 50;   // bytes of the tunnel's headers
  int64_t unseen_bps = 64'000;   // of a prefix that nobody has seen a packet of
  int bootstrap_slots = 3;       // that look for it
  int failures = 3;              // slots in a row that fail end a run
  uint32_t confine_packets = 2;  // of a slot at one router: one proves that the region leaks
  uint16_t confine_snap_bytes = kSliceSnapBytes;  // and its headers say who it is
};

// What all runs share.
struct SliceRunParts {
  const WireClock* clock = nullptr;
  SlicePlanner* planner = nullptr;
  std::vector<SliceDriver*> drivers;   // the first that serves a switch is asked
  CopyCollector* collector = nullptr;  // may be null: then nothing starts
  DemandBook* demands = nullptr;
  const LatencyBook* latencies = nullptr;  // may be null
  TagPool* tags = nullptr;
  SecondBudget* shared = nullptr;  // of all campaigns together
  std::function<void()> changed;   // some run's due() or state has; may be called within calls
  // What happens in a run, as it happens; called within calls.
  std::function<void(uint64_t run, const struct SliceMoment& moment)> happened;
  std::function<void(const char* level, const std::string& text)> log;
};

enum class SliceRunState : uint8_t {
  kPlanning,
  kHolding,  // until the budget has room
  kTurningOn,
  kMirroring,
  kTallying,
  kFinishing,  // the analyzer
  kDone,
  kStopped,  // by somebody
  kFailed,
};

const char* NameOf(SliceRunState state);
inline bool IsOver(SliceRunState state) { return state >= SliceRunState::kDone; }

// One query of a run: what was asked of it, and what came.
struct SliceQueryView {
  std::string name;
  Prefix prefix;
  bool is_confine = false;
  bool is_bootstrap = false;  // a first look at the prefix
  std::vector<std::string> path;
  std::vector<std::string> locations;
  int64_t cost_bps = 0;
  uint32_t slots = 0;     // that it was on in
  uint64_t packets = 0;   // that arrived at the analyzer
  uint64_t bytes = 0;     // with their tunnels' headers
  uint64_t withheld = 0;  // packets beyond a cap
};

// What can happen to a run.
struct SliceMoment {
  enum class Kind : uint8_t { kRunBegun, kSlotBegun, kSlotEnded, kOverBudget, kRunEnded };
  Kind kind = Kind::kRunBegun;
  uint32_t slot = 0;       // of this run, with those that only look; from 1; 0: it is of no slot
  int64_t slot_bytes = 0;  // copied in the slot that has ended
};

const char* NameOf(SliceMoment::Kind kind);

struct SliceRunSummary {
  uint64_t run = 0;
  SliceRunState state = SliceRunState::kPlanning;
  std::string problem;   // why it failed or was stopped
  Nanos started = 0;     // wall clock
  Nanos ended = 0;       // 0: not yet
  uint32_t planned = 0;  // slots of the plan in force that are still to come
  uint32_t slots = 0;    // that were run, without those that looked at unknown prefixes
  uint32_t bootstrap_slots = 0;
  uint32_t failed_slots = 0;  // that some switch could not be turned on for
  uint32_t over_budget = 0;   // slots after which it had to plan again
  uint32_t replans = 0;
  bool has_topology_changed = false;
  Nanos slot = 0;
  Nanos spacing = 0;
  int64_t copied_bytes = 0;  // as routers and the analyzer say, the larger counts
  std::vector<std::string> warnings;
};

struct SliceRunView : SliceRunSummary {
  std::vector<SliceQueryView> queries;
  std::string explanation;
  std::string answers;  // of the analyzer, JSON
};

class CampaignRun {
 public:
  CampaignRun(const SliceRunParts& parts, const SliceRunOptions& options, uint64_t run,
              std::string source_name, std::string text, SliceCampaign campaign,
              std::shared_ptr<const SliceMap> map, Nanos spacing);
  ~CampaignRun();
  CampaignRun(const CampaignRun&) = delete;
  CampaignRun& operator=(const CampaignRun&) = delete;

  void Start();
  // When to be stepped (monotonic); INT64_MAX: only answers can move it.
  Nanos due() const { return due_; }
  void Step();
  // Slices are turned off at once; the answers of what there was are still asked for.
  void Stop(const std::string& why);
  // The network is another one: what is left is planned on it.  If a path or region of the plan in
  // force is touched, what was measured may be neither here nor there, and is flagged.
  void SetMap(std::shared_ptr<const SliceMap> map, const TopologyChange& change);
  // Of the driver.
  void OnEnd(const SliceEnd& end);

  bool is_over() const { return IsOver(view_.state); }
  const SliceRunView& view() const { return view_; }
  int64_t using_bps() const { return campaign_.using_bps; }
  // What the slots have shown copies to need; the next run may use it.
  Nanos spacing() const;
  // The slots still to come, for those who look.
  std::string ScheduleText() const;

 private:
  // A query in one slot.
  struct Job {
    size_t query = 0;  // of view_.queries
    int64_t cost_bps = 0;
    bool is_capped = false;  // known to be more than the budget
  };
  using SlotJobs = std::vector<Job>;

  // A slice at one switch.
  struct Place {
    std::string router;
    SliceDriver* driver = nullptr;
    bool is_answered = false;
    bool is_on = false;  // as the driver says
    bool has_ended = false;
    SliceEnd end;
  };
  struct ActiveSlice {
    uint32_t tag = 0;
    size_t query = 0;
    std::vector<Place> places;
  };

  void Plan();
  void OnPlan(Result<SlicePlanAnswer> answer);
  slice::SlicePlanOptions PlanOptions(const SliceCampaign& campaign);
  void TakePlan(slice::SlicePlan plan);
  void LookAtUnknown(const slice::SlicePlan& plan);
  Job AddQuery(const slice::PlannedQuery& planned);
  size_t NumberOf(SliceQueryView query, const std::string& key);
  Status CheckPlaces(const SlotJobs& jobs) const;
  Nanos LongestLatency() const;
  void TellLatencies();
  SliceDriver* DriverOf(const std::string& router) const;

  // campaign_slots.cc
  SlotJobs NextJobs() const;
  void NextSlot();
  void EndOfSlots();
  void TurnOn(SlotJobs jobs);
  void ExpectAndTurnOn();
  SliceSpec SpecOf(const ActiveSlice& slice) const;
  void OnTurnedOn(uint64_t attempt, size_t slice, size_t place, const Status& status);
  void AllAnswered();
  void FailSlot(const std::string& why);
  void AskTallies();
  void OnTallies(uint64_t attempt, const Result<std::vector<SliceTally>>& tallies);
  void CloseSlot();
  bool AwaitsCopies();
  int64_t CountSlice(const ActiveSlice& slice, Nanos now);
  void TurnOffAll();
  void ReleaseSlot(int64_t bytes);
  bool HasEnded() const;
  bool HasCome(const ActiveSlice& slice, const Place& place) const;

  bool StoodStill();
  void Finish(SliceRunState state, const std::string& problem);
  void End();
  void SetState(SliceRunState state, Nanos due);
  void Tell(SliceMoment::Kind kind, int64_t slot_bytes);
  void Warn(const std::string& text);
  Nanos Now() const { return parts_.clock->MonotonicNow(); }
  Nanos WallAhead() const { return parts_.clock->UnixNow() - Now(); }
  int64_t SlotBytes() const;
  // Drops calls back into a run that has gone.
  template <typename Argument, typename Action>
  std::function<void(Argument)> Guarded(Action action) {
    return [alive = std::weak_ptr<bool>(alive_), action](Argument argument) {
      if (!alive.expired()) action(std::forward<Argument>(argument));
    };
  }

  const SliceRunParts& parts_;
  const SliceRunOptions& options_;
  const std::string source_name_;
  const std::string text_;
  const SliceCampaign campaign_;
  std::shared_ptr<const SliceMap> map_;
  SliceRunView view_;
  SecondBudget budget_;
  Nanos due_ = INT64_MAX;
  Nanos began_ = 0;  // the first slot of the campaign proper; monotonic, 0: not yet
  bool is_plan_stale_ = false;
  bool has_expected_ = false;  // the analyzer knows of this run

  // --- the plan in force ---
  std::shared_ptr<const SliceMap> planned_on_;
  Nanos slot_ = 0;
  SlotJobs confined_;  // in every slot
  SlotJobs mirrored_;  // as numbered in schedule_
  std::vector<slice::Slot> schedule_;
  size_t slot_count_ = 0;
  size_t next_slot_ = 0;
  bool is_looking_ = false;  // at prefixes of unknown demand
  bool is_of_rest_ = false;  // the plan is for time that was left after the slots of one before
  int looks_ = 0;
  std::map<std::string, size_t> known_;  // queries, by what they are

  // --- the slot under way ---
  uint64_t attempt_ = 0;
  int failures_ = 0;  // in a row
  SlotJobs current_;
  std::vector<ActiveSlice> active_;
  size_t unanswered_ = 0;   // places
  std::string failure_;     // of one of them
  Nanos slot_began_ = 0;    // monotonic
  Nanos expected_end_ = 0;  // wall clock
  Nanos wall_ahead_ = 0;    // of the monotonic clock, when the slot began
  int64_t reserved_ = 0;    // bytes
  bool has_tallies_ = false;
  bool has_stood_still_ = false;  // this process, since it has asked
  int waits_ = 0;                 // for copies that had not come
  Nanos waited_ = 0;              // likewise
  std::map<std::pair<uint32_t, std::string>, SliceTally> tallies_;  // by tag and switch

  Nanos spacing_;
  Nanos slowest_ = 0;   // from router to analyzer, in this run
  Nanos overhead_ = 0;  // of a slot, for asking and answering
  // DURING has no room for that beside the slots that the queries need, so it is not counted.
  bool is_overtime_ = false;
  std::set<std::string> silent_;                     // routers whose copies were waited for in vain
  SliceRunState last_state_ = SliceRunState::kDone;  // after kFinishing
  // Gone with this run, so that answers know.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_CAMPAIGN_RUN_H
