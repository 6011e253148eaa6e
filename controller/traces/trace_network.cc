// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/trace_network.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "lib/model/slice_spec.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

Json HostJson(const TopologyHost& host) {
  Json json = {{"id", host.id}, {"name", host.name}, {"prefixes", Json::array()}};
  for (const Prefix& prefix : host.prefixes) json["prefixes"].push_back(PrintPrefix(prefix));
  if (!host.attached_to.empty()) json["attached_to"] = host.attached_to;
  return json;
}

Json TopologyJson(const Topology& topology) {
  Json json = {{"hosts", Json::array()}, {"switches", Json::array()}, {"links", Json::array()}};
  for (const TopologyHost& host : topology.hosts) json["hosts"].push_back(HostJson(host));
  for (const TopologySwitch& one : topology.switches) {
    json["switches"].push_back({{"name", one.name}, {"edge_ports", one.edge_ports}});
  }
  for (const TopologyLink& link : topology.links) {
    json["links"].push_back({{"from", link.from}, {"to", link.to}, {"weight", link.weight}});
  }
  return json;
}

bool ReadRules(const Json& list, std::vector<ToldRule>* rules) {
  if (!list.is_array() || list.size() > kMaxTraceRules) return false;
  for (const Json& one : list) {
    const auto number = [&one](const char* key, unsigned most) {
      return one.contains(key) && one[key].is_number_unsigned() && one[key] <= most;
    };
    const bool is_rule = one.is_object() && one.contains("name") && one["name"].is_string() &&
                         number("sample_bits", kMaxTraceSampleBits) &&
                         number("truncate", UINT16_MAX);
    if (!is_rule) return false;
    rules->push_back({one["name"].get<std::string>(), one["sample_bits"].get<uint8_t>(),
                      one["truncate"].get<uint16_t>()});
  }
  return true;
}

bool ReadChanging(const Json& list, std::vector<uint16_t>* switches) {
  if (!list.is_array() || list.size() > kMaxSwitchNumber) return false;
  for (const Json& one : list) {
    if (!one.is_number_unsigned() || one > kMaxSwitchNumber) return false;
    switches->push_back(one.get<uint16_t>());
  }
  std::sort(switches->begin(), switches->end());
  return true;
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace

std::vector<ToldRule> ToldRulesOf(const TraceRules& rules) {
  std::vector<ToldRule> told;
  for (const TraceRule& rule : rules.rules) {
    told.push_back({rule.name, rule.sample_bits, rule.snap_bytes});
  }
  return told;
}

std::string PrintToldNetwork(const ToldNetwork& network) {
  Json switches = Json::object();
  for (const auto& [number, name] : network.switches.names()) switches[name] = number;
  Json rules = Json::array();
  for (const ToldRule& rule : network.rules) {
    rules.push_back(
        {{"name", rule.name}, {"sample_bits", rule.sample_bits}, {"truncate", rule.snap_bytes}});
  }
  return Dump({{"switches", std::move(switches)},
               {"topology", TopologyJson(network.topology)},
               {"rules", std::move(rules)},
               {"changing", network.changing}});
}

Result<ToldNetwork> ParseToldNetwork(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  const bool has_both = json.is_object() && json.contains("switches") &&
                        json["switches"].is_object() && json.contains("topology");
  if (!has_both) return Status::Error("the network is told as something else than a network");
  auto topology = ParseTopologyJson(Dump(json["topology"]), "the network as it was told");
  if (!topology.ok()) return topology.status();
  ToldNetwork network{std::move(*topology), SwitchBook(), {}, {}};
  for (const auto& [name, number] : json["switches"].items()) {
    if (!number.is_number_unsigned() || number > kMaxSwitchNumber) {
      return Status::Error(name + ": has no number of a switch");
    }
    const Status added = network.switches.Add(name, number.get<uint16_t>());
    if (!added.ok()) return added;
  }
  if (json.contains("rules") && !ReadRules(json["rules"], &network.rules)) {
    return Status::Error("the rules of the network are told as something else");
  }
  if (json.contains("changing") && !ReadChanging(json["changing"], &network.changing)) {
    return Status::Error("the switches whose rules change are told as something else");
  }
  return network;
}

}  // namespace trumpet
