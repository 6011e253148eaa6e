// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/slice/campaign_run.h"

#include <algorithm>
#include <set>

#include "controller/plan/slice/schedule.h"

namespace trumpet {
namespace {

constexpr int64_t kNominalBps = 1000;  // only to find the paths of what nobody knows
constexpr size_t kMaxLooks = 20;       // slots that look at all unknown prefixes of a run
constexpr Nanos kStandstill = 100 * kNanosPerMilli;  // of this process: no step is so late else
constexpr double kPlanShare = 8;  // of the time left, for a plan that nothing waits for
constexpr size_t kMaxWarnings = 20;

}  // namespace

const char* NameOf(SliceRunState state) {
  switch (state) {
    case SliceRunState::kPlanning:
      return "planning";
    case SliceRunState::kHolding:
      return "holding";
    case SliceRunState::kTurningOn:
      return "turning-on";
    case SliceRunState::kMirroring:
      return "mirroring";
    case SliceRunState::kTallying:
      return "tallying";
    case SliceRunState::kFinishing:
      return "finishing";
    case SliceRunState::kDone:
      return "done";
    case SliceRunState::kStopped:
      return "stopped";
    case SliceRunState::kFailed:
      break;
  }
  return "failed";
}

const char* NameOf(SliceMoment::Kind kind) {
  switch (kind) {
    case SliceMoment::Kind::kRunBegun:
      return "run-begun";
    case SliceMoment::Kind::kSlotBegun:
      return "slot-begun";
    case SliceMoment::Kind::kSlotEnded:
      return "slot-ended";
    case SliceMoment::Kind::kOverBudget:
      return "over-budget";
    case SliceMoment::Kind::kRunEnded:
      break;
  }
  return "run-ended";
}

CampaignRun::CampaignRun(const SliceRunParts& parts, const SliceRunOptions& options, uint64_t run,
                         std::string source_name, std::string text, SliceCampaign campaign,
                         std::shared_ptr<const SliceMap> map, Nanos spacing)
    : parts_(parts),
      options_(options),
      source_name_(std::move(source_name)),
      text_(std::move(text)),
      campaign_(std::move(campaign)),
      map_(std::move(map)),
      budget_(campaign_.using_bps),
      spacing_(std::clamp(spacing, options.least_spacing, options.most_spacing)) {
  view_.run = run;
  view_.started = parts_.clock->UnixNow();
}

CampaignRun::~CampaignRun() = default;

void CampaignRun::Start() { Plan(); }

void CampaignRun::SetState(SliceRunState state, Nanos due) {
  view_.state = state;
  due_ = due;
  if (parts_.changed) parts_.changed();
}

void CampaignRun::Tell(SliceMoment::Kind kind, int64_t slot_bytes) {
  if (!parts_.happened) return;
  parts_.happened(view_.run, {kind, view_.slots + view_.bootstrap_slots + 1, slot_bytes});
}

// Once of each text.
void CampaignRun::Warn(const std::string& text) {
  auto& known = view_.warnings;
  const bool is_known = std::find(known.begin(), known.end(), text) != known.end();
  if (known.size() < kMaxWarnings && !is_known) known.push_back(text);
}

// Once for each question: after that, somebody else is slow.
bool CampaignRun::StoodStill() {
  const bool waits = view_.state == SliceRunState::kTurningOn ||
                     (view_.state == SliceRunState::kTallying && !has_tallies_);
  if (!waits || has_stood_still_ || Now() - due_ < kStandstill) return false;
  has_stood_still_ = true;
  return true;
}

void CampaignRun::Step() {
  if (Now() < due_) return;
  // The answers may have come meanwhile, and nobody has read them.
  if (StoodStill()) return SetState(view_.state, Now() + options_.patience);
  switch (view_.state) {
    case SliceRunState::kHolding:
      return NextSlot();
    case SliceRunState::kTurningOn:
      if (failure_.empty()) failure_ = "a switch does not answer";
      return AllAnswered();
    case SliceRunState::kMirroring:
      return AskTallies();
    case SliceRunState::kTallying:
      if (has_tallies_) return CloseSlot();
      TurnOffAll();
      ReleaseSlot(reserved_);
      return FailSlot("the analyzer does not answer");
    case SliceRunState::kFinishing:
      view_.warnings.push_back("the analyzer gave no answers");
      return End();
    case SliceRunState::kPlanning:
    case SliceRunState::kDone:
    case SliceRunState::kStopped:
    case SliceRunState::kFailed:
      due_ = INT64_MAX;
  }
}

void CampaignRun::Stop(const std::string& why) {
  if (is_over() || view_.state == SliceRunState::kFinishing) return;
  if (!active_.empty()) {
    TurnOffAll();
    ReleaseSlot(reserved_);
  }
  Finish(SliceRunState::kStopped, why);
}

void CampaignRun::SetMap(std::shared_ptr<const SliceMap> map, const TopologyChange& change) {
  if (is_over() || view_.state == SliceRunState::kFinishing) return;
  map_ = std::move(map);
  is_plan_stale_ = true;
  const auto is_touched = [&](const Job& job) {
    return change.Touches(view_.queries[job.query].path);
  };
  view_.has_topology_changed |= std::any_of(mirrored_.begin(), mirrored_.end(), is_touched) ||
                                std::any_of(confined_.begin(), confined_.end(), is_touched);
}

Nanos CampaignRun::spacing() const {
  const Nanos needed = slowest_ > 0 ? slowest_ + kNanosPerMilli : spacing_;
  return std::clamp(needed, options_.least_spacing, options_.most_spacing);
}

int64_t CampaignRun::SlotBytes() const {
  return static_cast<int64_t>(Int128{campaign_.using_bps} * slot_ / kNanosPerSecond / 8);
}

// --- planning ---

slice::SlicePlanOptions CampaignRun::PlanOptions(const SliceCampaign& campaign) {
  slice::SlicePlanOptions options;
  options.is_capped = true;
  options.longest_path_ms = static_cast<double>(options_.longest_path) / kNanosPerMilli;
  options.shortest_slice_ms = static_cast<double>(options_.shortest_slice) / kNanosPerMilli;
  const Nanos between = spacing_ + (is_overtime_ ? 0 : overhead_);
  options.spacing_ms = static_cast<double>(between) / kNanosPerMilli;
  options.seconds = options_.plan_seconds;
  is_looking_ = false;
  const bool may_look = looks_ < options_.bootstrap_slots && began_ == 0;
  options.rate_bps = may_look ? kNominalBps : options_.unseen_bps;
  std::set<std::string> seen;
  for (const SliceQuery& query : campaign.queries) {
    if (query.action == SliceAction::kConfine) continue;
    for (const Prefix& prefix : query.prefixes) {
      if (!seen.insert(PrintPrefix(prefix)).second) continue;
      const auto demand = parts_.demands->Estimate(prefix, Now());
      if (demand) {
        options.rates.push_back({prefix, std::max(demand->rate_bps, options_.unseen_bps)});
      } else if (may_look) {
        is_looking_ = true;
      }
    }
  }
  return options;
}

// From any router to the analyzer, as probes say.
Nanos CampaignRun::LongestLatency() const {
  Nanos longest = 0;
  for (const LatencyView& view : parts_.latencies->All(Now())) {
    const CopyLatency& latency = view.latency;
    if (!map_->network.Find(latency.switch_name)) continue;
    longest = std::max(longest, latency.latency + latency.error);
  }
  return longest;
}

void CampaignRun::Plan() {
  is_plan_stale_ = false;
  if (parts_.latencies != nullptr) {
    spacing_ = std::clamp(std::max(spacing_, LongestLatency() + kNanosPerMilli),
                          options_.least_spacing, options_.most_spacing);
  }
  SlicePlanRequest request;
  request.source_name = source_name_;
  request.text = text_;
  request.campaign = campaign_;
  request.map = planned_on_ = map_;
  request.options = PlanOptions(campaign_);
  request.is_explained = view_.explanation.empty() && !is_looking_;
  if (began_ != 0) {
    request.campaign.during = began_ + campaign_.during - Now();
    const auto cycle = slice::NanosOf(request.options.spacing_ms) + slot_;
    if (request.campaign.during < cycle) return Finish(SliceRunState::kDone, "");
    if (is_of_rest_) {
      const double left_s = static_cast<double>(request.campaign.during) / kNanosPerSecond;
      request.options.seconds = std::min(request.options.seconds, left_s / kPlanShare);
    }
  }
  SetState(SliceRunState::kPlanning, INT64_MAX);
  parts_.planner->Plan(std::move(request),
                       Guarded<Result<SlicePlanAnswer>>(
                           [this](Result<SlicePlanAnswer> answer) { OnPlan(std::move(answer)); }));
}

void CampaignRun::OnPlan(Result<SlicePlanAnswer> answer) {
  if (view_.state != SliceRunState::kPlanning) return;  // stopped meanwhile
  if (is_plan_stale_) {  // of a network that is gone, whether it could be planned there or not
    ++view_.replans;
    return Plan();
  }
  if (!answer) {
    if (is_of_rest_) return Finish(SliceRunState::kDone, "");
    if (began_ == 0 && overhead_ > 0 && !is_overtime_) {
      is_overtime_ = true;  // perhaps it was only for that
      return Plan();
    }
    // Else there is only too little time left for another slot of each.
    if (began_ == 0 || view_.has_topology_changed) {
      return Finish(SliceRunState::kFailed, answer.message());
    }
    view_.warnings.push_back("what was left was not planned: " + answer.message());
    return Finish(SliceRunState::kDone, "");
  }
  if (!answer->explanation.empty()) view_.explanation = std::move(answer->explanation);
  for (const std::string& warning : answer->plan.warnings) Warn(warning);
  if (is_overtime_) {
    Warn("it takes longer than DURING, for switches and the analyzer need time between its slots");
  }
  TakePlan(std::move(answer->plan));
  SlotJobs all = confined_;
  all.insert(all.end(), mirrored_.begin(), mirrored_.end());
  const Status status = CheckPlaces(all);
  if (!status.ok()) return Finish(SliceRunState::kFailed, status.message());
  if (began_ == 0 && !is_looking_) began_ = Now();
  NextSlot();
}

void CampaignRun::TakePlan(slice::SlicePlan plan) {
  slot_ = slice::NanosOf(plan.times.slot_ms);
  view_.slot = slot_;
  view_.spacing = spacing_;
  confined_.clear();
  mirrored_.clear();
  next_slot_ = 0;
  for (const slice::PlannedQuery& query : plan.confined) confined_.push_back(AddQuery(query));
  if (is_looking_) {
    LookAtUnknown(plan);
  } else {
    for (const slice::PlannedQuery& query : plan.mirrored) mirrored_.push_back(AddQuery(query));
    schedule_ = std::move(plan.schedule.slots);
    slot_count_ = static_cast<size_t>(plan.times.slots);
  }
  view_.planned = static_cast<uint32_t>(slot_count_);
}

// One slot for each, at all routers of its paths; the caps keep it within the budget.  Of very many
// prefixes several share a slot.
void CampaignRun::LookAtUnknown(const slice::SlicePlan& plan) {
  ++looks_;
  std::map<std::string, SliceQueryView> looks;
  for (const slice::PlannedQuery& planned : plan.mirrored) {
    if (parts_.demands->Estimate(planned.prefix, Now())) continue;
    SliceQueryView& query = looks[PrintPrefix(planned.prefix)];
    query.prefix = planned.prefix;
    query.is_bootstrap = true;
    query.cost_bps = campaign_.using_bps;
    for (const std::string& router : planned_on_->network.NamesOf(planned.routers)) {
      if (std::find(query.path.begin(), query.path.end(), router) != query.path.end()) continue;
      query.path.push_back(router);
    }
    query.locations = query.path;
  }
  const size_t in_slot = (looks.size() + kMaxLooks - 1) / kMaxLooks;
  schedule_.clear();
  for (auto& [prefix, query] : looks) {
    if (mirrored_.size() % in_slot == 0) schedule_.emplace_back();
    schedule_.back().push_back(static_cast<int>(mirrored_.size()));
    std::string key = "look " + prefix;
    for (const std::string& router : query.path) key += " " + router;
    mirrored_.push_back({NumberOf(std::move(query), key), campaign_.using_bps, true});
  }
  slot_count_ = schedule_.size();
}

size_t CampaignRun::NumberOf(SliceQueryView query, const std::string& key) {
  const auto [found, is_new] = known_.emplace(key, view_.queries.size());
  if (is_new) view_.queries.push_back(std::move(query));
  return found->second;
}

CampaignRun::Job CampaignRun::AddQuery(const slice::PlannedQuery& planned) {
  const SliceQuery& asked = campaign_.queries[planned.query];
  SliceQueryView query;
  query.name = asked.name;
  query.prefix = planned.prefix;
  query.is_confine = asked.action == SliceAction::kConfine;
  query.path = planned_on_->network.NamesOf(planned.routers);
  query.locations = planned_on_->network.NamesOf(planned.locations);
  query.cost_bps = planned.cost_bps;
  std::string key = std::to_string(planned.query) + " " + std::to_string(planned.region) + " " +
                    PrintPrefix(planned.prefix);
  for (const auto* routers : {&query.path, &query.locations}) {
    key += " on";
    for (const std::string& router : *routers) key += " " + router;
  }
  const size_t number = NumberOf(std::move(query), key);
  view_.queries[number].cost_bps = planned.cost_bps;
  return {number, planned.cost_bps, planned.is_capped};
}

SliceDriver* CampaignRun::DriverOf(const std::string& router) const {
  for (SliceDriver* driver : parts_.drivers) {
    if (driver->Serves(router)) return driver;
  }
  return nullptr;
}

Status CampaignRun::CheckPlaces(const SlotJobs& jobs) const {
  if (parts_.collector == nullptr || !parts_.collector->is_ready()) {
    return Status::Error("no analyzer is there to take the copies");
  }
  std::set<std::string> routers;
  for (const Job& job : jobs) {
    const auto& locations = view_.queries[job.query].locations;
    routers.insert(locations.begin(), locations.end());
  }
  for (const std::string& router : routers) {
    if (DriverOf(router) != nullptr) continue;
    return Status::Error("slices cannot be turned on at switch " + slice::QuoteName(router) +
                         ": neither its datapath nor its OpenFlow port is connected");
  }
  return Status::Ok();
}

// --- the end ---

void CampaignRun::Finish(SliceRunState state, const std::string& problem) {
  last_state_ = state;
  view_.problem = problem;
  if (!has_expected_ || parts_.collector == nullptr) return End();
  if (!parts_.collector->is_ready()) {
    parts_.collector->Finish(view_.run, [](const auto&) {});  // who comes later need not expect it
    return End();
  }
  TellLatencies();
  SetState(SliceRunState::kFinishing, Now() + options_.finish_patience);
  parts_.collector->Finish(view_.run,
                           Guarded<const Result<std::string>&>([this](const auto& answers) {
                             if (is_over()) return;
                             if (answers) view_.answers = *answers;
                             if (!answers) {
                               view_.warnings.push_back("no answers: " + answers.message());
                             }
                             End();
                           }));
}

void CampaignRun::TellLatencies() {
  if (parts_.latencies == nullptr) return;
  std::set<std::string> routers;
  for (const SliceQueryView& query : view_.queries) {
    routers.insert(query.locations.begin(), query.locations.end());
  }
  std::vector<CopyLatency> latencies;
  for (const std::string& router : routers) {
    const auto view = parts_.latencies->Find(router, Now());
    if (view) latencies.push_back(view->latency);
  }
  parts_.collector->SetLatencies(view_.run, latencies);
}

void CampaignRun::End() {
  view_.ended = parts_.clock->UnixNow();
  view_.planned = 0;
  SetState(last_state_, INT64_MAX);
}

std::string CampaignRun::ScheduleText() const {
  std::string text;
  for (size_t slot = next_slot_; slot < slot_count_ && !is_over(); ++slot) {
    if (slot - next_slot_ == 100) return text + "...\n";
    text += "slot " + std::to_string(slot + 1) + ":";
    for (const Job& job : confined_) text += " C" + std::to_string(job.query + 1);
    if (slot < schedule_.size()) {
      for (int number : schedule_[slot]) {
        text += " Q" + std::to_string(mirrored_[static_cast<size_t>(number)].query + 1);
      }
    }
    text += "\n";
  }
  return text;
}

}  // namespace trumpet
