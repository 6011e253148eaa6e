// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/measurement_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "lib/base/text_table.h"
#include "lib/lang/event/diagnostic.h"
#include "lib/measure/key_text.h"
#include "lib/measure/packet_values.h"
#include "lib/measure/read_state.h"
#include "lib/measure/variable_reading.h"
#include "vswitchd-plugin/json_line.h"

namespace trumpet {
namespace {

using event_lang::Quote;
using Json = nlohmann::ordered_json;

std::string Rounded(double number) {
  char text[64];
  std::snprintf(text, sizeof text, "%.0f", number);
  return text;
}

Json EstimateJson(const MeasureEstimate& estimate) {
  return {{"value", estimate.value},
          {"low", estimate.low},
          {"high", estimate.high},
          {"confidence", estimate.confidence}};
}

std::string EstimateText(const MeasureEstimate& estimate) {
  return "about " + Rounded(estimate.value) + " keys (" + Rounded(estimate.low) + " to " +
         Rounded(estimate.high) + ", 95%)";
}

MeasureReading ReadingOf(const MeasurementView& view, MeasureIndex index, size_t most) {
  return ReadingOf(view.program().source.variables[index], ReadVariable(view.states, index), most);
}

// --- keys --------------------------------------------------------------------

std::vector<uint64_t> ValuesOf(const MeasureKey& key, const PacketValues& packet) {
  std::vector<uint64_t> values;
  for (const MeasureFieldId field : key.fields) values.push_back(packet.value[field]);
  return values;
}

MeasureKeyReading ReadingAt(const MeasurementView& view, MeasureIndex index,
                            const PacketValues& packet, std::optional<uint64_t> total) {
  const MeasureProgram& program = view.program().source;
  const MeasureVariable& variable = program.variables[index];
  if (!OnlyGrows(program, index)) total.reset();
  return ReadingOfKey(variable, ValuesOf(program.keys[variable.key], packet),
                      ReadKeyCells(view.states, index, packet), total);
}

// Adds what the cells of a key say of it.
void AddMeaning(const MeasureVariable& variable, const MeasureKeyReading& reading, Json* json,
                std::string* text) {
  if (variable.kind == MeasureKind::kBloomMembership) {
    (*json)["is_member"] = reading.value != 0;
    *text += reading.value != 0 ? "inserted, or taken for another key" : "not inserted";
    return;
  }
  if (variable.kind == MeasureKind::kStore) {
    *text += "cells";
    for (const uint64_t cell : reading.cells) *text += " " + std::to_string(cell);
    return;
  }
  (*json)["value"] = reading.value;
  *text += std::to_string(reading.value);
  if (!reading.estimate) return;
  (*json)["least"] = reading.estimate->low;
  (*json)["confidence"] = reading.estimate->confidence;
  *text += ", and not less than " + Rounded(reading.estimate->low) + " (" +
           FormatShare(reading.estimate->confidence, 1.0) + ")";
}

// --- keys of packets that were collected -------------------------------------

// Sketches keep no keys: those of the packets that the program collected last are looked up.
void AddTopKeys(const MeasurementStatus& status, MeasureIndex index, const MeasureReading& whole,
                size_t most, Json* json, std::string* text) {
  const MeasureProgram& program = status.view.program().source;
  const MeasureVariable& variable = program.variables[index];
  std::vector<MeasureKeyReading> keys;
  for (const CollectedPacket& packet : status.copies) {
    keys.push_back(ReadingAt(status.view, index, FieldsOf(packet), whole.total));
  }
  const MeasureKey& key = program.keys[variable.key];
  TextTable table({"key of a collected packet", "value"});
  Json rows = Json::array();
  for (const MeasureKeyReading& each : TopKeys(std::move(keys), most)) {
    Json row = {{"key", FormatMeasureKey(key, each.key)}};
    std::string value;
    AddMeaning(variable, each, &row, &value);
    table.Add({FormatMeasureKey(key, each.key), value});
    rows.push_back(std::move(row));
  }
  (*json)["top_keys"] = std::move(rows);
  if (!table.is_empty()) *text += table.ToString(0);
}

}  // namespace

std::string FormatVariables(const MeasurementView& view, bool as_json) {
  const MeasureProgram& program = view.program().source;
  TextTable table({"variable", "kind", ">cells", ">in use", "value"});
  Json rows = Json::array();
  for (MeasureIndex i = 0; i < program.variables.size(); ++i) {
    const MeasureVariable& variable = program.variables[i];
    const MeasureReading reading = ReadingOf(view, i, 0);
    const std::string label = MeasureVariableLabel(program, variable);
    Json row = {{"name", label},
                {"kind", MeasureKindName(variable.kind)},
                {"cells", reading.cells},
                {"in_use", reading.in_use}};
    std::string value = "-";
    if (reading.number) {
      row["value"] = *reading.number;
      value = std::to_string(*reading.number);
    } else if (reading.keys) {
      row["keys"] = EstimateJson(*reading.keys);
      value = EstimateText(*reading.keys);
    } else if (reading.total) {
      row["total"] = *reading.total;
      value = std::to_string(*reading.total) + " in all";
    }
    rows.push_back(std::move(row));
    table.Add({label, MeasureKindName(variable.kind), std::to_string(reading.cells),
               std::to_string(reading.in_use), value});
  }
  if (as_json)
    return JsonLine({{"program", view.measurement->name}, {"variables", std::move(rows)}});
  return table.is_empty() ? "the program has no variables\n" : table.ToString(0);
}

Result<std::string> FormatVariable(const MeasurementStatus& status, const std::string& name,
                                   size_t top, bool as_json) {
  const MeasurementView& view = status.view;
  const Result<MeasureIndex> index = FindMeasureVariable(view.program().source, name);
  if (!index.ok()) return index.status();
  const MeasureVariable& variable = view.program().source.variables[*index];
  const MeasureReading reading = ReadingOf(view, *index, top);
  TextTable table({">cell", ">value"});
  Json cells = Json::array();
  for (const MeasureCell& cell : reading.largest) {
    table.Add({std::to_string(cell.index), std::to_string(cell.value)});
    cells.push_back({{"cell", cell.index}, {"value", cell.value}});
  }
  Json json = {{"program", view.measurement->name},
               {"variable", name},
               {"kind", MeasureKindName(variable.kind)},
               {"cells", reading.cells},
               {"in_use", reading.in_use},
               {"largest", std::move(cells)}};
  std::string text = table.is_empty() ? "" : table.ToString(0);
  text += std::to_string(reading.in_use) + " of " + std::to_string(reading.cells) +
          " cells are not 0\n";
  if (reading.number) json["value"] = *reading.number;
  if (reading.total) {
    json["total"] = *reading.total;
    text += "all keys together " + std::to_string(*reading.total) + "\n";
  }
  if (reading.keys) {
    json["keys"] = EstimateJson(*reading.keys);
    text += EstimateText(*reading.keys) + "\n";
  } else if (variable.key != kNoIndex) {
    AddTopKeys(status, *index, reading, top, &json, &text);
  }
  return as_json ? JsonLine(json) : text;
}

Result<PacketValues> PacketOfKey(const MeasureProgram& program, const std::string& name,
                                 const std::string& key) {
  const Result<MeasureIndex> index = FindMeasureVariable(program, name);
  if (!index.ok()) return index.status();
  const MeasureVariable& variable = program.variables[*index];
  if (variable.key == kNoIndex) return Status::Error(Quote(name) + " has no key");
  const MeasureKey& fields = program.keys[variable.key];
  const Result<std::vector<uint64_t>> values = ReadMeasureKey(program, fields, key);
  if (!values.ok()) return values.status();
  PacketValues packet;
  for (size_t i = 0; i < values->size(); ++i) packet.Set(fields.fields[i], (*values)[i]);
  return packet;
}

Result<std::string> FormatAtKey(const MeasurementView& view, const std::string& name,
                                const std::string& key, bool as_json) {
  const MeasureProgram& program = view.program().source;
  const Result<PacketValues> packet = PacketOfKey(program, name, key);
  if (!packet.ok()) return packet.status();
  const Result<MeasureIndex> index = FindMeasureVariable(program, name);
  const MeasureVariable& variable = program.variables[*index];
  if (CountsKeys(variable.kind)) {
    return Status::Error(Quote(name) + " tells how many keys there were, but nothing of one");
  }
  const MeasureKeyReading reading =
      ReadingAt(view, *index, *packet, ReadingOf(view, *index, 0).total);
  Json json = {{"program", view.measurement->name},
               {"variable", name},
               {"kind", MeasureKindName(variable.kind)},
               {"key", key},
               {"cells", reading.cells}};
  std::string text = name + " of " + key + ": ";
  AddMeaning(variable, reading, &json, &text);
  return as_json ? JsonLine(json) : text + "\n";
}

}  // namespace trumpet
