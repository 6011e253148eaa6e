// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/measurement_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>
#include <vector>

#include "lib/base/text_table.h"
#include "lib/lang/event/diagnostic.h"
#include "lib/measure/cell.h"
#include "lib/measure/packet_values.h"
#include "lib/measure/read_state.h"
#include "lib/measure/variable_reading.h"
#include "lib/packet/fields.h"
#include "vswitchd-plugin/json_line.h"

namespace trumpet {
namespace {

using event_lang::Quote;
using Json = nlohmann::ordered_json;

const char* KindName(MeasureKind kind) {
  switch (kind) {
    case MeasureKind::kCounter:
      return "counter";
    case MeasureKind::kTimestamp:
      return "timestamp";
    case MeasureKind::kCounterMap:
      return "map";
    case MeasureKind::kTimestampMap:
      return "timestamp map";
    case MeasureKind::kBloomMembership:
      return "membership filter";
    case MeasureKind::kBloomCounting:
      return "counting filter";
    case MeasureKind::kCountMin:
      return "count-min";
    case MeasureKind::kStore:
      return "store";
    case MeasureKind::kPcsa:
      return "pcsa";
    case MeasureKind::kHyperLogLog:
      return "hyperloglog";
  }
  return "";
}

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

Result<MeasureIndex> IndexOf(const MeasurementView& view, const std::string& name) {
  const MeasureProgram& program = view.program().source;
  for (MeasureIndex i = 0; i < program.variables.size(); ++i) {
    if (MeasureVariableLabel(program, program.variables[i]) == name) return i;
  }
  return Status::Error("the program " + Quote(view.measurement->name) + " has no variable " +
                       Quote(name));
}

MeasureReading ReadingOf(const MeasurementView& view, MeasureIndex index, size_t most) {
  return ReadingOf(view.program().source.variables[index], ReadVariable(view.states, index), most);
}

// --- keys --------------------------------------------------------------------

std::string FieldName(const MeasureProgram& program, MeasureFieldId field) {
  return field < kMeasureFieldCount ? kMeasureFields[field].name
                                    : program.header_fields[field - kMeasureFieldCount].name;
}

std::optional<uint64_t> ReadFieldValue(MeasureFieldId field, const std::string& text) {
  const bool is_address = field == kIpv4Src || field == kIpv4Dst;
  const bool is_mac = field == kEthSrc || field == kEthDst;
  std::optional<FieldValue> special;
  if (is_address) special = ParseIpv4(text);
  if (is_mac) special = ParseMac(text);
  if (special) return static_cast<uint64_t>(special->value);
  const bool is_hex = text.size() > 2 && text[0] == '0' && text[1] == 'x';
  const char* const begin = text.data() + (is_hex ? 2 : 0);
  const char* const end = text.data() + text.size();
  uint64_t value = 0;
  const auto [last, error] = std::from_chars(begin, end, value, is_hex ? 16 : 10);
  if (error != std::errc() || last != end) return std::nullopt;
  return value;
}

std::vector<std::string> SplitAtCommas(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Result<PacketValues> ReadKey(const MeasureProgram& program, const MeasureKey& key,
                             const std::string& text) {
  const std::vector<std::string> parts = SplitAtCommas(text);
  if (parts.size() != key.fields.size()) {
    std::string names;
    for (const MeasureFieldId field : key.fields) {
      names += (names.empty() ? "" : ",") + FieldName(program, field);
    }
    return Status::Error("the key is " + Quote(text) + "; it takes values of " + names);
  }
  PacketValues values;
  for (size_t i = 0; i < parts.size(); ++i) {
    const MeasureFieldId field = key.fields[i];
    const std::optional<uint64_t> value = ReadFieldValue(field, parts[i]);
    const uint8_t bits = FieldBits(program, field);
    if (!value || *value > BitMask(bits)) {
      return Status::Error(FieldName(program, field) + " is " + Quote(parts[i]) +
                           "; it takes a number of " + std::to_string(bits) + " bits");
    }
    values.Set(field, *value);
  }
  return values;
}

std::vector<uint64_t> ValuesOf(const MeasureKey& key, const PacketValues& packet) {
  std::vector<uint64_t> values;
  for (const MeasureFieldId field : key.fields) values.push_back(packet.value[field]);
  return values;
}

MeasureKeyReading ReadingAt(const MeasurementView& view, MeasureIndex index,
                            const PacketValues& packet, std::optional<uint64_t> total) {
  const MeasureProgram& program = view.program().source;
  const MeasureVariable& variable = program.variables[index];
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

PacketValues FieldsOf(const CollectedPacket& packet) {
  PacketValues values;
  size_t at = 0;
  for (uint64_t left = packet.present; left != 0; left &= left - 1) {
    values.Set(static_cast<MeasureFieldId>(__builtin_ctzll(left)), packet.values[at++]);
  }
  return values;
}

std::string FieldText(MeasureFieldId field, uint64_t value) {
  ValueKind kind = ValueKind::kNumber;
  if (field == kIpv4Src || field == kIpv4Dst) kind = ValueKind::kIpv4;
  if (field == kEthSrc || field == kEthDst) kind = ValueKind::kMac;
  return FormatValue({kind, value});
}

std::string KeyText(const MeasureKey& key, const std::vector<uint64_t>& values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    text += (i == 0 ? "" : ",") + FieldText(key.fields[i], values[i]);
  }
  return text;
}

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
    Json row = {{"key", KeyText(key, each.key)}};
    std::string value;
    AddMeaning(variable, each, &row, &value);
    table.Add({KeyText(key, each.key), value});
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
                {"kind", KindName(variable.kind)},
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
    table.Add({label, KindName(variable.kind), std::to_string(reading.cells),
               std::to_string(reading.in_use), value});
  }
  if (as_json)
    return JsonLine({{"program", view.measurement->name}, {"variables", std::move(rows)}});
  return table.is_empty() ? "the program has no variables\n" : table.ToString(0);
}

Result<std::string> FormatVariable(const MeasurementStatus& status, const std::string& name,
                                   size_t top, bool as_json) {
  const MeasurementView& view = status.view;
  const Result<MeasureIndex> index = IndexOf(view, name);
  if (!index.ok()) return index.status();
  const MeasureVariable& variable = view.program().source.variables[*index];
  const MeasureReading reading = ReadingOf(view, *index, top);
  TextTable table({">cell", ">value"});
  Json cells = Json::array();
  for (const MeasureCell& cell : reading.largest) {
    table.Add({std::to_string(cell.index), std::to_string(cell.value)});
    cells.push_back({{"cell", cell.index}, {"value", cell.value}});
  }
  Json json = {{"program", view.measurement->name}, {"variable", name},
               {"kind", KindName(variable.kind)},   {"cells", reading.cells},
               {"in_use", reading.in_use},          {"largest", std::move(cells)}};
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

Result<std::string> FormatAtKey(const MeasurementView& view, const std::string& name,
                                const std::string& key, bool as_json) {
  const Result<MeasureIndex> index = IndexOf(view, name);
  if (!index.ok()) return index.status();
  const MeasureProgram& program = view.program().source;
  const MeasureVariable& variable = program.variables[*index];
  if (variable.key == kNoIndex) return Status::Error(Quote(name) + " has no key");
  if (CountsKeys(variable.kind)) {
    return Status::Error(Quote(name) + " tells how many keys there were, but nothing of one");
  }
  const Result<PacketValues> values = ReadKey(program, program.keys[variable.key], key);
  if (!values.ok()) return values.status();
  const MeasureKeyReading reading =
      ReadingAt(view, *index, *values, ReadingOf(view, *index, 0).total);
  Json json = {{"program", view.measurement->name},
               {"variable", name},
               {"kind", KindName(variable.kind)},
               {"key", key},
               {"cells", reading.cells}};
  std::string text = name + " of " + key + ": ";
  AddMeaning(variable, reading, &json, &text);
  return as_json ? JsonLine(json) : text + "\n";
}

}  // namespace trumpet
