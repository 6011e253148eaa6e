// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/trace/trace_rule_manager.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lib/lang/trace/trace_language.h"

namespace trumpet {
namespace {

constexpr char kRecordName[] = "rules";

using Rules = std::vector<OpenflowRule>;
using Outcome = TraceRuleManager::Outcome;

Outcome Wrong(const std::string& text) { return {Status::Error(text), false, false}; }
Outcome Conflict(const std::string& text) { return {Status::Error(text), true, false}; }

std::vector<std::string> NamesOf(const TraceRules& rules) {
  std::vector<std::string> names;
  names.reserve(rules.rules.size());
  for (const TraceRule& rule : rules.rules) names.push_back(rule.name);
  return names;
}

}  // namespace

TraceRuleManager::TraceRuleManager(const TraceRuleParts& parts)
    : parts_(parts),
      tester_(parts.base, *parts.clock, parts.witness, parts.seed, parts.log),
      later_event_(parts.base,
                   [this] {
                     for (const auto& action : std::exchange(later_, {})) action();
                   }),
      ticker_(parts.base, [this] { Tick(); }) {
  ticker_.RunEvery(kTick);
}

TraceRuleManager::~TraceRuleManager() = default;

void TraceRuleManager::Later(std::function<void()> action) {
  later_.push_back(std::move(action));
  later_event_.RunSoon();
}

// --- what is stored ----------------------------------------------------------

void TraceRuleManager::Start() {
  is_acting_ = true;
  parts_.store->Start(this);
}

void TraceRuleManager::StandBy() {
  ++term_;  // nothing that is under way is ours any more
  is_ready_ = is_loaded_ = is_acting_ = false;
  parts_.store->Stop();
  Take(std::nullopt);
  members_.clear();
  strangers_.clear();
  if (changing_) {
    Later([done = EndChange()] {
      done(Conflict("another controller acts now, and knows whether the rules were changed"));
    });
  }
  TellChanging();
  GiveBack();
}

void TraceRuleManager::GiveBack() {
  for (OpenflowSwitch* which : parts_.net->Switches()) which->GiveBack(TraceRuleClaim());
}

// What was begun before another controller took over may be done at a switch only now.
bool TraceRuleManager::IsOver(uint64_t term) {
  if (term == term_) return false;
  if (!is_acting_) GiveBack();
  return true;
}

void TraceRuleManager::OnEventsLoaded(const StoreIdentity&, std::vector<EventRecord> records) {
  std::optional<EventRecord> record;
  for (EventRecord& one : records) {
    if (one.name == kRecordName) record = std::move(one);
  }
  Take(std::move(record));
  is_loaded_ = true;
  Tick();
}

void TraceRuleManager::OnEventsChanged(std::vector<EventChange> changes) {
  for (EventChange& change : changes) {
    if (change.name == kRecordName) Take(std::move(change.put));
  }
}

void TraceRuleManager::OnStoreState(StoreState state, const std::string& text) {
  is_ready_ = state == StoreState::kReady;
  store_text_ = text;
}

void TraceRuleManager::Take(std::optional<EventRecord> record) {
  const bool is_same = record && record_ && record->definition == record_->definition;
  record_ = std::move(record);
  if (is_same) return;
  rules_ = TraceRules();
  problem_.clear();
  std::vector<TraceTest> tests;
  if (record_) {
    auto rules = ParseTraceRulesYaml(record_->definition, "trace rules");
    auto made = rules.ok() ? TraceTests(*rules) : rules.status();
    if (made.ok()) {
      rules_ = std::move(*rules);
      tests = std::move(*made);
    } else {
      problem_ = made.message();
      parts_.log("err", "trace rules: " + problem_);
    }
  }
  tester_.SetTests(std::move(tests), NamesOf(rules_));
  for (auto& [id, member] : members_) member.is_tried = false;
}

// --- switches ----------------------------------------------------------------

// What switches begin and have ended each by itself is told once for all: with it goes the whole
// network.
void TraceRuleManager::Tick() {
  if (!is_loaded_ || changing_) return;
  UpdatePlaces();
  for (auto& [id, member] : members_) Sync(id, &member);
  LetGoOfStrangers();
  TellChanging();
}

void TraceRuleManager::UpdatePlaces() {
  std::set<uint64_t> there;
  for (TracePlace& place : parts_.places()) {
    const uint64_t id = place.datapath_id;
    there.insert(id);
    members_[id].place = std::move(place);
  }
  for (auto it = members_.begin(); it != members_.end();) {
    it = there.count(it->first) == 0 ? members_.erase(it) : std::next(it);
  }
}

// A switch that has copied, and does not any more.
void TraceRuleManager::LetGoOfStrangers() {
  for (OpenflowSwitch* which : parts_.net->Switches()) {
    const uint64_t id = which->datapath_id();
    if (!which->is_ready() || members_.count(id) != 0 || !strangers_.emplace(id, true).second) {
      continue;
    }
    which->Adopt(TraceRuleClaim(), {}, [](const Status&) {});
  }
}

// One that was restarted has no rules until it is ready again, which may be so within a tick.
void TraceRuleManager::NoteAbsence(const OpenflowSwitch& which, Member* member) const {
  const Nanos now = parts_.clock->MonotonicNow();
  const bool has_rules = !member->installed.empty();
  if (!which.is_ready()) {
    member->was_away = has_rules && now - member->ready_at < kLongestAbsence;
    return;
  }
  member->was_away = has_rules && member->life != which.life();
  member->life = which.life();
  member->ready_at = now;
}

void TraceRuleManager::Sync(uint64_t id, Member* member) {
  OpenflowSwitch* const which = parts_.net->Find(id);
  if (which == nullptr) return;
  NoteAbsence(*which, member);
  if (!which->is_ready()) {
    if (member->is_busy) return;
    tester_.End(which);
    member->is_tried = false;
    return;
  }
  if (member->is_busy || parts_.clock->MonotonicNow() < member->retry_at) return;
  // No rules go to nowhere: of a set without any it is known what the switch should have.
  const bool is_known = member->place.at.port != 0 || rules_.rules.empty();
  auto wanted = is_known ? CompileAt(rules_, member->place.at)
                         : Status::Error("it has no port to the analyzers");
  if (!member->is_adopted) return Adopt(id, which, wanted);
  if (!is_known && !member->installed.empty()) return;  // it keeps them until there is one
  if (!wanted.ok()) {
    member->error = wanted.message();
    return;
  }
  if (!IsEmpty(ChangeOf(member->installed, *wanted))) return Update(id, which, *wanted);
  member->error.clear();
  if (member->is_tried || rules_.rules.empty()) return;
  member->is_tried = true;
  tester_.Begin(which, member->place.at.number);
}

// Without a port nothing is known that it should have, so what is there stays a claim.
void TraceRuleManager::Adopt(uint64_t id, OpenflowSwitch* which, const Result<Rules>& wanted) {
  Member& member = members_[id];
  if (!wanted.ok()) {
    member.error = wanted.message();
    return;
  }
  member.is_busy = true;
  which->Adopt(TraceRuleClaim(), *wanted,
               [this, alive = std::weak_ptr<bool>(alive_), term = term_, id,
                rules = *wanted](const Status& status) {
                 if (!alive.expired() && !IsOver(term)) Arrived(id, rules, status);
               });
}

void TraceRuleManager::Update(uint64_t id, OpenflowSwitch* which, const Rules& wanted) {
  Member& member = members_[id];
  member.is_busy = true;
  which->Commit(
      ChangeOf(member.installed, wanted),
      [this, alive = std::weak_ptr<bool>(alive_), term = term_, id, wanted](const Status& status) {
        if (!alive.expired() && !IsOver(term)) Arrived(id, wanted, status);
      });
}

void TraceRuleManager::Arrived(uint64_t id, const Rules& rules, const Status& status) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  Member& member = found->second;
  member.is_busy = false;
  member.is_tried = false;
  member.error = status.ok() ? "" : status.message();
  if (status.ok()) {
    member.installed = rules;
    member.is_adopted = true;
    return;
  }
  parts_.log("warn", "trace rules at switch " + member.place.name + ": " + status.message());
  member.retry_at = parts_.clock->MonotonicNow() + kRetry;
}

// --- what users ask for ------------------------------------------------------

Status TraceRuleManager::WhyNot() const {
  if (!is_ready_ || !is_loaded_) {
    return Status::Error("trace rules cannot be changed now: " + store_text_);
  }
  if (changing_) return Status::Error("trace rules are being changed; try again");
  for (const auto& [id, member] : members_) {
    if (member.is_busy) {
      return Status::Error("switch " + member.place.name + " is getting its rules; try again");
    }
  }
  return Status::Ok();
}

// Rules may come before switches, and before ports to analyzers; not while a switch is asked what
// it has, for then they would be there a little later than is said.
Status TraceRuleManager::WhyNobodyHasRules() const {
  if (members_.empty()) return Status::Error("no switch copies (openflow: switches: copies)");
  for (const auto& [id, member] : members_) {
    const OpenflowSwitch* const which = parts_.net->Find(id);
    if (which == nullptr || !which->is_ready() || member.place.at.port == 0) continue;
    const std::string& error = member.error;
    return Status::Error("switch " + member.place.name +
                         (error.empty() ? " is getting its rules; try again" : ": " + error));
  }
  return Status::Ok();
}

// What rules become at a switch that is away is compiled, too, for it may be impossible.  One
// without a port keeps what it has until there is one.
Result<std::vector<SwitchChange>> TraceRuleManager::PlanAll(const TraceRules& rules,
                                                            RulesOf* wanted) const {
  std::vector<SwitchChange> parts;
  for (const auto& [id, member] : members_) {
    if (member.place.at.port == 0 && !rules.rules.empty()) continue;
    auto compiled = CompileAt(rules, member.place.at);
    if (!compiled.ok()) return compiled.status();
    OpenflowSwitch* const which = parts_.net->Find(id);
    if (which == nullptr || !which->is_ready() || !member.is_adopted) continue;
    OpenflowChange change = ChangeOf(member.installed, *compiled);
    (*wanted)[id] = std::move(*compiled);
    if (!IsEmpty(change)) parts.push_back({which, std::move(change)});
  }
  return parts;
}

// Of a mark for a host that is nowhere nobody would hear.
Status TraceRuleManager::CheckMarks(const TraceRules& rules) const {
  std::set<std::string> hosts;
  for (const auto& [id, member] : members_) {
    for (const TraceHost& host : member.place.at.hosts) hosts.insert(host.id);
  }
  for (const TraceMark& mark : rules.marks) {
    for (const std::string& host : mark.hosts) {
      if (hosts.count(host) != 0) continue;
      return Status::Error("mark '" + mark.name + "': no switch that copies has a host '" + host +
                           "'");
    }
  }
  return CheckTraceMarks(rules);
}

void TraceRuleManager::Put(TraceRules rules, const std::string& caller, Done done) {
  const auto answer = [&](const Outcome& outcome) {
    Later([done = std::move(done), outcome] { done(outcome); });
  };
  const auto tests = TraceTests(rules);
  if (!tests.ok()) return answer(Wrong(tests.message()));
  const Status marks = CheckMarks(rules);
  if (!marks.ok()) return answer(Wrong(marks.message()));
  if (rules.rules.empty()) return answer(Wrong("there is no rule in it"));
  const Status ready = WhyNot();
  if (!ready.ok()) return answer(Conflict(ready.message()));
  RulesOf wanted;
  auto parts = PlanAll(rules, &wanted);
  if (!parts.ok()) return answer(Wrong(parts.message()));
  const Status nobody = wanted.empty() ? WhyNobodyHasRules() : Status::Ok();
  if (!nobody.ok()) return answer(Conflict(nobody.message()));
  EventChange change;
  change.name = kRecordName;
  change.expected_id = record_ ? record_->id : 0;
  EventRecord& record = change.put.emplace();
  if (record_) record = *record_;
  record.name = kRecordName;
  record.definition = PrintTraceRules(rules);
  record.changed_ns = parts_.clock->UnixNow();
  if (!record_) record.created_ns = record.changed_ns;
  record.changed_by = caller;
  BeginChange(*parts, rules, std::move(done));
  ChangeAll(std::move(*parts), std::move(wanted), std::move(change));
}

void TraceRuleManager::Remove(Done done) {
  Status ready = WhyNot();
  if (ready.ok() && !record_) ready = Status::Error("there are no trace rules");
  RulesOf wanted;
  auto parts = PlanAll(TraceRules(), &wanted);
  if (ready.ok()) ready = parts.status();
  if (!ready.ok()) {
    return Later([done = std::move(done), ready] { done(Conflict(ready.message())); });
  }
  EventChange change;
  change.name = kRecordName;
  change.expected_id = record_->id;
  BeginChange(*parts, TraceRules(), std::move(done));
  ChangeAll(std::move(*parts), std::move(wanted), std::move(change));
}

std::vector<uint16_t> TraceRuleManager::Changing() const {
  std::vector<uint16_t> numbers;
  for (const auto& [id, member] : members_) {
    const bool is_unsure = member.is_busy || member.is_changing || member.was_away;
    if (is_unsure) numbers.push_back(member.place.at.number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

void TraceRuleManager::TellChanging() {
  std::vector<uint16_t> changing = Changing();
  if (changing == told_changing_) return;
  told_changing_ = std::move(changing);
  if (parts_.changing) parts_.changing();
}

// Other marks, and other rules of edges, leave each packet with all of its copies or none.
void TraceRuleManager::BeginChange(const std::vector<SwitchChange>& parts, const TraceRules& rules,
                                   Done done) {
  changing_ = std::move(done);
  if (IsDecidedAtEdges(rules_, rules)) return;
  for (const SwitchChange& part : parts) members_[part.target->datapath_id()].is_changing = true;
  TellChanging();
}

TraceRuleManager::Done TraceRuleManager::EndChange() {
  for (auto& [id, member] : members_) member.is_changing = false;
  Done done = std::exchange(changing_, nullptr);
  TellChanging();
  return done;
}

// At the switches first, then in the store: what ends in between is put right by what is stored.
void TraceRuleManager::ChangeAll(std::vector<SwitchChange> parts, RulesOf wanted,
                                 EventChange change) {
  CommitAcross(parts,
               [this, alive = std::weak_ptr<bool>(alive_), term = term_, parts,
                wanted = std::move(wanted), change = std::move(change)](const Status& status) {
                 if (alive.expired() || IsOver(term)) return;
                 if (!status.ok()) {
                   return EndChange()(Conflict("nothing was changed: " + status.message()));
                 }
                 RulesOf before;
                 for (const auto& [id, rules] : wanted) {
                   before[id] = members_[id].installed;
                   members_[id].installed = rules;
                   members_[id].error.clear();
                 }
                 Store(parts, std::move(before), change);
               });
}

void TraceRuleManager::Store(std::vector<SwitchChange> parts, RulesOf before, EventChange change) {
  const bool is_new = !record_;
  std::vector<EventChange> changes;
  changes.push_back(std::move(change));
  parts_.store->Write(std::move(changes), [this, alive = std::weak_ptr<bool>(alive_), term = term_,
                                           parts = std::move(parts), before = std::move(before),
                                           is_new](const Result<std::vector<uint32_t>>& ids) {
    if (alive.expired() || IsOver(term)) return;
    if (!ids.ok()) return TakeBack(parts, before, Conflict(ids.message()));
    const Done done = EndChange();
    Tick();
    done({Status::Ok(), false, is_new});
  });
}

void TraceRuleManager::TakeBack(const std::vector<SwitchChange>& parts, RulesOf before,
                                const Outcome& outcome) {
  std::vector<SwitchChange> backs;
  for (const SwitchChange& part : parts) {
    Member& member = members_[part.target->datapath_id()];
    const Rules& rules = before[part.target->datapath_id()];
    backs.push_back({part.target, ChangeOf(member.installed, rules)});
  }
  CommitAcross(backs, [this, alive = std::weak_ptr<bool>(alive_), term = term_,
                       before = std::move(before), outcome](const Status& status) {
    if (alive.expired() || IsOver(term)) return;
    const Done done = EndChange();
    for (const auto& [id, rules] : before) {
      if (status.ok()) members_[id].installed = rules;
    }
    done(outcome);  // what was not taken back is seen to at the next tick
  });
}

// --- how it is ---------------------------------------------------------------

TraceRuleVerdict TraceRuleManager::VerdictAt(uint64_t id, const Member& member, size_t rule) const {
  const OpenflowSwitch* const which = parts_.net->Find(id);
  if (which == nullptr || !which->is_ready()) {
    return {TraceRuleState::kAway, "it is not connected"};
  }
  if (!member.error.empty()) return {TraceRuleState::kFailed, member.error};
  if (!member.is_adopted || member.is_busy) return {TraceRuleState::kPending, ""};
  const uint32_t port = member.place.at.port;
  if (port != 0 && which->ports().count(port) == 0) {
    return {TraceRuleState::kFailed, "it has no port " + std::to_string(port) + ", to analyzers"};
  }
  return tester_.VerdictOf(which, rule);
}

size_t TraceRuleManager::InOrder() const {
  size_t count = 0;
  for (const auto& [id, member] : members_) {
    const OpenflowSwitch* const which = parts_.net->Find(id);
    const bool is_in_order = which != nullptr && which->is_ready() && member.is_adopted &&
                             !member.is_busy && member.error.empty();
    count += is_in_order ? 1 : 0;
  }
  return count;
}

std::optional<TraceRuleSetView> TraceRuleManager::View() const {
  if (!record_) return std::nullopt;
  TraceRuleSetView view{*record_, rules_, problem_, {}};
  for (size_t rule = 0; rule < rules_.rules.size(); ++rule) {
    std::vector<TraceRuleAtSwitch>& at = view.at.emplace_back();
    for (const auto& [id, member] : members_) {
      at.push_back({member.place.name, VerdictAt(id, member, rule)});
    }
    std::sort(at.begin(), at.end(),
              [](const auto& a, const auto& b) { return a.switch_name < b.switch_name; });
  }
  return view;
}

}  // namespace trumpet
