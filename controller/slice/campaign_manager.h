// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CampaignManager: the campaigns of a network, from a user's text to runs and their answers.  The
// one thing that REST, commands and the daemon know of controller/slice.
//
//   text -> Put -> EventStore -> (EVERY, or an event fires) -> admission -> CampaignRun -> drivers
//
// Campaigns share one budget: what the running ones may copy together.  When there is no room for
// a campaign that is due, runs of lower priority give way to it; among equals the tenant, and then
// the campaign, that was served longest ago goes first, and nobody overtakes.
//
// A restart of the controller leaves nothing on, for slices end by themselves; campaigns go on at
// their next EVERY.
//
// Threads: one, that of the libevent loop.  It waits for nobody: Step() when due() has come.
// Lifetime: the parts must outlive it.

#ifndef TRUMPET_CONTROLLER_SLICE_CAMPAIGN_MANAGER_H
#define TRUMPET_CONTROLLER_SLICE_CAMPAIGN_MANAGER_H

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/plan/topology.h"
#include "controller/plan/topology_change.h"
#include "controller/slice/campaign_definition.h"
#include "controller/slice/campaign_feed.h"
#include "controller/slice/campaign_run.h"
#include "controller/store/event_store.h"
#include "controller/tem/caller.h"
#include "controller/tem/report_hub.h"

namespace trumpet {

struct CampaignOptions {
  SliceRunOptions run;
  int64_t budget_bps = 100'000'000;  // of all campaigns together; 0: no limit
  size_t max_campaigns = 1024;
  size_t max_campaigns_per_tenant = 64;
  size_t max_running = 16;
  std::string analyzer_at;  // router that the analyzer is behind, for plans; or empty
  Nanos demand_memory = DemandBook::kDefaultMemory;
};

struct CampaignParts {
  const WireClock* clock = nullptr;
  EventStore* store = nullptr;  // of campaigns, not of events
  SlicePlanner* planner = nullptr;
  ReportHub* reports = nullptr;       // may be null: nothing triggers then
  std::function<void()> due_changed;  // called within calls; then look at due() again
  std::function<void(const char* level, const std::string& text)> log;
};

struct CampaignView {
  static constexpr size_t kMaxEndedRuns = 100;

  EventRecord record;
  CampaignDefinition definition;
  SliceCampaign campaign;
  std::string problem;      // why a stored campaign does not run; empty: it does, or is disabled
  bool is_waiting = false;  // for room in the budget
  Nanos next_start = 0;     // wall clock; 0: when somebody, or an event, starts it
  uint64_t runs = 0;        // that have ended
  uint64_t missed = 0;      // starts, because the last run or the wait for it went on
  uint64_t triggered = 0;   // by events
  uint64_t withheld = 0;    // likewise, sooner than EVERY
  const SliceRunView* now = nullptr;         // until the next Step(); null: it does not run
  std::string schedule;                      // of that run: slots still to come
  std::shared_ptr<const SliceRunView> last;  // null: none yet
  std::deque<uint64_t> ended_runs;           // their numbers, rising; the last kMaxEndedRuns
};

// What a text would do.
struct CampaignPlan {
  SlicePlanAnswer answer;
  std::vector<std::pair<Prefix, Demand>> demands;  // as far as known
  std::string source_name;
  SliceCampaign campaign;
  std::shared_ptr<const SliceMap> map;
};

struct CampaignCounters {
  uint64_t runs_started = 0;
  uint64_t runs_done = 0;
  uint64_t runs_failed = 0;
  uint64_t runs_stopped = 0;
  uint64_t slots = 0;
  uint64_t bootstrap_slots = 0;
  uint64_t failed_slots = 0;
  uint64_t over_budget = 0;
  uint64_t replans = 0;
  uint64_t copied_bytes = 0;
  uint64_t gave_way = 0;  // runs that were stopped for others
  uint64_t triggers = 0;
  uint64_t triggers_withheld = 0;
};

class CampaignManager final : public TopologyObserver,
                              private EventStoreListener,
                              private ReportSubscriber {
 public:
  CampaignManager(const CampaignParts& parts, const CampaignOptions& options);
  ~CampaignManager() override;
  CampaignManager(const CampaignManager&) = delete;
  CampaignManager& operator=(const CampaignManager&) = delete;

  // Before Start(); asked in this order.  They must outlive the manager.
  void AddDriver(SliceDriver* driver);
  void SetCollector(CopyCollector* collector) { run_parts_.collector = collector; }
  void SetLatencies(const LatencyBook* latencies) { run_parts_.latencies = latencies; }
  void AddDemandSource(DemandSource* source) { demands_.AddSource(source); }
  // The first one; the same as OnTopologyChange() if there was one before.
  void SetTopology(const Topology& topology);
  // Runs under way plan anew; those whose routers are touched are flagged.
  void OnTopologyChange(const Topology& topology, const TopologyChange& change) override;
  // Opens the store; campaigns run from then on.
  void Start() { parts_.store->Start(this); }
  // Turns everything off and lets the store go, for another controller runs campaigns now; until
  // Start().  Not from within a call back of the store.
  void StandBy();
  // Turns everything off.
  void Stop();

  Nanos due() const;  // monotonic
  void Step();

  using Planned = std::function<void(Result<CampaignPlan>)>;
  // Nothing is changed.
  void Plan(const std::string& text, const std::string& source_name, const Caller& caller,
            Planned done);
  using Changed = std::function<void(Result<EventRecord>)>;
  // Adds or replaces; a run of what was there is stopped.  `expected_id` as in EventChange.
  void Put(const CampaignDefinition& definition, const std::string& source_name,
           const Caller& caller, std::optional<uint32_t> expected_id, Changed done);
  void Remove(const std::string& name, const Caller& caller, Changed done);
  void SetEnabled(const std::string& name, bool is_enabled, const Caller& caller, Changed done);
  // Now, or as soon as there is room.
  Status RunNow(const std::string& name, const Caller& caller);
  Status StopRun(const std::string& name, const Caller& caller);

  // By name; only what the caller may see.
  std::vector<CampaignView> Campaigns(const Caller& caller) const;
  std::optional<CampaignView> Find(const std::string& name, const Caller& caller) const;
  // Of the queries of all campaigns that may run; of several the same more than once.
  void VisitPrefixes(const std::function<void(const Prefix&)>& visit) const;

  bool is_store_ready() const { return is_store_ready_; }
  const std::string& store_state() const { return store_state_; }
  const CampaignCounters& counters() const { return counters_; }
  size_t running() const { return running_; }
  int64_t granted_bps() const { return granted_bps_; }
  const CampaignOptions& options() const { return options_; }
  bool has_analyzer() const {
    return run_parts_.collector != nullptr && run_parts_.collector->is_ready();
  }
  CopyCollector* collector() const { return run_parts_.collector; }
  CampaignFeed& feed() { return feed_; }

 private:
  struct Live {
    CampaignView view;  // without what changes while it runs
    std::unique_ptr<CampaignRun> run;
    Nanos next = INT64_MAX;    // monotonic
    Nanos served = INT64_MIN;  // when it was last started
    Nanos waits_since = 0;
    Nanos spacing = 0;
  };

  void OnEventsLoaded(const StoreIdentity& identity, std::vector<EventRecord> records) override;
  void OnEventsChanged(std::vector<EventChange> changes) override;
  void OnStoreState(StoreState state, const std::string& text) override;
  void OnReports(const ReportRows& rows) override;

  void Take(EventRecord record, bool is_new);
  void Drop(const std::string& name);
  void SetNext(Live* live, bool is_new);
  bool IsTriggered(const Live& live) const { return !live.view.definition.trigger_on.empty(); }
  Live* FindLive(const std::string& name, const Caller& caller);
  const Live* FindLive(const std::string& name, const Caller& caller) const;
  Status CheckPut(const CampaignDefinition& definition, const SliceCampaign& campaign,
                  const std::string& source_name, const Caller& caller) const;
  void Write(EventChange change, Changed done);
  CampaignView MakeView(const Live& live) const;

  void StartDue();
  void Await(Live* live);
  void Admit();
  Live* NextWaiting();
  bool MakeRoom(const Live& live);
  bool Fits(int64_t bps) const;
  void Begin(Live* live);
  void Reap();
  void Close(Live* live);
  void OnMoment(uint64_t run, const SliceMoment& moment);
  void Tell(const Live& live, const SliceMoment& moment, const SliceRunSummary& run);
  void Touch();
  void Log(const char* level, const std::string& text) const {
    if (parts_.log) parts_.log(level, text);
  }

  const CampaignParts parts_;
  const CampaignOptions options_;
  DemandBook demands_;
  TagPool tags_;
  SecondBudget shared_;
  SliceRunParts run_parts_;
  Topology topology_;
  std::shared_ptr<const SliceMap> map_ = std::make_shared<SliceMap>();
  std::map<std::string, std::unique_ptr<Live>> campaigns_;  // by name
  std::vector<std::unique_ptr<Live>> leaving_;  // removed or replaced, until their runs have ended
  std::map<std::string, Nanos> tenants_served_;
  uint64_t last_run_ = 0;
  size_t running_ = 0;
  int64_t granted_bps_ = 0;
  bool is_loaded_ = false;
  bool is_store_ready_ = false;
  bool is_stopping_ = false;
  bool is_touched_ = false;
  std::string store_state_ = "not opened yet";
  CampaignCounters counters_;
  CampaignFeed feed_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_CAMPAIGN_MANAGER_H
