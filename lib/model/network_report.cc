// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/model/network_report.h"

#include <utility>

namespace trumpet {
namespace {

std::string ShareToJson(const HostShare& share) {
  std::string json = "{\"host\":" + JsonQuote(share.host);
  json += ",\"packets\":" + std::to_string(share.packets);
  json += ",\"value\":" + share.value.ToString();
  if (share.incomplete_reasons == 0) return json + ",\"complete\":true}";
  return json + ",\"complete\":false,\"reasons\":" + ReasonsToJson(share.incomplete_reasons) + "}";
}

template <typename Item, typename ToJson>
std::string ListToJson(const std::vector<Item>& items, const ToJson& to_json) {
  std::string json = "[";
  for (const Item& item : items) {
    if (json.size() > 1) json += ',';
    json += to_json(item);
  }
  return json + "]";
}

// With its key; nothing if there are none.
std::string StagesToJson(const VerdictStages& stages) {
  const std::pair<const char*, Nanos> instants[] = {{"told_ns", stages.told_ns},
                                                    {"delivered_ns", stages.delivered_ns},
                                                    {"asked_ns", stages.asked_ns},
                                                    {"answered_ns", stages.answered_ns}};
  std::string json;
  for (const auto& [name, instant] : instants) {
    if (instant == 0) continue;
    json += (json.empty() ? "{\"" : ",\"") + std::string(name) + "\":" + std::to_string(instant);
  }
  return json.empty() ? "" : ",\"stages\":" + json + "}";
}

// Nothing where there are none.
std::string NamesToJson(const std::string& key, const std::vector<std::string>& names,
                        uint32_t omitted) {
  std::string json;
  if (!names.empty()) json += ",\"" + key + "\":" + ListToJson(names, JsonQuote);
  if (omitted != 0) json += ",\"" + key + "_omitted\":" + std::to_string(omitted);
  return json;
}

}  // namespace

std::string ToJsonLine(const NetworkReport& network) {
  std::string json = ToJsonLine(network.report);
  json.pop_back();
  if (network.is_clear) json += ",\"cleared\":true";
  json += ",\"host_count\":" + std::to_string(network.host_count);
  if (!network.is_clear) json += ",\"hosts\":" + ListToJson(network.hosts, ShareToJson);
  if (network.hosts_omitted != 0) {
    json += ",\"hosts_omitted\":" + std::to_string(network.hosts_omitted);
  }
  json += NamesToJson("silent", network.silent_hosts, network.silent_omitted);
  json += NamesToJson("monitor_off", network.off_hosts, network.off_omitted);
  json += ",\"skew_ns\":" + std::to_string(network.skew_bound_ns);
  json += StagesToJson(network.stages);
  if (network.suppressed != 0) json += ",\"suppressed\":" + std::to_string(network.suppressed);
  return json + "}";
}

}  // namespace trumpet
