// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/slice/latency_book.h"

#include <algorithm>

namespace trumpet {

void LatencyBook::Add(const std::string& switch_name, const LatencySample& sample) {
  std::deque<LatencySample>& samples = samples_[switch_name];
  while (!samples.empty() && samples.front().taken_at + kMemory < sample.taken_at) {
    samples.pop_front();
  }
  samples.push_back(sample);
}

std::optional<LatencyView> LatencyBook::Find(const std::string& switch_name, Nanos now) const {
  const auto found = samples_.find(switch_name);
  if (found == samples_.end()) return std::nullopt;
  std::vector<LatencySample> samples;
  for (const LatencySample& sample : found->second) {
    if (sample.taken_at + kMemory >= now) samples.push_back(sample);
  }
  if (samples.empty()) return std::nullopt;
  LatencyView view;
  view.samples = samples.size();
  view.age = now - samples.back().taken_at;
  std::stable_sort(
      samples.begin(), samples.end(),
      [](const LatencySample& a, const LatencySample& b) { return a.round_trip < b.round_trip; });
  samples.resize((samples.size() + 1) / 2);
  const auto median = [&](auto value_of) {
    std::vector<Nanos> values;
    for (const LatencySample& sample : samples) values.push_back(value_of(sample));
    std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2),
                     values.end());
    return values[values.size() / 2];
  };
  const Nanos least = median([](const LatencySample& s) { return s.to_analyzer - s.round_trip; });
  const Nanos usual =
      median([](const LatencySample& s) { return s.to_analyzer - s.round_trip / 2; });
  const Nanos most = median([](const LatencySample& s) { return s.to_analyzer; });
  Nanos clock_error = 0;
  for (const LatencySample& s : samples) clock_error = std::max(clock_error, s.clock_error);
  view.latency = {switch_name, usual, std::max(usual - least, most - usual) + clock_error};
  return view;
}

std::vector<LatencyView> LatencyBook::All(Nanos now) const {
  std::vector<LatencyView> views;
  for (const auto& [name, samples] : samples_) {
    if (auto view = Find(name, now)) views.push_back(std::move(*view));
  }
  return views;
}

}  // namespace trumpet
