// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the API says of campaigns, as JSON (openapi.json: schemas).
//
// Threads: no state.

#ifndef TRUMPET_CONTROLLER_REST_SLICE_VIEWS_H
#define TRUMPET_CONTROLLER_REST_SLICE_VIEWS_H

#include <nlohmann/json.hpp>

#include "controller/slice/campaign_manager.h"

namespace trumpet {

using Json = nlohmann::ordered_json;

Json ToJson(const CampaignView& campaign);
Json ToJson(const CampaignPlan& plan);
Json ToJson(const CampaignNews& news);
Json SummaryJson(const SliceRunSummary& run);
// With its queries and the answers of the analyzer.
Json ToJson(const SliceRunView& run);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_SLICE_VIEWS_H
