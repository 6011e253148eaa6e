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
  const LatencySample* fastest = nullptr;
  Nanos round_trip = INT64_MAX;
  LatencyView view;
  for (const LatencySample& sample : found->second) {
    if (sample.taken_at + kMemory < now) continue;
    ++view.samples;
    view.age = now - sample.taken_at;
    round_trip = std::min(round_trip, sample.round_trip);
    if (fastest == nullptr || sample.to_analyzer < fastest->to_analyzer) fastest = &sample;
  }
  if (fastest == nullptr) return std::nullopt;
  view.latency = {switch_name, fastest->to_analyzer - round_trip / 2,
                  round_trip / 2 + fastest->clock_error};
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
