// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/view/reshuffler_tables.h"

#include "lib/base/text_table.h"
#include "lib/base/units.h"

namespace trumpet {
namespace {

ApiJson MemberOf(const ApiJson& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? ApiJson() : *found;
}

// "2 of 3"
std::string AliveText(const ApiJson& reshuffler) {
  size_t alive = 0;
  const ApiJson analyzers = MemberOf(reshuffler, "analyzers");
  for (const ApiJson& one : analyzers) alive += ApiText(one, "state") == "alive" ? 1 : 0;
  return std::to_string(alive) + " of " + std::to_string(analyzers.size());
}

// "86 slots at 2026-11-23T17:00:00.000Z, 240 ms after the last sign of an2"
std::string MoveText(const ApiJson& reshuffler) {
  const ApiJson move = MemberOf(reshuffler, "last_move");
  if (move.is_null()) return "";
  std::string text = ApiText(move, "slots") + " slots at " + FormatTime(ApiWhole(move, "at_ns"));
  const std::string gone = ApiText(move, "gone");
  const std::string come = ApiText(move, "come");
  if (!gone.empty())
    text += ", " + ApiText(move, "failover_ms") + " ms after the last sign of " + gone;
  if (!come.empty()) text += ", to " + come + " that came";
  return text;
}

}  // namespace

std::string ReshufflerTable(const ApiJson& reshufflers) {
  TextTable table({"name", "address", "state", "alive", ">received", ">unassigned", ">moved",
                   "last move", "error"});
  for (const ApiJson& one : reshufflers) {
    table.Add({ApiText(one, "name"), ApiText(one, "address"), ApiText(one, "state"), AliveText(one),
               ApiText(one, "received"), ApiText(one, "unassigned"), ApiText(one, "moved_slots"),
               MoveText(one), ApiText(one, "error")});
  }
  return table.is_empty() ? "no reshufflers\n" : table.ToString(0);
}

std::string ReshufflerText(const ApiJson& reshuffler) {
  std::string text = ReshufflerTable(ApiJson::array({reshuffler}));
  TextTable table(
      {"analyzer", "address", "state", ">heard ms ago", ">weight", ">slots", ">home", ">copies"});
  for (const ApiJson& one : MemberOf(reshuffler, "analyzers")) {
    table.Add({ApiText(one, "name"), ApiText(one, "address"), ApiText(one, "state"),
               ApiText(one, "heard_ms_ago"), ApiText(one, "weight"), ApiText(one, "slots"),
               ApiText(one, "home_slots"), ApiText(one, "copies")});
  }
  return text + (table.is_empty() ? "" : table.ToString(0));
}

}  // namespace trumpet
