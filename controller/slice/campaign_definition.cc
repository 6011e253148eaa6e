// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/slice/campaign_definition.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "lib/lang/event/source.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

bool IsNameLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

Status ReadKey(const std::string& key, const Json& value, CampaignDefinition* definition) {
  if (key == "name" && value.is_string()) {
    definition->name = value.get<std::string>();
    return Status::Ok();
  }
  if (key == "campaign" && value.is_string()) {
    definition->text = value.get<std::string>();
    return Status::Ok();
  }
  if (key == "priority" && value.is_number_integer() && value >= 0 &&
      value <= kMaxCampaignPriority) {
    definition->priority = value.get<int>();
    return Status::Ok();
  }
  if (key == "trigger_on" && value.is_array() && value.size() <= kMaxTriggers) {
    for (const Json& event : value) {
      if (!event.is_string()) return Status::Error("trigger_on takes names of events");
      definition->trigger_on.push_back(event.get<std::string>());
    }
    return Status::Ok();
  }
  if (key == "name" || key == "campaign") return Status::Error(key + " takes a text");
  if (key == "priority") return Status::Error("priority takes 0 to 9");
  if (key == "trigger_on") {
    return Status::Error("trigger_on takes a list of at most " + std::to_string(kMaxTriggers) +
                         " names of events");
  }
  return Status::Error("a campaign has no '" + key.substr(0, 64) +
                       "'; it has name, campaign, priority and trigger_on");
}

bool Covers(const Prefix& outer, const Prefix& inner) {
  return outer.is_ipv6 == inner.is_ipv6 && FirstOf(outer) <= FirstOf(inner) &&
         LastOf(outer) >= LastOf(inner);
}

}  // namespace

Status CheckCampaignName(std::string_view name) {
  if (!name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), IsNameLetter)) {
    return Status::Ok();
  }
  return Status::Error("a campaign's name takes 1 to 64 letters, digits, '-', '_' and '.'");
}

Result<CampaignDefinition> ReadCampaignDefinition(std::string_view json, const std::string& name,
                                                  const std::string& source_name) {
  const Json parsed = Json::parse(json, nullptr, false);
  if (!parsed.is_object()) return Status::Error("the campaign is no JSON object");
  CampaignDefinition definition;
  definition.name = name;
  for (const auto& [key, value] : parsed.items()) {
    const Status status = ReadKey(key, value, &definition);
    if (!status.ok()) return status;
  }
  if (!name.empty() && definition.name != name) {
    return Status::Error("the campaign's name is '" + definition.name.substr(0, 64) +
                         "', and it was to be '" + name + "'");
  }
  const Status named = CheckCampaignName(definition.name);
  if (!named.ok()) return named;
  if (definition.text.empty()) return Status::Error("campaign is missing: what shall be mirrored?");
  const auto campaign = ParseSlices(definition.text, source_name);
  if (!campaign) return campaign.status();
  return definition;
}

std::string PrintCampaignDefinition(const CampaignDefinition& definition) {
  Json json = {{"name", definition.name}, {"campaign", definition.text}};
  if (definition.priority != kDefaultCampaignPriority) json["priority"] = definition.priority;
  if (!definition.trigger_on.empty()) json["trigger_on"] = definition.trigger_on;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Status CheckCampaignScope(const CampaignDefinition& definition, const SliceCampaign& campaign,
                          const std::string& source_name, const Caller& caller) {
  if (caller.tenant.empty()) return Status::Ok();
  if (definition.priority > kDefaultCampaignPriority) {
    return Status::Error("priority is " + std::to_string(definition.priority) +
                         "; a tenant's campaign takes 0 to " +
                         std::to_string(kDefaultCampaignPriority));
  }
  if (caller.prefixes.empty()) return Status::Ok();
  const event_lang::Source source{source_name, definition.text};
  for (const SliceQuery& query : campaign.queries) {
    for (const Prefix& prefix : query.prefixes) {
      const bool is_own = std::any_of(caller.prefixes.begin(), caller.prefixes.end(),
                                      [&](const Prefix& own) { return Covers(own, prefix); });
      if (is_own) continue;
      return Status::Error(source.ErrorAt(
          query.offset,
          PrintPrefix(prefix) + " is not among the prefixes of tenant '" + caller.tenant + "'"));
    }
  }
  return Status::Ok();
}

}  // namespace trumpet
