// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/daemon/reshuffler_part.h"

#include <algorithm>
#include <map>
#include <utility>

#include "controller/rest/reshuffler_views.h"
#include "controller/view/reshuffler_tables.h"

namespace trumpet {
namespace {

// 0: there is no such switch.
uint64_t DatapathOf(const OpenflowConfig& openflow, const std::string& name) {
  for (const OpenflowSwitchConfig& one : openflow.switches) {
    if (one.name == name) return one.datapath_id;
  }
  return 0;
}

ReshufflerParts ManagerParts(const ReshufflerPart::Parts& parts, const ReshufflersConfig& config) {
  ReshufflerParts made;
  made.base = parts.base;
  made.clock = parts.clock;
  made.net = parts.net;
  made.places = config.bridges;
  for (ReshufflerPlace& place : made.places) {
    place.datapath_id = DatapathOf(*parts.openflow, place.name);
  }
  made.targets = config.analyzers;
  made.health = config.health;
  made.signs = [collector = parts.collector] {
    std::vector<AnalyzerSign> signs;
    for (AnalyzerView& view : collector->Analyzers()) {
      signs.push_back({std::move(view.name), view.last_heard_at});
    }
    return signs;
  };
  made.log = parts.log;
  return made;
}

}  // namespace

void AddReshufflers(const ReshufflersConfig& config, OpenflowConfig* openflow) {
  const auto never_copy = [&](const std::string& address) {
    const auto prefix = ParsePrefix(address);
    if (prefix.ok()) openflow->analyzers.push_back(*prefix);
  };
  for (const ReshufflerPlace& place : config.bridges) {
    never_copy(place.bridge.address);
    const uint64_t id = DatapathOf(*openflow, place.name);
    openflow->standing_rules[id] = ReshuffleBase(place.bridge, config.analyzers);
    openflow->more_claims[id] = ReshuffleClaim();
  }
  if (config.bridges.empty()) return;
  for (const ReshuffleTarget& target : config.analyzers) never_copy(target.address);
}

ReshufflerPart::ReshufflerPart(const Parts& parts, const ReshufflersConfig& config)
    : parts_(parts), manager_(ManagerParts(parts, config)), starter_(parts.base, [this] {
        const StoreState events = parts_.events->state();
        if (events == StoreState::kReady && !is_started_) manager_.Start();
        if (events == StoreState::kStandby && is_started_) manager_.StandBy();
        if (events != StoreState::kAway) is_started_ = events == StoreState::kReady;
      }) {
  if (!config.bridges.empty()) starter_.RunEvery(100 * kNanosPerMilli);
}

void ReshufflerPart::AddMetrics(MetricsText* text) const {
  using Type = MetricsText::Type;
  const ReshufflersView view = manager_.View();
  if (view.reshufflers.empty()) return;
  text->Family("trumpet_reshuffler_analyzers", Type::kGauge, "Analyzers behind reshufflers.");
  for (const AnalyzerState state : {AnalyzerState::kAway, AnalyzerState::kSilent,
                                    AnalyzerState::kReturning, AnalyzerState::kAlive}) {
    const auto count = std::count_if(view.analyzers.begin(), view.analyzers.end(),
                                     [&](const auto& one) { return one.state == state; });
    text->Add({{"state", AnalyzerStateName(state)}}, static_cast<uint64_t>(count));
  }
  const auto family = [&](const char* name, Type type, const char* help, auto value) {
    text->Family(name, type, help);
    for (const ReshufflerView& one : view.reshufflers) {
      text->Add({{"reshuffler", one.name}}, static_cast<uint64_t>(value(one)));
    }
  };
  const auto by_analyzer = [&](const char* name, Type type, const char* help, auto value) {
    text->Family(name, type, help);
    for (const ReshufflerView& one : view.reshufflers) {
      for (size_t i = 0; i < view.analyzers.size(); ++i) {
        text->Add({{"reshuffler", one.name}, {"analyzer", view.analyzers[i].name}},
                  static_cast<uint64_t>(value(one, i)));
      }
    }
  };
  family("trumpet_reshuffler_in_order", Type::kGauge, "It has the slots that it should.",
         [](const auto& one) { return one.state == ReshufflerState::kInOrder ? 1 : 0; });
  family("trumpet_reshuffler_received", Type::kCounter, "Copies that came to it.",
         [](const auto& one) { return one.counts.received; });
  family("trumpet_reshuffler_unassigned", Type::kCounter, "Those that no analyzer was there for.",
         [](const auto& one) { return one.counts.unassigned; });
  family("trumpet_reshuffler_moved_slots", Type::kCounter, "Slots that went to another analyzer.",
         [](const auto& one) { return one.moved_slots; });
  by_analyzer("trumpet_reshuffler_slots", Type::kGauge, "Slots of an analyzer, of 256.",
              [](const auto& one, size_t i) {
                return static_cast<uint64_t>(
                    std::count(one.slots.begin(), one.slots.end(), static_cast<int>(i)));
              });
  by_analyzer("trumpet_reshuffler_copies", Type::kCounter, "Copies that were sent to an analyzer.",
              [](const auto& one, size_t i) {
                return i < one.counts.given.size() ? one.counts.given[i] : 0;
              });
  text->Family("trumpet_reshuffler_failover_seconds", Type::kGauge,
               "From the last sign of an analyzer until its slots were others', the last time.");
  for (const ReshufflerView& one : view.reshufflers) {
    text->AddSeconds({{"reshuffler", one.name}}, one.last_move.failover_ns);
  }
}

std::vector<DaemonCommand> ReshufflerPart::MakeCommands() {
  return {{"reshuffler/list", "[json]", 0, 1,
           [this](const CommandArguments& arguments, const CommandReply& reply) {
             const ApiJson json = ReshufflersJson(manager_.View());
             if (arguments.empty()) return reply(ReshufflerTable(json["reshufflers"]));
             reply(json.dump(2, ' ', false, ApiJson::error_handler_t::replace) + "\n");
           }}};
}

}  // namespace trumpet
