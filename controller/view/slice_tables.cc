// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/view/slice_tables.h"

#include "controller/view/slice_answers.h"
#include "lib/base/text_table.h"
#include "lib/base/units.h"

namespace trumpet {
namespace {

int64_t NumberOf(const ApiJson& value, const char* key) {
  const auto found = value.is_object() ? value.find(key) : value.end();
  const bool is_number = value.is_object() && found != value.end() && found->is_number_integer();
  return is_number ? found->get<int64_t>() : 0;
}

const ApiJson& MemberOf(const ApiJson& value, const char* key) {
  static const ApiJson kNone;
  const auto found = value.is_object() ? value.find(key) : value.end();
  return value.is_object() && found != value.end() ? *found : kNone;
}

std::string Ratio(const ApiJson& value, const char* key, double unit) {
  return FormatRatio(static_cast<double>(NumberOf(value, key)), unit);
}

std::string TimeOf(const ApiJson& value, const char* key) {
  const Nanos time = NumberOf(value, key);
  return time == 0 ? "-" : FormatTime(time);
}

std::string StateOf(const ApiJson& campaign) {
  if (!ApiText(campaign, "problem").empty()) return "problem";
  if (!MemberOf(campaign, "now").is_null()) return ApiText(MemberOf(campaign, "now"), "state");
  if (ApiText(campaign, "waiting") == "yes") return "waiting";
  return ApiText(campaign, "enabled") == "no" ? "disabled" : "idle";
}

// "done", "failed: no analyzer is there"
std::string EndOf(const ApiJson& run) {
  if (run.is_null()) return "-";
  const std::string problem = ApiText(run, "problem");
  return ApiText(run, "state") + (problem.empty() ? "" : ": " + problem);
}

}  // namespace

std::string SliceTable(const ApiJson& campaigns) {
  TextTable table(
      {"name", "state", ">priority", ">Mb/s", ">ms", ">every s", ">runs", "next", "last run"});
  for (const ApiJson& campaign : campaigns) {
    table.Add({ApiText(campaign, "name"), StateOf(campaign), ApiText(campaign, "priority"),
               Ratio(campaign, "using_bps", 1e6), Ratio(campaign, "during_ns", 1e6),
               Ratio(campaign, "every_ns", 1e9), ApiText(campaign, "runs"),
               TimeOf(campaign, "next_start_ns"), EndOf(MemberOf(campaign, "last"))});
  }
  return table.ToString(0);
}

std::string SliceText(const ApiJson& campaign) {
  std::string text = "campaign " + ApiText(campaign, "name") + ": " + StateOf(campaign) + "\n";
  const auto add = [&](const std::string& label, const std::string& value) {
    if (!value.empty()) text += "  " + label + ": " + value + "\n";
  };
  std::string asked = ApiText(campaign, "campaign");
  asked.erase(asked.find_last_not_of(" \n") + 1);
  add("asks for", asked);
  add("priority", ApiText(campaign, "priority"));
  add("runs when these events fire", ApiText(campaign, "trigger_on"));
  add("tenant", ApiText(campaign, "tenant"));
  add("problem", ApiText(campaign, "problem"));
  add("next start", TimeOf(campaign, "next_start_ns"));
  add("runs", ApiText(campaign, "runs") + ", starts missed " + ApiText(campaign, "missed"));
  add("changed", TimeOf(campaign, "changed_ns") + " by " + ApiText(campaign, "changed_by"));
  return text;
}

std::string SliceRunText(const ApiJson& run) {
  std::string text = "run " + ApiText(run, "run") + ": " + EndOf(run) + "\n";
  text += "  started " + TimeOf(run, "started_ns") + ", ended " + TimeOf(run, "ended_ns") + "\n";
  text += "  slots: " + ApiText(run, "slots") + " of " + Ratio(run, "slot_ns", 1e6) + " ms, " +
          Ratio(run, "spacing_ns", 1e6) + " ms apart; " + ApiText(run, "slots_to_come") +
          " to come, " + ApiText(run, "bootstrap_slots") + " to look at unknown prefixes, " +
          ApiText(run, "failed_slots") + " not turned on, " + ApiText(run, "over_budget") +
          " over the budget\n";
  text += "  copied: " + ApiText(run, "copied_bytes") + " bytes\n";
  if (ApiText(run, "topology_changed") == "yes") text += "  the network changed meanwhile\n";
  for (const ApiJson& warning : MemberOf(run, "warnings")) {
    if (warning.is_string()) text += "  warning: " + warning.get<std::string>() + "\n";
  }
  TextTable table(
      {">Q", "query", "prefix", "path", "copied at", ">slots", ">packets", ">bytes", ">withheld"});
  int number = 0;
  for (const ApiJson& query : MemberOf(run, "queries")) {
    const std::string name = ApiText(query, "name");
    const bool is_look = ApiText(query, "bootstrap") == "yes";
    table.Add(
        {std::to_string(++number),
         (is_look ? "first look" : ApiText(query, "action")) + (name.empty() ? "" : " " + name),
         ApiText(query, "prefix"), ApiText(query, "path"), ApiText(query, "locations"),
         ApiText(query, "slots"), ApiText(query, "packets"), ApiText(query, "bytes"),
         ApiText(query, "withheld")});
  }
  if (!table.is_empty()) text += table.ToString(0);
  return text + SliceAnswersText(MemberOf(run, "answers"));
}

std::string SlicePlanText(const ApiJson& plan) {
  std::string text = ApiText(plan, "explanation");
  const ApiJson& links = MemberOf(plan, "links");
  if (links.empty()) return text;
  text += "on links towards the analyzer, at most:\n";
  for (const ApiJson& link : links) {
    text += "    " + ApiText(link, "from") + " -> " + ApiText(link, "to") + ": " +
            Ratio(link, "bps", 1e6) + " Mb/s\n";
  }
  return text;
}

}  // namespace trumpet
