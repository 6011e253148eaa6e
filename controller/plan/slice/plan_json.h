// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PlanJson: a plan as the API tells it (openapi.json: SlicePlan), for whoever plans.
//
// Threads: no state.

#ifndef TRUMPET_CONTROLLER_PLAN_SLICE_PLAN_JSON_H
#define TRUMPET_CONTROLLER_PLAN_SLICE_PLAN_JSON_H

#include <string>

#include <nlohmann/json.hpp>

#include "controller/plan/slice/planner.h"

namespace trumpet::slice {

// `explanation` is that of ExplainPlan().  "demands" and "links" are empty lists, for who has
// measured or knows where the analyzer is to fill.
nlohmann::ordered_json PlanJson(const SlicePlan& plan, const SliceCampaign& campaign,
                                const Network& network, const std::string& explanation);

}  // namespace trumpet::slice

#endif  // TRUMPET_CONTROLLER_PLAN_SLICE_PLAN_JSON_H
