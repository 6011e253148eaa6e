// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/measurement_views.h"

#include <utility>

#include "lib/measure/cell.h"
#include "lib/measure/key_text.h"
#include "lib/measure/program_loader.h"
#include "lib/measure/read_state.h"
#include "lib/measure/variable_reading.h"
#include "lib/wire/limits.h"

namespace trumpet {
namespace {

const char* StateName(MeasurementOnHost state) {
  switch (state) {
    case MeasurementOnHost::kWaiting:
      return "waiting";
    case MeasurementOnHost::kRunning:
      return "running";
    case MeasurementOnHost::kRefused:
      return "refused";
    case MeasurementOnHost::kAway:
      return "away";
  }
  return "";
}

Json EstimateJson(const MeasureEstimate& estimate) {
  return {{"value", estimate.value},
          {"low", estimate.low},
          {"high", estimate.high},
          {"confidence", estimate.confidence}};
}

uint32_t CellsOf(const MeasureVariable& variable) {
  return static_cast<uint32_t>(variable.CellCount());  // at most kMaxMeasureCells
}

bool SumsInRows(const MeasureVariable& variable) {
  return variable.kind == MeasureKind::kCountMin && variable.merge == MeasureMerge::kSum;
}

Json VariableJson(const MeasureProgram& program, const CellQuestion& question,
                  const std::vector<uint64_t>& cells, size_t top) {
  const MeasureVariable& variable = program.variables[question.variable];
  const MeasureReading reading = ReadingOf(variable, cells, top);
  Json json = {{"name", MeasureVariableLabel(program, variable)},
               {"kind", MeasureKindName(variable.kind)},
               {"cells", reading.cells},
               {"in_use", reading.in_use}};
  if (reading.number) json["value"] = *reading.number;
  if (reading.keys) json["keys"] = EstimateJson(*reading.keys);
  if (reading.total) json["total"] = *reading.total;
  json["largest"] = Json::array();
  for (const MeasureCell& cell : reading.largest) {
    json["largest"].push_back({{"cell", cell.index}, {"value", cell.value}});
  }
  return json;
}

// The cells of the key come first, and then, of a sketch that sums, all of it.
Json KeyJson(const MeasureProgram& program, const MeasurementQuestion& question,
             const std::vector<CellQuestion>& asked, const CellReading& reading) {
  const MeasureVariable& variable = program.variables[asked[0].variable];
  std::optional<uint64_t> total;
  if (asked.size() > 1) total = ReadingOf(variable, reading.cells[1], 0).total;
  const MeasureKeyReading of_key = ReadingOfKey(variable, asked[0].key, reading.cells[0], total);
  Json json = {{"name", MeasureVariableLabel(program, variable)},
               {"kind", MeasureKindName(variable.kind)},
               {"key", question.key},
               {"key_cells", of_key.cells},
               {"value", of_key.value}};
  if (of_key.estimate) json["estimate"] = EstimateJson(*of_key.estimate);
  return json;
}

CellQuestion WholeOf(const MeasureProgram& program, MeasureIndex index) {
  const MeasureVariable& variable = program.variables[index];
  return {index, variable.merge, CellsOf(variable), {}};
}

// Sketches and maps keep no keys; those of packets that hosts have collected are looked up.
bool HasTopKeys(const MeasureVariable& variable) {
  return variable.key != kNoIndex && !CountsKeys(variable.kind) && !variable.evicts;
}

std::vector<MeasureKeyReading> TopKeysOf(const NetworkMeasurement& measurement, MeasureIndex index,
                                         const CellReading& reading, size_t most) {
  const MeasureProgram& program = measurement.program;
  const MeasureVariable& variable = program.variables[index];
  const MeasureKey& key = program.keys[variable.key];
  MeasureLoadOptions options;
  options.seed = measurement.definition.seed;
  const auto loaded = LoadMeasureProgram(program, options);
  if (!loaded.ok()) return {};
  std::optional<uint64_t> total;
  if (OnlyGrows(program, index)) total = ReadingOf(variable, reading.cells[0], 0).total;
  const std::vector<uint64_t>& values = reading.cells[1];
  std::vector<MeasureKeyReading> keys;
  for (size_t at = 0; at + key.fields.size() <= values.size(); at += key.fields.size()) {
    PacketValues packet;
    std::vector<uint64_t> one;
    bool is_sound = true;  // a host may say anything
    for (const MeasureFieldId field : key.fields) {
      one.push_back(values[at + one.size()]);
      is_sound = is_sound && one.back() <= BitMask(FieldBits(program, field));
      packet.Set(field, one.back());
    }
    if (!is_sound) continue;
    std::vector<uint64_t> cells;
    for (const uint32_t cell : CellsOfKey(**loaded, index, packet)) {
      cells.push_back(reading.cells[0][cell]);
    }
    keys.push_back(ReadingOfKey(variable, one, cells, total));
  }
  return TopKeys(std::move(keys), most);
}

Json TopKeysJson(const NetworkMeasurement& measurement, MeasureIndex index,
                 const CellReading& reading, size_t most) {
  const MeasureProgram& program = measurement.program;
  const MeasureKey& key = program.keys[program.variables[index].key];
  Json list = Json::array();
  for (const MeasureKeyReading& each : TopKeysOf(measurement, index, reading, most)) {
    Json one = {{"key", FormatMeasureKey(key, each.key)}, {"value", each.value}};
    if (each.estimate) one["estimate"] = EstimateJson(*each.estimate);
    list.push_back(std::move(one));
  }
  return list;
}

Result<std::vector<CellQuestion>> QuestionsOfKey(const MeasureProgram& program, MeasureIndex index,
                                                 const std::string& text) {
  const MeasureVariable& variable = program.variables[index];
  const std::string label = MeasureVariableLabel(program, variable);
  if (variable.key == kNoIndex) return Status::Error("'" + label + "' has no key");
  if (CountsKeys(variable.kind)) {
    return Status::Error("'" + label + "' tells how many keys there were, but nothing of one");
  }
  auto key = ReadMeasureKey(program, program.keys[variable.key], text);
  if (!key.ok()) return key.status();
  std::vector<CellQuestion> questions = {{index, variable.merge, 0, std::move(*key)}};
  if (SumsInRows(variable) && OnlyGrows(program, index)) {
    questions.push_back(WholeOf(program, index));
  }
  return questions;
}

// Without what differs from endpoint to endpoint.
Json CopiesJson(const ProgramCopies& copies) {
  const EndpointCopies sum = copies.Sum();
  return {{"collected", copies.collected}, {"sent", sum.sent},    {"over_rate", sum.over_rate},
          {"failed", sum.failed},          {"lost", copies.lost}, {"unbound", copies.unbound}};
}

Json EndpointsJson(const NetworkMeasurement& measurement) {
  Json list = Json::array();
  const EndpointAddresses& addresses = measurement.definition.places.endpoints;
  for (size_t i = 0; i < measurement.program.endpoints.size(); ++i) {
    const std::string& name = measurement.program.endpoints[i];
    EndpointCopies copies;
    if (i < measurement.copies.endpoints.size()) copies = measurement.copies.endpoints[i];
    Json one = {{"endpoint", name}};
    const auto address = addresses.find(name);
    if (address != addresses.end()) one["address"] = address->second;
    one["sent"] = copies.sent;
    one["over_rate"] = copies.over_rate;
    one["failed"] = copies.failed;
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace

Json ToJson(const NetworkMeasurement& measurement) {
  const MeasurementDefinition& definition = measurement.definition;
  Json json = {{"name", measurement.record.name},
               {"program", definition.text},
               {"params", definition.params},
               {"installed", measurement.record.is_enabled},
               {"created_ns", measurement.record.created_ns},
               {"changed_by", measurement.record.changed_by}};
  if (!measurement.problem.empty()) json["problem"] = measurement.problem;
  if (definition.params.empty()) json["params"] = Json::object();
  PrintMeasurementPlaces(definition.places, /*is_stored=*/false, &json);
  json["every_host"] = definition.hosts.empty();
  json["hosts"] = Json::array();
  for (const MeasurementHost& host : measurement.hosts) {
    Json one = {{"id", host.id}, {"state", StateName(host.state)}};
    if (!host.error.empty()) one["error"] = host.error;
    if (host.switch_id) one["switch"] = *host.switch_id;
    if (host.copies) one["copies"] = CopiesJson(*host.copies);
    json["hosts"].push_back(std::move(one));
  }
  json["variables"] = Json::array();
  for (const MeasureVariable& variable : measurement.program.variables) {
    json["variables"].push_back({{"name", MeasureVariableLabel(measurement.program, variable)},
                                 {"kind", MeasureKindName(variable.kind)},
                                 {"cells", variable.CellCount()},
                                 {"merges", variable.merge != MeasureMerge::kShared}});
  }
  json["copies"] = CopiesJson(measurement.copies);
  json["copies"]["endpoints"] = EndpointsJson(measurement);
  return json;
}

Result<std::vector<CellQuestion>> CellsFor(const MeasureProgram& program,
                                           const MeasurementQuestion& question) {
  if (question.variable.empty()) {
    if (!question.key.empty()) return Status::Error("a key goes with a variable");
    std::vector<CellQuestion> questions;
    for (MeasureIndex i = 0; i < program.variables.size(); ++i) {
      const bool merges = program.variables[i].merge != MeasureMerge::kShared;
      if (merges || !question.host.empty()) questions.push_back(WholeOf(program, i));
    }
    if (!questions.empty()) return questions;
    return Status::Error("no variable of it merges over hosts; say which host");
  }
  const auto index = FindMeasureVariable(program, question.variable);
  if (!index.ok()) return index.status();
  if (program.variables[*index].merge == MeasureMerge::kShared && question.host.empty()) {
    return Status::Error("'" + question.variable + "' does not merge over hosts; say which host");
  }
  if (!question.key.empty()) return QuestionsOfKey(program, *index, question.key);
  std::vector<CellQuestion> questions = {WholeOf(program, *index)};
  if (HasTopKeys(program.variables[*index])) {
    CellQuestion keys{*index, MeasureMerge::kShared, kMaxCellsAsked, {}};
    keys.wants_keys = true;
    questions.push_back(std::move(keys));
  }
  return questions;
}

Json ReadingJson(const NetworkMeasurement& measurement, const MeasurementQuestion& question,
                 const std::vector<CellQuestion>& cells, const CellReading& reading) {
  Json json = {{"measurement", measurement.record.name},
               {"complete", reading.silent.empty()},
               {"hosts", reading.hosts},
               {"silent", Json::array()},
               {"variables", Json::array()}};
  for (const SilentHost& host : reading.silent) {
    json["silent"].push_back({{"id", host.host}, {"why", host.why}});
  }
  if (reading.cells.empty()) return json;
  if (!question.key.empty()) {
    json["variables"].push_back(KeyJson(measurement.program, question, cells, reading));
    return json;
  }
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].wants_keys) {
      json["variables"].back()["top_keys"] =
          TopKeysJson(measurement, cells[i].variable, reading, question.top);
      continue;
    }
    json["variables"].push_back(
        VariableJson(measurement.program, cells[i], reading.cells[i], question.top));
  }
  return json;
}

}  // namespace trumpet
