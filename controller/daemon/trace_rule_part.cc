// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/daemon/trace_rule_part.h"

#include <map>
#include <utility>

#include "controller/rest/trace_rule_views.h"
#include "controller/traces/trace_network.h"
#include "controller/view/trace_rule_tables.h"

namespace trumpet {
namespace {

CopyWitness WitnessOf(AnalyzerCollector* collector) {
  return {
      [collector] { return collector->is_ready(); },
      [collector](const std::vector<ExpectedSlice>& slices) { collector->Expect(slices); },
      [collector](uint32_t tag, uint64_t first, uint32_t max_packets, CopyWitness::Packets answer) {
        collector->AskPackets(tag, first, max_packets, std::move(answer));
      }};
}

}  // namespace

TraceRulePart::TraceRulePart(const Parts& parts)
    : parts_(parts),
      manager_({parts.base, parts.clock, parts.store, &parts.openflow->net(),
                [this] { return Places(); }, WitnessOf(parts.collector), parts.seed,
                [this] { TellNetwork(); }, parts.log}),
      counters_({parts.base, parts.clock, parts.counters,
                 [this](const std::string& text) { TellCounters(text); }, parts.log}),
      sent_({parts.base, parts.clock, &parts.openflow->net(), [this] { return Places(); },
             [this] { return is_started_ && parts_.traces->analyzer_count() == 1; },
             [this](const TraceSent& sent) { parts_.traces->TellSent(sent); }}),
      starter_(parts.base,
               [this] {
                 const StoreState events = parts_.events->state();
                 if (events == StoreState::kReady && !is_started_) {
                   manager_.Start();
                   counters_.Start();
                 }
                 if (events == StoreState::kStandby && is_started_) {
                   manager_.StandBy();
                   counters_.StandBy();
                 }
                 if (events != StoreState::kAway) is_started_ = events == StoreState::kReady;
               }),
      teller_(parts.base, [this] { TellNetwork(); }) {
  starter_.RunEvery(100 * kNanosPerMilli);
  teller_.RunEvery(2 * kTopologyAge);
}

const Topology& TraceRulePart::RecentTopology() {
  const Nanos now = parts_.clock->MonotonicNow();
  if (topology_at_ == 0 || now - topology_at_ >= kTopologyAge) {
    topology_ = parts_.topology();
    topology_at_ = now;
  }
  return topology_;
}

std::vector<TracePlace> TraceRulePart::Places() {
  return parts_.openflow->TracePlaces(RecentTopology());
}

void TraceRulePart::TellNetwork() {
  ToldNetwork network{RecentTopology(), SwitchBook(), {}, manager_.Changing()};
  const auto view = manager_.View();
  if (view) network.rules = ToldRulesOf(view->rules);
  for (const TracePlace& place : Places()) {
    const Status added = network.switches.Add(place.name, place.at.number);
    (void)added;  // two with one number cannot be told apart: the first has the name
  }
  if (network.switches.names().empty()) return;
  const bool has_told = parts_.traces->SetNetwork(PrintToldNetwork(network));
  if (!has_told && has_told_) parts_.log("err", "the network is too large to be told to analyzers");
  has_told_ = has_told;
}

void TraceRulePart::TellCounters(const std::string& text) {
  if (parts_.traces->SetCounters(text)) return;
  parts_.log("err", "counters of traces are too large to be told to analyzers");
}

void TraceRulePart::AddMetrics(MetricsText* text) const {
  std::map<TraceRuleState, uint64_t> counts;
  const auto view = manager_.View();
  if (view) {
    for (const auto& at : view->at) ++counts[TogetherOf(at).state];
  }
  text->Family("trumpet_trace_rules", MetricsText::Type::kGauge, "Trace rules of the network.");
  for (const TraceRuleState state :
       {TraceRuleState::kAway, TraceRuleState::kPending, TraceRuleState::kTesting,
        TraceRuleState::kActive, TraceRuleState::kFailed}) {
    text->Add({{"state", TraceRuleStateName(state)}}, counts[state]);
  }
  text->Gauge("trumpet_trace_switches", "Switches that have the trace rules they should.",
              static_cast<double>(manager_.InOrder()));
  text->Gauge("trumpet_trace_counters", "Named counters of traces.",
              static_cast<double>(counters_.counters().size()));
  const RuleTesterCounters& tests = manager_.test_counters();
  text->Counter("trumpet_trace_tests_sent", "Test packets sent through trace rules.", tests.sent);
  text->Counter("trumpet_trace_tests_back", "Those whose copy has come by the right rule.",
                tests.back);
  text->Counter("trumpet_trace_tests_missed", "Those whose copy has not come in time.",
                tests.missed);
}

std::vector<DaemonCommand> TraceRulePart::MakeCommands() {
  return {{"trace/rules-list", "[json]", 0, 1,
           [this](const CommandArguments& arguments, const CommandReply& reply) {
             const Json json = TraceRulesJson(manager_.View());
             if (arguments.empty()) return reply(TraceRuleTable(json["rules"]));
             reply(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
           }}};
}

}  // namespace trumpet
