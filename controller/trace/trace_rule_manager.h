// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TraceRuleManager: the trace rules of a network, from a user's text to copies that come.  The one
// thing that REST and the daemon know of controller/trace.
//
// There is one set of rules.  Another one takes its place at all switches that are connected, in
// one transaction, and is stored then; if a switch refuses it, or the store does, all keep what
// they had.  Switches that come later get it when they come, and one that comes again, or a new
// life of the controller, finds what is there already and touches nothing of it.  The rules are a
// claim at each switch until then (openflow_switch.h): nobody removes them before the store was
// read.
//
// What is said of a rule is what was tried (rule_tester.h), not what was sent.
//
// Threads: one, that of the libevent loop.  Calls back never come from within a call.
// Lifetime: the parts must outlive it.

#ifndef TRUMPET_CONTROLLER_TRACE_TRACE_RULE_MANAGER_H
#define TRUMPET_CONTROLLER_TRACE_TRACE_RULE_MANAGER_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/openflow/openflow_commit.h"
#include "controller/openflow/openflow_net.h"
#include "controller/plan/trace/trace_flows.h"
#include "controller/store/event_store.h"
#include "controller/trace/rule_tester.h"
#include "controller/trace/switch_rules.h"
#include "controller/trace/trace_rule_book.h"
#include "lib/base/loop_event.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {

// A switch that copies.  Its port is 0 while there is none to the analyzers.
struct TracePlace {
  std::string name;
  uint64_t datapath_id = 0;
  TraceSwitch at;
};

struct TraceRuleParts {
  event_base* base = nullptr;
  const WireClock* clock = nullptr;
  EventStore* store = nullptr;  // of trace rules, not of events
  OpenflowNet* net = nullptr;
  std::function<std::vector<TracePlace>()> places;  // as they are now
  CopyWitness witness;
  uint64_t seed = 0;  // of marks of test packets; unknown to those who send packets
  // Other switches than before are getting rules; at most once a tick, but for changes of all of
  // them.  May be empty.
  std::function<void()> changing;
  std::function<void(const char* level, const std::string& text)> log;
};

class TraceRuleManager final : public TraceRuleBook, private EventStoreListener {
 public:
  static constexpr Nanos kTick = 250 * kNanosPerMilli;
  // Of a switch that is away longer nobody knows anything, and what its copies say is taken as it
  // is.
  static constexpr Nanos kLongestAbsence = 30 * kNanosPerSecond;
  static constexpr Nanos kRetry = 5 * kNanosPerSecond;  // of what a switch has refused

  explicit TraceRuleManager(const TraceRuleParts& parts);
  ~TraceRuleManager() override;
  TraceRuleManager(const TraceRuleManager&) = delete;
  TraceRuleManager& operator=(const TraceRuleManager&) = delete;

  // Opens the store; switches get rules from then on.
  void Start();
  // Another controller acts now; until Start().  Rules stay where they are, and who has asked for a
  // change that is under way is told so.
  void StandBy();

  void Put(TraceRules rules, const std::string& caller, Done done) override;
  void Remove(Done done) override;
  std::optional<TraceRuleSetView> View() const override;
  bool is_store_ready() const override { return is_ready_; }

  // Numbers of the switches that are getting rules now, or are asked which they have, or have been
  // away and may have lost theirs until they are ready again; rising.
  // Packets on their way are copied by the rules before or behind, and maybe at some hops only.
  std::vector<uint16_t> Changing() const;
  // Switches that are connected and have what they should.
  size_t InOrder() const;
  const RuleTesterCounters& test_counters() const { return tester_.counters(); }

 private:
  struct Member {
    TracePlace place;
    std::vector<OpenflowRule> installed;
    bool is_adopted = false;
    bool is_busy = false;      // something of ours is under way at it
    bool is_changing = false;  // likewise, for all switches together
    bool is_tried = false;
    bool was_away = false;  // since the last tick, and not for long
    uint64_t life = 0;      // the connection by which it was ready when seen last
    Nanos ready_at = 0;     // when that was; monotonic
    Nanos retry_at = 0;     // monotonic
    std::string error;
  };
  using RulesOf = std::map<uint64_t, std::vector<OpenflowRule>>;  // by datapath id

  void OnEventsLoaded(const StoreIdentity& identity, std::vector<EventRecord> records) override;
  void OnEventsChanged(std::vector<EventChange> changes) override;
  void OnStoreState(StoreState state, const std::string& text) override;
  void Take(std::optional<EventRecord> record);
  void GiveBack();
  bool IsOver(uint64_t term);

  void Tick();
  void UpdatePlaces();
  void LetGoOfStrangers();
  void NoteAbsence(const OpenflowSwitch& which, Member* member) const;
  void Sync(uint64_t id, Member* member);
  void Adopt(uint64_t id, OpenflowSwitch* which, const Result<std::vector<OpenflowRule>>& wanted);
  void Update(uint64_t id, OpenflowSwitch* which, const std::vector<OpenflowRule>& wanted);
  void Arrived(uint64_t id, const std::vector<OpenflowRule>& rules, const Status& status);

  Result<std::vector<SwitchChange>> PlanAll(const TraceRules& rules, RulesOf* wanted) const;
  void ChangeAll(std::vector<SwitchChange> parts, RulesOf wanted, EventChange change);
  void Store(std::vector<SwitchChange> parts, RulesOf before, EventChange change);
  void TakeBack(const std::vector<SwitchChange>& parts, RulesOf before, const Outcome& outcome);
  void BeginChange(const std::vector<SwitchChange>& parts, const TraceRules& rules, Done done);
  Done EndChange();
  void TellChanging();
  Status WhyNot() const;
  Status WhyNobodyHasRules() const;
  Status CheckMarks(const TraceRules& rules) const;
  void Later(std::function<void()> action);
  TraceRuleVerdict VerdictAt(uint64_t id, const Member& member, size_t rule) const;

  const TraceRuleParts parts_;
  std::optional<EventRecord> record_;
  TraceRules rules_;
  std::string problem_;
  std::map<uint64_t, Member> members_;  // by datapath id
  std::map<uint64_t, bool> strangers_;  // switches that copy nothing, and have been told
  bool is_loaded_ = false;
  bool is_ready_ = false;
  bool is_acting_ = false;
  uint64_t term_ = 0;  // how often another controller has taken over
  Done changing_;      // of the change under way; null: there is none
  std::vector<uint16_t> told_changing_;
  std::string store_text_ = "not opened yet";
  RuleTester tester_;
  std::vector<std::function<void()>> later_;
  LoopEvent later_event_;
  LoopEvent ticker_;
  // Of calls back of the store and of switches, which may outlive us.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACE_TRACE_RULE_MANAGER_H
