// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/measure/measurement_definition.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "lib/lang/mafia/mafia_language.h"
#include "lib/measure/program_loader.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

// The switch's own rule.
Status CheckName(const std::string& name) {
  const bool is_word = std::all_of(name.begin(), name.end(), IsNameByte);
  if (is_word && !name.empty() && name.size() <= 64 && name[0] != '-' && name[0] != '.' &&
      name != "json") {
    return Status::Ok();
  }
  return Status::Error(
      "a measurement's name takes 1 to 64 letters, digits, '-', '_' and '.', does not begin with "
      "'-' or '.', and is not json");
}

Status ReadParams(const Json& value, MeasurementDefinition* definition) {
  for (const auto& [name, one] : value.items()) {
    if (!one.is_string()) return Status::Error("params takes texts: {\"WINDOW\": \"10ms\"}");
    definition->params[name] = one.get<std::string>();
  }
  return Status::Ok();
}

Status ReadHosts(const Json& value, MeasurementDefinition* definition) {
  for (const Json& host : value) {
    if (!host.is_string() || host.get_ref<const std::string&>().empty()) {
      return Status::Error("hosts takes ids or names of hosts");
    }
    definition->hosts.push_back(host.get<std::string>());
  }
  std::sort(definition->hosts.begin(), definition->hosts.end());
  const auto end = std::unique(definition->hosts.begin(), definition->hosts.end());
  definition->hosts.erase(end, definition->hosts.end());
  return Status::Ok();
}

Status ReadKey(const std::string& key, const Json& value, bool is_stored,
               MeasurementDefinition* definition) {
  if (key == "name" && value.is_string()) {
    definition->name = value.get<std::string>();
    return Status::Ok();
  }
  if (key == "program" && value.is_string()) {
    definition->text = value.get<std::string>();
    return Status::Ok();
  }
  if (key == "params" && value.is_object()) return ReadParams(value, definition);
  if (key == "hosts" && value.is_array() && value.size() <= kMaxMeasurementHosts) {
    return ReadHosts(value, definition);
  }
  if (key == "seed" && is_stored && value.is_number_unsigned()) {
    definition->seed = value.get<uint64_t>();
    return Status::Ok();
  }
  if (key == "name" || key == "program") return Status::Error(key + " takes a text");
  if (key == "params") return Status::Error("params takes an object of texts");
  if (key == "hosts") {
    return Status::Error("hosts takes a list of at most " + std::to_string(kMaxMeasurementHosts) +
                         " hosts");
  }
  const Result<bool> is_place = ReadMeasurementPlace(key, value, is_stored, &definition->places);
  if (!is_place.ok()) return is_place.status();
  if (*is_place) return Status::Ok();
  return Status::Error("a measurement has no '" + key.substr(0, 64) +
                       "'; it has name, program, params, hosts, edges, switches, lab, endpoints "
                       "and copy_rate");
}

}  // namespace

Result<MeasurementDefinition> ReadMeasurementDefinition(std::string_view json,
                                                        const std::string& name, bool is_stored) {
  const Json parsed = Json::parse(json, nullptr, false);
  if (!parsed.is_object()) return Status::Error("the measurement is no JSON object");
  MeasurementDefinition definition;
  definition.name = name;
  for (const auto& [key, value] : parsed.items()) {
    const Status status = ReadKey(key, value, is_stored, &definition);
    if (!status.ok()) return status;
  }
  if (!name.empty() && definition.name != name) {
    return Status::Error("the measurement's name is '" + definition.name.substr(0, 64) +
                         "', and it was to be '" + name + "'");
  }
  const Status named = CheckName(definition.name);
  if (!named.ok()) return named;
  if (definition.text.empty()) return Status::Error("program is missing: what shall be measured?");
  return definition;
}

std::string PrintMeasurementDefinition(const MeasurementDefinition& definition) {
  Json json = {{"name", definition.name}, {"program", definition.text}};
  if (!definition.params.empty()) json["params"] = definition.params;
  if (!definition.hosts.empty()) json["hosts"] = definition.hosts;
  PrintMeasurementPlaces(definition.places, /*is_stored=*/true, &json);
  if (definition.seed != 0) json["seed"] = definition.seed;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

namespace {

// All that are bound are the program's.
Status CheckEndpoints(const MeasureProgram& program, const EndpointAddresses& endpoints) {
  const std::vector<std::string>& names = program.endpoints;
  for (const auto& [endpoint, address] : endpoints) {
    if (std::find(names.begin(), names.end(), endpoint) != names.end()) continue;
    std::string known;
    for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
    return Status::Error("endpoints: the program has no endpoint '" + endpoint.substr(0, 64) +
                         "'; it has " + (known.empty() ? "none" : known));
  }
  return Status::Ok();
}

}  // namespace

Result<MeasureProgram> CompileMeasurement(const MeasurementDefinition& definition) {
  MafiaOptions options;
  options.params = definition.params;
  Result<MeasureProgram> program = CompileMafia(definition.text, definition.name, options);
  if (!program.ok()) return program;
  const Status bound = CheckEndpoints(*program, definition.places.endpoints);
  if (!bound.ok()) return bound;
  program->name = definition.name;
  // What no switch could load is refused here; budgets are the switches' own.
  MeasureLoadOptions load;
  load.thread_count = kManyThreads;
  const auto loaded = LoadMeasureProgram(*program, load);
  if (!loaded.ok()) return loaded.status();
  return program;
}

}  // namespace trumpet
