// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/plan_json.h"

#include <utility>

namespace trumpet::slice {
namespace {

using Json = nlohmann::ordered_json;

Json QueryJson(const SliceCampaign& campaign, const Network& network, const PlannedQuery& query,
               const char* action) {
  return {{"name", campaign.queries[query.query].name},
          {"action", action},
          {"prefix", PrintPrefix(query.prefix)},
          {"path", network.NamesOf(query.routers)},
          {"locations", network.NamesOf(query.locations)},
          {"why", query.why},
          {"cost_bps", query.cost_bps}};
}

}  // namespace

Json PlanJson(const SlicePlan& plan, const SliceCampaign& campaign, const Network& network,
              const std::string& explanation) {
  Json queries = Json::array();
  for (const PlannedQuery& query : plan.confined) {
    queries.push_back(QueryJson(campaign, network, query, "CONFINE"));
  }
  for (const PlannedQuery& query : plan.mirrored) {
    queries.push_back(QueryJson(campaign, network, query, "MIRROR"));
  }
  return {{"explanation", explanation},    {"slots", plan.times.slots},
          {"slot_ms", plan.times.slot_ms}, {"using_bps", campaign.using_bps},
          {"demands", Json::array()},      {"queries", std::move(queries)},
          {"links", Json::array()},        {"warnings", plan.warnings}};
}

}  // namespace trumpet::slice
