// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MetricsText: figures in Prometheus's text format (version 0.0.4).
//
//   text.Family("trumpet_reports", MetricsText::Type::kCounter, "Reports published.");
//   text.Add({{"event", name}}, 17);
//
// Counters get "_total" at the end of their name.  All samples of a family stand together: begin
// each once.
//
// Threads: values; no state.

#ifndef TRUMPET_CONTROLLER_REST_METRICS_TEXT_H
#define TRUMPET_CONTROLLER_REST_METRICS_TEXT_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "controller/tem/latency_histogram.h"
#include "lib/base/units.h"

namespace trumpet {

class MetricsText {
 public:
  enum class Type { kCounter, kGauge, kHistogram };
  using Labels = std::vector<std::pair<const char*, std::string>>;

  void Family(const std::string& name, Type type, const std::string& help);
  void Add(const Labels& labels, uint64_t value);
  void Add(const Labels& labels, double value);
  void AddSeconds(const Labels& labels, Nanos value);
  void Add(const Labels& labels, const LatencyHistogram& histogram);

  // A family with a single sample.
  void Counter(const std::string& name, const std::string& help, uint64_t value);
  void Gauge(const std::string& name, const std::string& help, double value);

  const std::string& text() const { return text_; }

 private:
  void Sample(const std::string& name, const Labels& labels, const std::string& value);

  std::string name_;
  std::string text_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_METRICS_TEXT_H
