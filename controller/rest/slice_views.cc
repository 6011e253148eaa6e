// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/slice_views.h"

#include "controller/plan/slice/plan_json.h"

namespace trumpet {
namespace {

Json QueryJson(const SliceQueryView& query) {
  return {{"name", query.name},
          {"action", query.is_confine ? "CONFINE" : "MIRROR"},
          {"bootstrap", query.is_bootstrap},
          {"prefix", PrintPrefix(query.prefix)},
          {"path", query.path},
          {"locations", query.locations},
          {"cost_bps", query.cost_bps},
          {"slots", query.slots},
          {"packets", query.packets},
          {"bytes", query.bytes},
          {"withheld", query.withheld}};
}

}  // namespace

Json SummaryJson(const SliceRunSummary& run) {
  return {{"run", run.run},
          {"state", NameOf(run.state)},
          {"problem", run.problem},
          {"started_ns", run.started},
          {"ended_ns", run.ended},
          {"slots", run.slots},
          {"slots_to_come", run.planned},
          {"bootstrap_slots", run.bootstrap_slots},
          {"failed_slots", run.failed_slots},
          {"over_budget", run.over_budget},
          {"replans", run.replans},
          {"topology_changed", run.has_topology_changed},
          {"slot_ns", run.slot},
          {"spacing_ns", run.spacing},
          {"copied_bytes", run.copied_bytes},
          {"warnings", run.warnings}};
}

Json ToJson(const SliceRunView& run) {
  Json json = SummaryJson(run);
  Json queries = Json::array();
  for (const SliceQueryView& query : run.queries) queries.push_back(QueryJson(query));
  json["queries"] = std::move(queries);
  // The analyzer's own text: an object, if all is well.
  Json answers = Json::parse(run.answers, nullptr, false);
  json["answers"] = answers.is_object() ? std::move(answers) : Json::object();
  return json;
}

Json ToJson(const CampaignNews& news) {
  return {{"number", news.number},       {"slice", news.name},
          {"tenant", news.tenant},       {"what", NameOf(news.moment.kind)},
          {"slot", news.moment.slot},    {"slot_bytes", news.moment.slot_bytes},
          {"run", SummaryJson(news.run)}};
}

Json ToJson(const CampaignView& campaign) {
  Json json = {{"name", campaign.record.name},
               {"tenant", campaign.record.tenant},
               {"campaign", campaign.definition.text},
               {"priority", campaign.definition.priority},
               {"trigger_on", campaign.definition.trigger_on},
               {"enabled", campaign.record.is_enabled},
               {"problem", campaign.problem},
               {"using_bps", campaign.campaign.using_bps},
               {"during_ns", campaign.campaign.during},
               {"every_ns", campaign.campaign.every},
               {"created_ns", campaign.record.created_ns},
               {"changed_ns", campaign.record.changed_ns},
               {"changed_by", campaign.record.changed_by},
               {"waiting", campaign.is_waiting},
               {"next_start_ns", campaign.next_start},
               {"runs", campaign.runs},
               {"missed", campaign.missed},
               {"triggered", campaign.triggered},
               {"triggers_withheld", campaign.withheld}};
  json["now"] = campaign.now == nullptr ? Json() : SummaryJson(*campaign.now);
  json["last"] = campaign.last == nullptr ? Json() : SummaryJson(*campaign.last);
  return json;
}

Json ToJson(const CampaignPlan& plan) {
  const slice::Network& network = plan.map->network;
  Json json = slice::PlanJson(plan.answer.plan, plan.campaign, network, plan.answer.explanation);
  for (const auto& [prefix, demand] : plan.demands) {
    json["demands"].push_back(
        {{"prefix", PrintPrefix(prefix)}, {"bps", demand.rate_bps}, {"source", demand.source}});
  }
  for (const slice::LinkRate& link : plan.answer.links) {
    json["links"].push_back(
        {{"from", network.NameOf(link.from)}, {"to", network.NameOf(link.to)}, {"bps", link.bps}});
  }
  return json;
}

}  // namespace trumpet
