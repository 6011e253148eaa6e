// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/reshuffler_views.h"

#include <algorithm>

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

Json AnalyzersJson(const ReshufflersView& view, const ReshufflerView& one) {
  Json list = Json::array();
  for (size_t i = 0; i < view.analyzers.size(); ++i) {
    const ReshuffledAnalyzer& analyzer = view.analyzers[i];
    Json json = {
        {"name", analyzer.name},
        {"address", analyzer.address},
        {"weight", analyzer.weight},
        {"state", AnalyzerStateName(analyzer.state)},
        {"slots", std::count(one.slots.begin(), one.slots.end(), static_cast<int>(i))},
        {"home_slots", analyzer.home_slots},
        {"copies", i < one.counts.given.size() ? one.counts.given[i] : 0},
    };
    if (analyzer.silent_ns != 0) json["heard_ms_ago"] = analyzer.silent_ns / kNanosPerMilli;
    list.push_back(std::move(json));
  }
  return list;
}

Json MoveJson(const ReshuffleMove& move) {
  Json json = {
      {"at_ns", move.at_ns}, {"slots", move.slots}, {"gone", move.lost}, {"come", move.taken}};
  if (move.failover_ns != 0) json["failover_ms"] = move.failover_ns / kNanosPerMilli;
  return json;
}

Json OneJson(const ReshufflersView& view, const ReshufflerView& one) {
  Json json = {{"name", one.name},
               {"address", one.address},
               {"port", one.port},
               {"state", ReshufflerStateName(one.state)},
               {"received", one.counts.received},
               {"unassigned", one.counts.unassigned},
               {"changes", one.changes},
               {"moved_slots", one.moved_slots},
               {"analyzers", AnalyzersJson(view, one)}};
  if (!one.error.empty()) json["error"] = one.error;
  if (one.last_move.at_ns != 0) json["last_move"] = MoveJson(one.last_move);
  return json;
}

}  // namespace

Json ReshufflersJson(const ReshufflersView& view) {
  Json json = {{"reshufflers", Json::array()}};
  for (const ReshufflerView& one : view.reshufflers) {
    json["reshufflers"].push_back(OneJson(view, one));
  }
  return json;
}

Json ReshufflerJson(const ReshufflersView& view, const ReshufflerView& one) {
  Json json = OneJson(view, one);
  json["slots"] = Json::array();
  for (const int member : one.slots) {
    json["slots"].push_back(member == kNoMember ? ""
                                                : view.analyzers[static_cast<size_t>(member)].name);
  }
  return json;
}

}  // namespace trumpet
