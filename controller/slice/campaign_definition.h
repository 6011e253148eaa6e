// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CampaignDefinition: a campaign as users write it and as it is stored.
//
//   {"name": "web", "campaign": "MIRROR 1.2.3.0/24 ON [A -> D] USING 15 Mb/s", "priority": 5,
//    "trigger_on": ["heavy-flows"]}
//
// Threads: values; no state.

#ifndef TRUMPET_CONTROLLER_SLICE_CAMPAIGN_DEFINITION_H
#define TRUMPET_CONTROLLER_SLICE_CAMPAIGN_DEFINITION_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "controller/tem/caller.h"
#include "lib/base/status.h"
#include "lib/lang/slice/slice_language.h"

namespace trumpet {

constexpr int kDefaultCampaignPriority = 5;
constexpr int kMaxCampaignPriority = 9;
constexpr size_t kMaxTriggers = 64;

struct CampaignDefinition {
  std::string name;
  std::string text;                         // in the slice language
  int priority = kDefaultCampaignPriority;  // 0 to 9; the higher one goes first
  // Events: it runs when one of them fires, at most once per EVERY.  None: it runs every EVERY.
  std::vector<std::string> trigger_on;
};

// Letters, digits, '-', '_' and '.'; 1 to 64 of them.
Status CheckCampaignName(std::string_view name);

// `json` may leave out the name if `name` says it.  The error names the key, or has a place in the
// campaign's text, which is called `source_name`.
Result<CampaignDefinition> ReadCampaignDefinition(std::string_view json, const std::string& name,
                                                  const std::string& source_name);
std::string PrintCampaignDefinition(const CampaignDefinition& definition);

// May the caller ask for this?  Tenants mirror their own prefixes, and nobody's before others'.
Status CheckCampaignScope(const CampaignDefinition& definition, const SliceCampaign& campaign,
                          const std::string& source_name, const Caller& caller);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_CAMPAIGN_DEFINITION_H
