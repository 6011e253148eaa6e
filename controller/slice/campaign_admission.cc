// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CampaignManager: which campaign runs when.

#include <algorithm>
#include <tuple>

#include "controller/slice/campaign_manager.h"

namespace trumpet {

Nanos CampaignManager::due() const {
  if (is_touched_) return INT64_MIN;
  Nanos due = INT64_MAX;
  for (const auto& [name, live] : campaigns_) {
    due = std::min(due, live->next);
    if (live->run) due = std::min(due, live->run->due());
  }
  for (const auto& live : leaving_) due = std::min(due, live->run->due());
  return due;
}

void CampaignManager::Step() {
  is_touched_ = false;
  for (const auto& [name, live] : campaigns_) {
    if (live->run) live->run->Step();
  }
  for (const auto& live : leaving_) live->run->Step();
  Reap();
  StartDue();
  Admit();
}

void CampaignManager::Stop() {
  is_stopping_ = true;
  for (const auto& [name, live] : campaigns_) {
    if (live->run) live->run->Stop("the controller ends");
  }
}

void CampaignManager::StandBy() {
  parts_.store->Stop();
  OnStoreState(StoreState::kStandby, "standing by: another controller runs campaigns");
  for (const auto& [name, live] : campaigns_) {
    live->view.is_waiting = false;
    if (live->run) live->run->Stop("another controller runs campaigns");
  }
}

void CampaignManager::StartDue() {
  const Nanos now = parts_.clock->MonotonicNow();
  for (const auto& [name, live] : campaigns_) {
    if (live->next > now) continue;
    const Nanos every = live->view.campaign.every;
    live->next += ((now - live->next) / every + 1) * every;
    if (live->run || live->view.is_waiting) {
      ++live->view.missed;
    } else {
      Await(live.get());
    }
  }
}

void CampaignManager::Await(Live* live) {
  live->view.is_waiting = true;
  live->waits_since = parts_.clock->MonotonicNow();
  Touch();
}

void CampaignManager::OnReports(const ReportRows& rows) {
  const Nanos now = parts_.clock->MonotonicNow();
  for (const auto& row : rows) {
    if (row->is_clear) continue;
    for (const auto& [name, live] : campaigns_) {
      CampaignView& view = live->view;
      const auto& events = view.definition.trigger_on;
      if (events.empty() || !view.record.is_enabled) continue;
      if (std::find(events.begin(), events.end(), row->event) == events.end()) continue;
      // An event of another tenant is none of this one's business.
      if (!view.record.tenant.empty() && view.record.tenant != row->tenant) continue;
      const bool is_early = live->served != INT64_MIN && now < live->served + view.campaign.every;
      if (is_early || live->run || view.is_waiting) {
        ++view.withheld;
        ++counters_.triggers_withheld;
        continue;
      }
      ++view.triggered;
      ++counters_.triggers;
      Await(live.get());
    }
  }
}

// The highest priority first; among equals, who was served longest ago.
CampaignManager::Live* CampaignManager::NextWaiting() {
  Live* next = nullptr;
  const auto rank = [this](const Live& live) {
    const auto tenant = tenants_served_.find(live.view.record.tenant);
    return std::make_tuple(-live.view.definition.priority,
                           tenant == tenants_served_.end() ? INT64_MIN : tenant->second,
                           live.served, live.waits_since);
  };
  for (const auto& [name, live] : campaigns_) {
    if (!live->view.is_waiting || live->run) continue;
    if (next == nullptr || rank(*live) < rank(*next)) next = live.get();
  }
  return next;
}

bool CampaignManager::Fits(int64_t bps) const {
  return running_ < options_.max_running &&
         (options_.budget_bps == 0 || granted_bps_ + bps <= options_.budget_bps);
}

// Runs of lower priority give way, the lowest first, if that makes room; they end in their time.
bool CampaignManager::MakeRoom(const Live& live) {
  const int64_t wanted = live.view.campaign.using_bps;
  if (Fits(wanted)) return true;
  std::vector<Live*> lower;
  int64_t leaving_bps = 0;
  bool is_leaving = !leaving_.empty();
  for (const auto& other : leaving_) leaving_bps += other->run->using_bps();
  for (const auto& [name, other] : campaigns_) {
    if (!other->run) continue;
    if (other->run->view().state == SliceRunState::kFinishing) {
      leaving_bps += other->run->using_bps();
      is_leaving = true;
    } else if (other->view.definition.priority < live.view.definition.priority) {
      lower.push_back(other.get());
    }
  }
  std::stable_sort(lower.begin(), lower.end(), [](const Live* a, const Live* b) {
    return a->view.definition.priority < b->view.definition.priority;
  });
  size_t count = 0;
  const auto has_room = [&] {
    return (is_leaving || count > 0 || running_ < options_.max_running) &&
           (options_.budget_bps == 0 || granted_bps_ - leaving_bps + wanted <= options_.budget_bps);
  };
  while (!has_room() && count < lower.size()) leaving_bps += lower[count++]->run->using_bps();
  if (!has_room()) return false;
  for (size_t i = 0; i < count; ++i) {
    lower[i]->run->Stop("it gave way to campaign '" + live.view.record.name + "'");
    ++counters_.gave_way;
  }
  return false;  // when they have ended
}

void CampaignManager::Admit() {
  // Runs go on while the database is away, but it may be another controller's now.
  if (!is_loaded_ || !is_store_ready_ || is_stopping_) return;
  while (Live* const live = NextWaiting()) {
    if (!MakeRoom(*live)) return;
    Begin(live);
  }
}

void CampaignManager::Begin(Live* live) {
  CampaignView& view = live->view;
  view.is_waiting = false;
  live->served = parts_.clock->MonotonicNow();
  tenants_served_[view.record.tenant] = live->served;
  // Numbers rise over restarts, too.
  last_run_ =
      std::max(last_run_ + 1, static_cast<uint64_t>(parts_.clock->UnixNow() / kNanosPerMilli));
  live->run = std::make_unique<CampaignRun>(run_parts_, options_.run, last_run_,
                                            "campaign " + view.record.name, view.definition.text,
                                            view.campaign, map_, live->spacing);
  ++running_;
  granted_bps_ += view.campaign.using_bps;
  ++counters_.runs_started;
  Tell(*live, {SliceMoment::Kind::kRunBegun}, live->run->view());
  live->run->Start();
}

void CampaignManager::Reap() {
  for (const auto& [name, live] : campaigns_) {
    if (live->run && live->run->is_over()) Close(live.get());
  }
  for (auto& live : leaving_) {
    if (live->run->is_over()) Close(live.get());
  }
  leaving_.erase(
      std::remove_if(leaving_.begin(), leaving_.end(), [](const auto& live) { return !live->run; }),
      leaving_.end());
}

void CampaignManager::Close(Live* live) {
  const auto run = std::make_shared<const SliceRunView>(live->run->view());
  live->spacing = live->run->spacing();
  live->view.last = run;
  ++live->view.runs;
  live->view.ended_runs.push_back(run->run);
  if (live->view.ended_runs.size() > CampaignView::kMaxEndedRuns) {
    live->view.ended_runs.pop_front();
  }
  --running_;
  granted_bps_ -= live->run->using_bps();
  counters_.runs_done += run->state == SliceRunState::kDone ? 1 : 0;
  counters_.runs_failed += run->state == SliceRunState::kFailed ? 1 : 0;
  counters_.runs_stopped += run->state == SliceRunState::kStopped ? 1 : 0;
  counters_.slots += run->slots;
  counters_.bootstrap_slots += run->bootstrap_slots;
  counters_.failed_slots += run->failed_slots;
  counters_.over_budget += run->over_budget;
  counters_.replans += run->replans;
  counters_.copied_bytes += static_cast<uint64_t>(run->copied_bytes);
  live->run.reset();
  if (run->state == SliceRunState::kFailed) {
    Log("warn", "campaign " + live->view.record.name + ": " + run->problem);
  }
  Tell(*live, {SliceMoment::Kind::kRunEnded}, *run);
}

void CampaignManager::OnMoment(uint64_t run, const SliceMoment& moment) {
  const auto is_it = [run](const Live& live) { return live.run && live.run->view().run == run; };
  for (const auto& [name, live] : campaigns_) {
    if (is_it(*live)) Tell(*live, moment, live->run->view());
  }
  for (const auto& live : leaving_) {
    if (is_it(*live)) Tell(*live, moment, live->run->view());
  }
}

void CampaignManager::Tell(const Live& live, const SliceMoment& moment,
                           const SliceRunSummary& run) {
  feed_.Publish({0, live.view.record.name, live.view.record.tenant, moment, run});
}

}  // namespace trumpet
