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
#include "lib/measure/sketch_estimates.h"
#include "lib/packet/fields.h"

namespace trumpet {
namespace {

using event_lang::Quote;
using Json = nlohmann::ordered_json;

constexpr double kDeviations95 = 1.96;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

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

bool IsDistinctCount(MeasureKind kind) {
  return kind == MeasureKind::kPcsa || kind == MeasureKind::kHyperLogLog;
}

std::string Rounded(double number) {
  char text[64];
  std::snprintf(text, sizeof text, "%.0f", number);
  return text;
}

// How many distinct keys updated a sketch.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

Estimate EstimateOf(const MeasurementView& view, MeasureIndex variable) {
  const std::vector<uint64_t> cells = ReadVariable(view.states, variable);
  const bool is_pcsa = view.program().source.variables[variable].kind == MeasureKind::kPcsa;
  const double value = is_pcsa ? EstimatePcsa(cells) : EstimateHyperLogLog(cells);
  const double error = is_pcsa ? PcsaError(cells.size()) : HyperLogLogError(cells.size());
  return {value, std::max(0.0, value * (1 - kDeviations95 * error)),
          value * (1 + kDeviations95 * error)};
}

Json EstimateJson(const Estimate& estimate) {
  return {{"value", estimate.value},
          {"low", estimate.low},
          {"high", estimate.high},
          {"confidence", 0.95}};
}

std::string EstimateText(const Estimate& estimate) {
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

struct Cell {
  uint32_t index = 0;
  uint64_t value = 0;
};

bool IsLarger(const Cell& a, const Cell& b) {
  return a.value != b.value ? a.value > b.value : a.index < b.index;
}

// The largest cells first; keeps no more than these, however many the variable has.
std::vector<Cell> LargestCells(const MeasurementView& view, MeasureIndex variable, size_t most,
                               uint64_t* in_use) {
  std::vector<Cell> cells;
  const uint32_t count = view.program().variables[variable].cell_count;
  for (uint32_t i = 0; i < count; ++i) {
    const Cell cell = {i, ReadMergedCell(view.states, variable, i)};
    if (cell.value == 0) continue;
    ++*in_use;
    cells.push_back(cell);
    if (cells.size() < 2 * most) continue;
    std::nth_element(cells.begin(), cells.begin() + static_cast<ptrdiff_t>(most), cells.end(),
                     IsLarger);
    cells.resize(most);
  }
  std::sort(cells.begin(), cells.end(), IsLarger);
  cells.resize(std::min(cells.size(), most));
  return cells;
}

uint64_t CountInUse(const MeasurementView& view, MeasureIndex variable) {
  uint64_t in_use = 0;
  const uint32_t count = view.program().variables[variable].cell_count;
  for (uint32_t i = 0; i < count; ++i) {
    if (ReadMergedCell(view.states, variable, i) != 0) ++in_use;
  }
  return in_use;
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

// What all keys together have added to a count-min sketch: each of its rows holds all of it.
uint64_t SumOfRow(const MeasurementView& view, MeasureIndex variable) {
  uint64_t sum = 0;
  const uint64_t size = view.program().source.variables[variable].size;
  for (uint32_t i = 0; i < size; ++i) sum += ReadMergedCell(view.states, variable, i);
  return sum;
}

// Adds what the cells of a key say of it.
void AddMeaning(const MeasurementView& view, MeasureIndex index, const std::vector<uint64_t>& cells,
                Json* json, std::string* text) {
  const MeasureVariable& variable = view.program().source.variables[index];
  const uint64_t least = *std::min_element(cells.begin(), cells.end());
  if (variable.kind == MeasureKind::kBloomMembership) {
    (*json)["is_member"] = least != 0;
    *text += least != 0 ? "inserted, or taken for another key" : "not inserted";
    return;
  }
  if (variable.kind == MeasureKind::kStore) {
    *text += "cells";
    for (const uint64_t cell : cells) *text += " " + std::to_string(cell);
    return;
  }
  (*json)["value"] = least;
  *text += std::to_string(least);
  if (variable.kind != MeasureKind::kCountMin || variable.merge != MeasureMerge::kSum) return;
  const double excess = std::exp(1.0) / static_cast<double>(variable.size) *
                        static_cast<double>(SumOfRow(view, index));
  const double confidence = 1 - std::exp(-static_cast<double>(variable.hashes));
  (*json)["most_excess"] = excess;
  (*json)["confidence"] = confidence;
  *text += ", too large by at most " + Rounded(excess) + " (" + FormatShare(confidence, 1.0) + ")";
}

}  // namespace

std::string FormatVariables(const MeasurementView& view, bool as_json) {
  const MeasureProgram& program = view.program().source;
  TextTable table({"variable", "kind", ">cells", ">in use", "value"});
  Json rows = Json::array();
  for (MeasureIndex i = 0; i < program.variables.size(); ++i) {
    const MeasureVariable& variable = program.variables[i];
    const uint32_t cells = view.program().variables[i].cell_count;
    const uint64_t in_use = CountInUse(view, i);
    const std::string label = MeasureVariableLabel(program, variable);
    Json row = {
        {"name", label}, {"kind", KindName(variable.kind)}, {"cells", cells}, {"in_use", in_use}};
    std::string value = "-";
    if (variable.key == kNoIndex) {
      const uint64_t number = ReadMergedCell(view.states, i, 0);
      row["value"] = number;
      value = std::to_string(number);
    } else if (IsDistinctCount(variable.kind)) {
      const Estimate estimate = EstimateOf(view, i);
      row["keys"] = EstimateJson(estimate);
      value = EstimateText(estimate);
    }
    rows.push_back(std::move(row));
    table.Add(
        {label, KindName(variable.kind), std::to_string(cells), std::to_string(in_use), value});
  }
  if (as_json) return Dump({{"program", view.measurement->name}, {"variables", std::move(rows)}});
  return table.is_empty() ? "the program has no variables\n" : table.ToString(0);
}

Result<std::string> FormatVariable(const MeasurementView& view, const std::string& name, size_t top,
                                   bool as_json) {
  const Result<MeasureIndex> index = IndexOf(view, name);
  if (!index.ok()) return index.status();
  const MeasureVariable& variable = view.program().source.variables[*index];
  uint64_t in_use = 0;
  const std::vector<Cell> largest = LargestCells(view, *index, top, &in_use);
  TextTable table({">cell", ">value"});
  Json cells = Json::array();
  for (const Cell& cell : largest) {
    table.Add({std::to_string(cell.index), std::to_string(cell.value)});
    cells.push_back({{"cell", cell.index}, {"value", cell.value}});
  }
  const uint32_t count = view.program().variables[*index].cell_count;
  Json json = {{"program", view.measurement->name},
               {"variable", name},
               {"kind", KindName(variable.kind)},
               {"cells", count},
               {"in_use", in_use},
               {"largest", std::move(cells)}};
  std::string text = table.is_empty() ? "" : table.ToString(0);
  text += std::to_string(in_use) + " of " + std::to_string(count) + " cells are not 0\n";
  if (IsDistinctCount(variable.kind)) {
    const Estimate estimate = EstimateOf(view, *index);
    json["keys"] = EstimateJson(estimate);
    text += EstimateText(estimate) + "\n";
  }
  return as_json ? Dump(json) : text;
}

Result<std::string> FormatAtKey(const MeasurementView& view, const std::string& name,
                                const std::string& key, bool as_json) {
  const Result<MeasureIndex> index = IndexOf(view, name);
  if (!index.ok()) return index.status();
  const MeasureProgram& program = view.program().source;
  const MeasureVariable& variable = program.variables[*index];
  if (variable.key == kNoIndex) return Status::Error(Quote(name) + " has no key");
  if (IsDistinctCount(variable.kind)) {
    return Status::Error(Quote(name) + " tells how many keys there were, but nothing of one");
  }
  const Result<PacketValues> values = ReadKey(program, program.keys[variable.key], key);
  if (!values.ok()) return values.status();
  const std::vector<uint64_t> cells = ReadKeyCells(view.states, *index, *values);
  Json json = {{"program", view.measurement->name},
               {"variable", name},
               {"kind", KindName(variable.kind)},
               {"key", key},
               {"cells", cells}};
  std::string text = name + " of " + key + ": ";
  AddMeaning(view, *index, cells, &json, &text);
  return as_json ? Dump(json) : text + "\n";
}

}  // namespace trumpet
