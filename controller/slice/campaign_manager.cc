// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/slice/campaign_manager.h"

#include <algorithm>
#include <set>
#include <utility>

#include "controller/plan/topology_change.h"

namespace trumpet {
namespace {

std::string SourceOf(const std::string& name) { return "campaign " + name; }

bool MaySee(const Caller& caller, const EventRecord& record) {
  return caller.tenant.empty() || caller.tenant == record.tenant;
}

}  // namespace

CampaignManager::CampaignManager(const CampaignParts& parts, const CampaignOptions& options)
    : parts_(parts),
      options_(options),
      demands_(options.demand_memory),
      // Another controller may have used low ones a moment ago.
      tags_(static_cast<uint32_t>(parts.clock->UnixNow() / kNanosPerMilli % kMaxSliceTag)),
      shared_(options.budget_bps),
      // Numbers rise over restarts, for no controller has a piece of news each microsecond.
      feed_(static_cast<uint64_t>(parts.clock->UnixNow() / kNanosPerMicro)) {
  run_parts_.clock = parts_.clock;
  run_parts_.planner = parts_.planner;
  run_parts_.demands = &demands_;
  run_parts_.tags = &tags_;
  run_parts_.shared = &shared_;
  run_parts_.changed = [this] { Touch(); };
  run_parts_.happened = [this](uint64_t run, const SliceMoment& moment) { OnMoment(run, moment); };
  run_parts_.log = parts_.log;
  if (parts_.reports != nullptr) parts_.reports->Add(this);
}

CampaignManager::~CampaignManager() {
  if (parts_.reports != nullptr) parts_.reports->Remove(this);
}

void CampaignManager::AddDriver(SliceDriver* driver) {
  run_parts_.drivers.push_back(driver);
  driver->OnEnd([this, alive = std::weak_ptr<bool>(alive_)](const SliceEnd& end) {
    if (alive.expired()) return;
    for (const auto& [name, live] : campaigns_) {
      if (live->run) live->run->OnEnd(end);
    }
    for (const auto& live : leaving_) live->run->OnEnd(end);
  });
}

void CampaignManager::SetTopology(const Topology& topology) {
  OnTopologyChange(topology, CompareTopologies(topology_, topology));
}

void CampaignManager::OnTopologyChange(const Topology& topology, const TopologyChange& change) {
  topology_ = topology;
  // Prefixes may have moved even if no link has.
  map_ = std::make_shared<SliceMap>(MakeSliceMap(topology, map_->version + 1));
  if (change.is_empty()) return;
  for (const auto& [name, live] : campaigns_) {
    if (live->run) live->run->SetMap(map_, change);
  }
}

void CampaignManager::Touch() {
  is_touched_ = true;
  if (parts_.due_changed) parts_.due_changed();
}

// --- what is stored ---

void CampaignManager::OnEventsLoaded(const StoreIdentity&, std::vector<EventRecord> records) {
  std::set<std::string> names;
  for (EventRecord& record : records) {
    names.insert(record.name);
    Take(std::move(record), false);
  }
  std::vector<std::string> gone;
  for (const auto& [name, live] : campaigns_) {
    if (names.count(name) == 0) gone.push_back(name);
  }
  for (const std::string& name : gone) Drop(name);
  is_loaded_ = true;
  Touch();
}

void CampaignManager::OnEventsChanged(std::vector<EventChange> changes) {
  for (EventChange& change : changes) {
    if (change.put) {
      Take(std::move(*change.put), true);
    } else {
      Drop(change.name);
    }
  }
  Touch();
}

void CampaignManager::OnStoreState(StoreState state, const std::string& text) {
  is_store_ready_ = state == StoreState::kReady;
  store_state_ = text;
  Touch();
}

void CampaignManager::Take(EventRecord record, bool is_new) {
  const auto known = campaigns_.find(record.name);
  if (known != campaigns_.end() && known->second->view.record.id == record.id) {
    Live* const live = known->second.get();
    const bool was_enabled = live->view.record.is_enabled;
    live->view.record = std::move(record);
    if (was_enabled == live->view.record.is_enabled) return;
    if (was_enabled && live->run) live->run->Stop("it was disabled");
    live->view.is_waiting = false;
    return SetNext(live, true);
  }
  Drop(record.name);
  auto live = std::make_unique<Live>();
  live->view.record = std::move(record);
  CampaignView& view = live->view;
  const std::string source = SourceOf(view.record.name);
  auto definition = ReadCampaignDefinition(view.record.definition, view.record.name, source);
  if (definition) {
    view.definition = std::move(*definition);
    view.campaign = *ParseSlices(view.definition.text, source);
  } else {
    view.problem = definition.message();
    Log("err", source + ": " + view.problem);
  }
  SetNext(live.get(), is_new);
  campaigns_[view.record.name] = std::move(live);
}

void CampaignManager::Drop(const std::string& name) {
  const auto found = campaigns_.find(name);
  if (found == campaigns_.end()) return;
  std::unique_ptr<Live> live = std::move(found->second);
  campaigns_.erase(found);
  if (!live->run) return;
  live->run->Stop("it was removed or replaced");
  leaving_.push_back(std::move(live));
}

// A new one runs at once; one that was there before goes on in its own time.
void CampaignManager::SetNext(Live* live, bool is_new) {
  live->next = INT64_MAX;
  const CampaignView& view = live->view;
  if (!view.record.is_enabled || !view.problem.empty() || IsTriggered(*live)) return;
  const Nanos now = parts_.clock->MonotonicNow();
  if (is_new) {
    live->next = now;
    return;
  }
  const Nanos every = view.campaign.every;
  const Nanos age = std::max<Nanos>(parts_.clock->UnixNow() - view.record.changed_ns, 0);
  live->next = now + (every - age % every);
}

// --- what users ask for ---

CampaignManager::Live* CampaignManager::FindLive(const std::string& name, const Caller& caller) {
  return const_cast<Live*>(std::as_const(*this).FindLive(name, caller));
}

const CampaignManager::Live* CampaignManager::FindLive(const std::string& name,
                                                       const Caller& caller) const {
  const auto found = campaigns_.find(name);
  if (found == campaigns_.end() || !MaySee(caller, found->second->view.record)) return nullptr;
  return found->second.get();
}

CampaignView CampaignManager::MakeView(const Live& live) const {
  CampaignView view = live.view;
  if (live.run) {
    view.now = &live.run->view();
    view.schedule = live.run->ScheduleText();
  }
  if (live.next != INT64_MAX) {
    view.next_start = parts_.clock->UnixNow() + (live.next - parts_.clock->MonotonicNow());
  }
  return view;
}

std::vector<CampaignView> CampaignManager::Campaigns(const Caller& caller) const {
  std::vector<CampaignView> views;
  for (const auto& [name, live] : campaigns_) {
    if (MaySee(caller, live->view.record)) views.push_back(MakeView(*live));
  }
  return views;
}

void CampaignManager::VisitPrefixes(const std::function<void(const Prefix&)>& visit) const {
  for (const auto& [name, live] : campaigns_) {
    if (!live->view.record.is_enabled) continue;
    for (const SliceQuery& query : live->view.campaign.queries) {
      for (const Prefix& prefix : query.prefixes) visit(prefix);
    }
  }
}

std::optional<CampaignView> CampaignManager::Find(const std::string& name,
                                                  const Caller& caller) const {
  const Live* const live = FindLive(name, caller);
  if (live == nullptr) return std::nullopt;
  return MakeView(*live);
}

void CampaignManager::Plan(const std::string& text, const std::string& source_name,
                           const Caller& caller, Planned done) {
  auto plan = std::make_shared<CampaignPlan>();
  plan->source_name = source_name;
  plan->map = map_;
  auto campaign = ParseSlices(text, source_name);
  Status status = campaign.status();
  CampaignDefinition definition;
  definition.text = text;
  if (campaign) status = CheckCampaignScope(definition, *campaign, source_name, caller);
  if (!status.ok()) return done(status);
  plan->campaign = *campaign;
  SlicePlanRequest request;
  request.source_name = source_name;
  request.text = text;
  request.campaign = std::move(*campaign);
  request.map = map_;
  request.is_explained = true;
  request.analyzer_at = options_.analyzer_at;
  slice::SlicePlanOptions& options = request.options;
  options.rate_bps = options_.run.unseen_bps;
  options.is_capped = true;
  options.longest_path_ms = static_cast<double>(options_.run.longest_path) / kNanosPerMilli;
  options.shortest_slice_ms = static_cast<double>(options_.run.shortest_slice) / kNanosPerMilli;
  options.spacing_ms = static_cast<double>(options_.run.least_spacing) / kNanosPerMilli;
  for (const SliceQuery& query : plan->campaign.queries) {
    for (const Prefix& prefix : query.prefixes) {
      const auto demand = demands_.Estimate(prefix, parts_.clock->MonotonicNow());
      if (!demand) continue;
      plan->demands.emplace_back(prefix, *demand);
      options.rates.push_back({prefix, std::max(demand->rate_bps, options_.run.unseen_bps)});
    }
  }
  parts_.planner->Plan(std::move(request), [plan, done](Result<SlicePlanAnswer> answer) {
    if (!answer) return done(answer.status());
    plan->answer = std::move(*answer);
    done(std::move(*plan));
  });
}

Status CampaignManager::CheckPut(const CampaignDefinition& definition,
                                 const SliceCampaign& campaign, const std::string& source_name,
                                 const Caller& caller) const {
  const auto known = campaigns_.find(definition.name);
  const bool is_known = known != campaigns_.end();
  if (is_known && !MaySee(caller, known->second->view.record)) {
    return Status::Error("the name '" + definition.name + "' is taken");
  }
  if (options_.budget_bps > 0 && campaign.using_bps > options_.budget_bps) {
    return Status::Error("campaign '" + definition.name + "' asks for " +
                         std::to_string(campaign.using_bps) + " b/s, and all campaigns together " +
                         "may copy " + std::to_string(options_.budget_bps));
  }
  if (!is_known && campaigns_.size() >= options_.max_campaigns) {
    return Status::Error("there are " + std::to_string(campaigns_.size()) +
                         " campaigns already, and no more are allowed");
  }
  const auto is_own = [&](const auto& entry) {
    return entry.second->view.record.tenant == caller.tenant;
  };
  const auto own = std::count_if(campaigns_.begin(), campaigns_.end(), is_own);
  if (!is_known && !caller.tenant.empty() &&
      static_cast<size_t>(own) >= options_.max_campaigns_per_tenant) {
    return Status::Error("tenant '" + caller.tenant + "' has " + std::to_string(own) +
                         " campaigns already, and no more are allowed");
  }
  return CheckCampaignScope(definition, campaign, source_name, caller);
}

void CampaignManager::Put(const CampaignDefinition& definition, const std::string& source_name,
                          const Caller& caller, std::optional<uint32_t> expected_id, Changed done) {
  const auto campaign = ParseSlices(definition.text, source_name);
  if (!campaign) return done(campaign.status());
  const Status status = CheckPut(definition, *campaign, source_name, caller);
  if (!status.ok()) return done(status);
  const auto known = campaigns_.find(definition.name);
  EventChange change;
  change.name = definition.name;
  change.expected_id = expected_id;
  EventRecord record;
  if (known != campaigns_.end()) record = known->second->view.record;
  record.name = definition.name;
  record.definition = PrintCampaignDefinition(definition);
  record.changed_ns = parts_.clock->UnixNow();
  if (record.created_ns == 0) {
    record.created_ns = record.changed_ns;
    record.tenant = caller.tenant;
  }
  record.changed_by = caller.name;
  const uint32_t id = record.id;
  change.put = std::move(record);
  // The same again is no new campaign, but its user wants to see it run.
  Write(std::move(change), [this, alive = std::weak_ptr<bool>(alive_), id, caller,
                            done = std::move(done)](Result<EventRecord> written) {
    const bool is_same = written.ok() && id != 0 && written->id == id;
    const Live* const live =
        is_same && !alive.expired() ? FindLive(written->name, caller) : nullptr;
    if (live != nullptr && live->view.record.is_enabled && !live->run && !IsTriggered(*live)) {
      Await(FindLive(written->name, caller));
    }
    done(std::move(written));
  });
}

void CampaignManager::Remove(const std::string& name, const Caller& caller, Changed done) {
  const Live* const live = FindLive(name, caller);
  if (live == nullptr) return done(Status::Error("there is no campaign named '" + name + "'"));
  EventChange change;
  change.name = name;
  change.expected_id = live->view.record.id;
  Write(std::move(change), std::move(done));
}

void CampaignManager::SetEnabled(const std::string& name, bool is_enabled, const Caller& caller,
                                 Changed done) {
  const Live* const live = FindLive(name, caller);
  if (live == nullptr) return done(Status::Error("there is no campaign named '" + name + "'"));
  EventChange change;
  change.name = name;
  change.expected_id = live->view.record.id;
  change.put = live->view.record;
  change.put->is_enabled = is_enabled;
  change.put->changed_ns = parts_.clock->UnixNow();
  change.put->changed_by = caller.name;
  Write(std::move(change), std::move(done));
}

void CampaignManager::Write(EventChange change, Changed done) {
  EventRecord record = change.put ? *change.put : EventRecord();
  record.name = change.name;
  std::vector<EventChange> changes;
  changes.push_back(std::move(change));
  parts_.store->Write(std::move(changes), [record = std::move(record), done = std::move(done)](
                                              const Result<std::vector<uint32_t>>& ids) mutable {
    if (!ids) return done(ids.status());
    record.id = ids->front();
    done(std::move(record));
  });
}

Status CampaignManager::RunNow(const std::string& name, const Caller& caller) {
  Live* const live = FindLive(name, caller);
  if (live == nullptr) return Status::Error("there is no campaign named '" + name + "'");
  if (!live->view.problem.empty()) return Status::Error(live->view.problem);
  if (live->run) return Status::Error("campaign '" + name + "' is running already");
  Await(live);
  return Status::Ok();
}

Status CampaignManager::StopRun(const std::string& name, const Caller& caller) {
  Live* const live = FindLive(name, caller);
  if (live == nullptr) return Status::Error("there is no campaign named '" + name + "'");
  const bool was_waiting = std::exchange(live->view.is_waiting, false);
  if (!live->run && !was_waiting) return Status::Error("campaign '" + name + "' does not run now");
  if (live->run) live->run->Stop("stopped by " + caller.name);
  Touch();
  return Status::Ok();
}

}  // namespace trumpet
