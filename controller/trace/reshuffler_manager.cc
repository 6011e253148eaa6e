// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/trace/reshuffler_manager.h"

#include <algorithm>
#include <utility>

namespace trumpet {
namespace {

constexpr uint64_t kSlotCookie = kOpenflowCookie | uint64_t{5} << 40;
constexpr uint64_t kBaseCookie = kOpenflowCookie | uint64_t{6} << 40;

// The lower bits of a cookie: the position of the analyzer, from 1; else what it counts.
constexpr uint64_t kReceived = 0x1000;
constexpr uint64_t kUnassigned = 0x1001;

// Flows say when somebody removes them, and are put back then.
OpenflowRule RuleOf(std::string text, uint64_t cookie) {
  text.insert(text.find(','), ",send_flow_rem");
  return {OpenflowRule::Kind::kFlow, std::move(text), cookie, true};
}

std::vector<OpenflowRule> SlotRules(const SlotTable& table) {
  std::vector<OpenflowRule> rules;
  for (ReshuffleFlow& flow : ReshuffleSlotFlows(table)) {
    rules.push_back(
        RuleOf(std::move(flow.text), kSlotCookie | (static_cast<uint64_t>(flow.member) + 1)));
  }
  return rules;
}

// Of slots that are somebody else's than before.
std::vector<OpenflowRule> ChangedSlots(const SlotTable& before, const SlotTable& after) {
  SlotTable changed(after.size(), kNoMember);
  for (size_t slot = 0; slot < after.size(); ++slot) {
    if (after[slot] != before[slot]) changed[slot] = after[slot];
  }
  return SlotRules(changed);
}

std::vector<size_t> SlotCounts(const SlotTable& table, size_t members) {
  std::vector<size_t> counts(members);
  for (const int member : table) {
    if (member != kNoMember) ++counts[static_cast<size_t>(member)];
  }
  return counts;
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::vector<std::string> NamesOf(const std::vector<ReshuffleTarget>& targets) {
  std::vector<std::string> names;
  names.reserve(targets.size());
  for (const ReshuffleTarget& target : targets) names.push_back(target.member.name);
  return names;
}

}  // namespace

OpenflowClaim ReshuffleClaim() { return ClaimOfKind(kSlotCookie); }

std::vector<OpenflowRule> ReshuffleBase(const ReshuffleBridge& bridge,
                                        const std::vector<ReshuffleTarget>& targets) {
  std::vector<std::string> addresses;
  addresses.reserve(targets.size());
  for (const ReshuffleTarget& target : targets) addresses.push_back(target.address);
  std::vector<OpenflowRule> rules;
  rules.push_back({OpenflowRule::Kind::kGroup, ReshuffleGroupText(), 0, true});
  const std::vector<ReshuffleFlow> flows = ReshuffleBaseFlows(bridge, addresses);
  for (const ReshuffleFlow& flow : flows) {
    uint64_t what = flow.member == kNoMember ? 0 : static_cast<uint64_t>(flow.member) + 1;
    if (&flow == &flows.front()) what = kReceived;
    if (&flow == &flows.back()) what = kUnassigned;
    rules.push_back(RuleOf(flow.text, kBaseCookie | what));
  }
  return rules;
}

ReshufflerManager::ReshufflerManager(const ReshufflerParts& parts)
    : parts_(parts),
      ticker_(parts.base, [this] { Tick(); }),
      counter_(parts.base, [this] { Count(); }) {
  for (const ReshuffleTarget& target : parts_.targets) members_.push_back(target.member);
  const std::vector<bool> all(members_.size(), true);
  home_slots_ = SlotCounts(PlanSlots(members_, all), members_.size());
  for (const ReshufflerPlace& place : parts_.places) {
    bridges_.push_back(std::make_unique<Bridge>());
    bridges_.back()->place = place;
  }
}

ReshufflerManager::~ReshufflerManager() = default;

void ReshufflerManager::Start() {
  health_ = std::make_unique<AnalyzerHealth>(NamesOf(parts_.targets), parts_.health);
  planned_for_.clear();
  wanted_.clear();
  ticker_.RunEvery(kTick);
  counter_.RunEvery(kCountPeriod);
}

void ReshufflerManager::StandBy() {
  ticker_.Cancel();
  counter_.Cancel();
  health_.reset();
  alive_ = std::make_shared<bool>(true);  // nothing that is under way is ours any more
  for (const auto& bridge : bridges_) {
    bridge->installed.clear();
    bridge->is_busy = bridge->is_counting = false;
    OpenflowSwitch* const which = parts_.net->Find(bridge->place.datapath_id);
    if (which != nullptr) which->GiveBack(ReshuffleClaim());
  }
}

// --- slots -------------------------------------------------------------------

void ReshufflerManager::Tick() {
  const Nanos now = parts_.clock->MonotonicNow();
  health_->Update(now, parts_.signs());
  Plan(now);
  for (const auto& bridge : bridges_) Sync(bridge.get());
}

void ReshufflerManager::Plan(Nanos now) {
  if (!health_->is_settled()) return;
  std::vector<bool> alive = health_->Alive();
  if (alive == planned_for_) return;
  for (size_t i = 0; i < alive.size(); ++i) {
    const bool was_alive = planned_for_.empty() || planned_for_[i];
    if (alive[i] == was_alive) continue;
    const Nanos quiet = health_->last_heard_at(i) == 0 ? 0 : now - health_->last_heard_at(i);
    parts_.log(alive[i] ? "info" : "warn",
               "reshufflers: analyzer " + members_[i].name + " is " +
                   AnalyzerStateName(health_->state(i)) +
                   (alive[i] || quiet == 0
                        ? std::string()
                        : ", heard " + std::to_string(quiet / kNanosPerMilli) + " ms ago"));
  }
  planned_for_ = std::move(alive);
  SlotTable table = PlanSlots(members_, planned_for_);
  const bool is_empty = SlotCounts(table, members_.size()) == std::vector<size_t>(members_.size());
  if (!is_empty) wanted_ = std::move(table);
}

ReshufflerManager::Move ReshufflerManager::MoveOf(const Bridge& bridge) const {
  Move move;
  move.table = wanted_;
  if (bridge.installed.empty()) return move;
  for (size_t slot = 0; slot < wanted_.size(); ++slot) {
    move.what.slots += wanted_[slot] != bridge.installed[slot] ? 1 : 0;
  }
  const auto before = SlotCounts(bridge.installed, members_.size());
  const auto after = SlotCounts(wanted_, members_.size());
  for (size_t i = 0; i < members_.size(); ++i) {
    if (before[i] == 0 && after[i] != 0) move.what.taken.push_back(members_[i].name);
    if (before[i] == 0 || after[i] != 0) continue;
    move.what.lost.push_back(members_[i].name);
    const Nanos sign = health_->last_heard_at(i);
    if (move.last_sign_at == 0 || sign < move.last_sign_at) move.last_sign_at = sign;
  }
  return move;
}

void ReshufflerManager::Sync(Bridge* bridge) {
  OpenflowSwitch* const which = parts_.net->Find(bridge->place.datapath_id);
  const bool can_change = which != nullptr && which->is_ready() && !bridge->is_busy;
  if (!can_change || wanted_.empty() || bridge->installed == wanted_ ||
      parts_.clock->MonotonicNow() < bridge->retry_at) {
    return;
  }
  bridge->is_busy = true;
  const auto done = [this, alive = std::weak_ptr<bool>(alive_), bridge,
                     move = MoveOf(*bridge)](const Status& status) {
    if (!alive.expired()) Arrived(bridge, move, status);
  };
  if (bridge->installed.empty()) {
    which->Adopt(ReshuffleClaim(), SlotRules(wanted_), done);
  } else {
    which->Commit({{}, ChangedSlots(bridge->installed, wanted_)}, done);
  }
}

void ReshufflerManager::Arrived(Bridge* bridge, const Move& move, const Status& status) {
  const Nanos now = parts_.clock->MonotonicNow();
  bridge->is_busy = false;
  bridge->error = status.ok() ? "" : status.message();
  if (!status.ok()) {
    parts_.log("warn", "reshuffler " + bridge->place.name + ": " + status.message());
    bridge->retry_at = now + kRetry;
    return;
  }
  bridge->installed = move.table;
  if (move.what.slots == 0) return;
  ++bridge->changes;
  bridge->moved_slots += move.what.slots;
  bridge->last_move = move.what;
  bridge->last_move.at_ns = parts_.clock->UnixNow();
  if (move.last_sign_at != 0) bridge->last_move.failover_ns = now - move.last_sign_at;
  std::string text = "reshuffler " + bridge->place.name + ": " + std::to_string(move.what.slots) +
                     " slots have moved";
  if (!move.what.lost.empty()) {
    text += ", " + std::to_string(bridge->last_move.failover_ns / kNanosPerMilli) +
            " ms after the last sign of " + Joined(move.what.lost);
  }
  if (!move.what.taken.empty()) text += ", to " + Joined(move.what.taken) + " that came";
  parts_.log("info", text);
}

// --- counts ------------------------------------------------------------------

void ReshufflerManager::Count() {
  for (const auto& one : bridges_) {
    Bridge* const bridge = one.get();
    OpenflowSwitch* const which = parts_.net->Find(bridge->place.datapath_id);
    if (which == nullptr || !which->is_ready() || bridge->is_counting) continue;
    bridge->is_counting = true;
    which->AskFlows(kAllTables, kBaseCookie, kOpenflowKindMask,
                    [this, alive = std::weak_ptr<bool>(alive_),
                     bridge](const Result<std::vector<OpenflowFlow>>& flows) {
                      if (alive.expired()) return;
                      bridge->is_counting = false;
                      if (flows.ok()) TakeCounts(bridge, *flows);
                    });
  }
}

void ReshufflerManager::TakeCounts(Bridge* bridge, const std::vector<OpenflowFlow>& flows) const {
  ReshufflerCounts counts;
  counts.is_known = true;
  counts.given.resize(members_.size());
  for (const OpenflowFlow& flow : flows) {
    const uint64_t what = flow.cookie & ~kOpenflowKindMask;
    if (flow.packets == kUnknownCount) continue;
    if (what == kReceived) counts.received = flow.packets;
    if (what == kUnassigned) counts.unassigned = flow.packets;
    if (what >= 1 && what <= members_.size()) counts.given[what - 1] = flow.packets;
  }
  bridge->counts = std::move(counts);
}

// --- what users see ----------------------------------------------------------

ReshufflerState ReshufflerManager::StateOf(const Bridge& bridge) const {
  const OpenflowSwitch* const which = parts_.net->Find(bridge.place.datapath_id);
  if (which == nullptr || !which->is_ready()) return ReshufflerState::kAway;
  if (wanted_.empty()) return ReshufflerState::kWaiting;
  if (bridge.installed != wanted_) return ReshufflerState::kPending;
  const bool is_anybody_alive =
      std::find(planned_for_.begin(), planned_for_.end(), true) != planned_for_.end();
  return is_anybody_alive ? ReshufflerState::kInOrder : ReshufflerState::kWaiting;
}

ReshufflersView ReshufflerManager::View() const {
  ReshufflersView view;
  const Nanos now = parts_.clock->MonotonicNow();
  for (size_t i = 0; i < parts_.targets.size(); ++i) {
    ReshuffledAnalyzer analyzer;
    analyzer.name = members_[i].name;
    analyzer.address = parts_.targets[i].address;
    analyzer.weight = members_[i].weight;
    analyzer.home_slots = home_slots_[i];
    if (health_ != nullptr) {
      analyzer.state = health_->state(i);
      const Nanos heard_at = health_->last_heard_at(i);
      analyzer.silent_ns = heard_at == 0 ? 0 : now - heard_at;
    }
    view.analyzers.push_back(std::move(analyzer));
  }
  for (const auto& bridge : bridges_) {
    view.reshufflers.push_back({bridge->place.name, bridge->place.bridge.address,
                                bridge->place.bridge.port, StateOf(*bridge), bridge->error,
                                bridge->installed, bridge->counts, bridge->changes,
                                bridge->moved_slots, bridge->last_move});
  }
  return view;
}

}  // namespace trumpet
