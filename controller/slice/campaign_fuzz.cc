// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes: ReadCampaignDefinition() says what is wrong in few words, or reads what
// PrintCampaignDefinition() writes as the same again.

#include <cstdint>
#include <cstdlib>

#include "controller/slice/campaign_definition.h"

namespace {

constexpr size_t kLongestComplaint = 1 << 20;  // lines of the source are quoted

bool IsSame(const trumpet::CampaignDefinition& one, const trumpet::CampaignDefinition& other) {
  return one.name == other.name && one.text == other.text && one.priority == other.priority &&
         one.trigger_on == other.trigger_on;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  const auto read = trumpet::ReadCampaignDefinition(json, "", "fuzz");
  if (!read) {
    if (read.message().empty() || read.message().size() > kLongestComplaint) std::abort();
    return 0;
  }
  const auto again =
      trumpet::ReadCampaignDefinition(trumpet::PrintCampaignDefinition(*read), read->name, "again");
  if (!again || !IsSame(*read, *again)) std::abort();
  const auto campaign = trumpet::ParseSlices(read->text, "fuzz");
  if (!campaign) std::abort();
  trumpet::Caller tenant;
  tenant.tenant = "red";
  tenant.prefixes.push_back(*trumpet::ParsePrefix("10.0.0.0/8"));
  const auto allowed = trumpet::CheckCampaignScope(*read, *campaign, "fuzz", tenant);
  if (allowed.ok() && read->priority > trumpet::kDefaultCampaignPriority) std::abort();
  return 0;
}
