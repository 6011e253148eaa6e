// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/variable_reading.h"

#include <algorithm>
#include <cmath>

#include "lib/measure/sketch_estimates.h"

namespace trumpet {
namespace {

MeasureEstimate KeysOf(MeasureKind kind, const std::vector<uint64_t>& cells) {
  const bool is_pcsa = kind == MeasureKind::kPcsa;
  const double value = is_pcsa ? EstimatePcsa(cells) : EstimateHyperLogLog(cells);
  const KeyBounds bounds = is_pcsa ? PcsaBounds(cells) : HyperLogLogBounds(cells);
  return {value, bounds.low, bounds.high, kKeyConfidence};
}

bool IsLarger(const MeasureCell& a, const MeasureCell& b) {
  return a.value != b.value ? a.value > b.value : a.index < b.index;
}

// Keeps twice as many as are asked for at most, however many there are.
std::vector<MeasureCell> LargestOf(const std::vector<uint64_t>& cells, size_t most) {
  std::vector<MeasureCell> largest;
  const auto cut = [&largest, most] {
    if (largest.size() <= most) return;
    const auto end = largest.begin() + static_cast<ptrdiff_t>(most);
    std::nth_element(largest.begin(), end, largest.end(), IsLarger);
    largest.resize(most);
  };
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] == 0) continue;
    largest.push_back({static_cast<uint32_t>(i), cells[i]});
    if (largest.size() >= 2 * most + 1) cut();
  }
  cut();
  std::sort(largest.begin(), largest.end(), IsLarger);
  return largest;
}

bool Sums(const MeasureVariable& variable) {
  return variable.kind == MeasureKind::kCountMin && variable.merge == MeasureMerge::kSum;
}

}  // namespace

MeasureReading ReadingOf(const MeasureVariable& variable, const std::vector<uint64_t>& cells,
                         size_t most) {
  MeasureReading reading;
  reading.cells = cells.size();
  reading.in_use =
      cells.size() - static_cast<size_t>(std::count(cells.begin(), cells.end(), uint64_t{0}));
  reading.largest = LargestOf(cells, most);
  if (variable.key == kNoIndex) {
    reading.number = cells.empty() ? 0 : cells[0];
    return reading;
  }
  if (CountsKeys(variable.kind)) reading.keys = KeysOf(variable.kind, cells);
  if (Sums(variable)) {
    // Each row holds all of it; a row that wrapped round holds less.
    reading.total = 0;
    for (size_t row = 0; row < variable.hashes; ++row) {
      uint64_t sum = 0;
      const size_t end = std::min<size_t>((row + 1) * variable.size, cells.size());
      for (size_t i = row * variable.size; i < end; ++i) sum += cells[i];
      reading.total = std::max(*reading.total, sum);
    }
  }
  return reading;
}

Number NumberOf(const MeasureVariable& variable, const std::vector<uint64_t>& cells) {
  const MeasureReading reading = ReadingOf(variable, cells, 0);
  if (reading.number) return Number::Integer(*reading.number);
  if (reading.keys) return Number::Real(reading.keys->value);
  switch (variable.kind) {
    case MeasureKind::kCounterMap:
    case MeasureKind::kTimestampMap:
      return Number::Integer(reading.in_use);
    case MeasureKind::kBloomMembership:
    case MeasureKind::kBloomCounting:
      return Number::Real(EstimateBloom(reading.in_use, reading.cells, variable.hashes));
    default:
      return Number();
  }
}

bool OnlyGrows(const MeasureProgram& program, MeasureIndex variable) {
  return std::none_of(program.nodes.begin(), program.nodes.end(),
                      [variable](const MeasureNode& node) {
                        return node.kind == MeasureNodeKind::kUpdate &&
                               node.update == MeasureUpdate::kReset && node.target == variable;
                      });
}

MeasureKeyReading ReadingOfKey(const MeasureVariable& variable, const std::vector<uint64_t>& key,
                               const std::vector<uint64_t>& cells, std::optional<uint64_t> total) {
  MeasureKeyReading reading;
  reading.key = key;
  reading.cells = cells;
  reading.value = *std::min_element(cells.begin(), cells.end());
  if (!Sums(variable) || !total) return reading;
  // Cormode and Muthukrishnan: too large by more than e / size of the total in e^-rows of cases.
  const auto value = static_cast<double>(reading.value);
  const double excess =
      std::exp(1.0) / static_cast<double>(variable.size) * static_cast<double>(*total);
  reading.estimate = {value, std::max(0.0, value - excess), value,
                      1 - std::exp(-static_cast<double>(variable.hashes))};
  return reading;
}

std::vector<MeasureKeyReading> TopKeys(std::vector<MeasureKeyReading> keys, size_t most) {
  // Packets are counted meanwhile: a key that was read twice may have two values.
  std::sort(keys.begin(), keys.end(), [](const MeasureKeyReading& a, const MeasureKeyReading& b) {
    return a.key != b.key ? a.key < b.key : a.value > b.value;
  });
  const auto is_same = [](const MeasureKeyReading& a, const MeasureKeyReading& b) {
    return a.key == b.key;
  };
  keys.erase(std::unique(keys.begin(), keys.end(), is_same), keys.end());
  std::stable_sort(
      keys.begin(), keys.end(),
      [](const MeasureKeyReading& a, const MeasureKeyReading& b) { return a.value > b.value; });
  keys.erase(std::find_if(keys.begin(), keys.end(),
                          [](const MeasureKeyReading& each) { return each.value == 0; }),
             keys.end());
  keys.resize(std::min(keys.size(), most));
  return keys;
}

}  // namespace trumpet
