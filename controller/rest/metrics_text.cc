// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/metrics_text.h"

#include <cmath>
#include <cstdio>
#include <string_view>

namespace trumpet {
namespace {

std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

// Exact, which a double of nanoseconds since 1970 is not.
std::string Seconds(Nanos value) {
  char text[40];
  const bool is_negative = value < 0;
  const uint64_t size =
      is_negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  std::snprintf(text, sizeof text, "%s%llu.%09llu", is_negative ? "-" : "",
                static_cast<unsigned long long>(size / kNanosPerSecond),
                static_cast<unsigned long long>(size % kNanosPerSecond));
  return text;
}

// As short as it can be said: 0.0025.
std::string Bound(Nanos value) {
  char text[40];
  std::snprintf(text, sizeof text, "%g", static_cast<double>(value) / kNanosPerSecond);
  return text;
}

std::string Escaped(std::string_view text, bool is_label) {
  std::string escaped;
  for (char c : text) {
    if (c == '\\') {
      escaped += "\\\\";
    } else if (c == '\n') {
      escaped += "\\n";
    } else if (c == '"' && is_label) {
      escaped += "\\\"";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

void MetricsText::Family(const std::string& name, Type type, const std::string& help) {
  static constexpr const char* kTypes[] = {"counter", "gauge", "histogram"};
  name_ = type == Type::kCounter ? name + "_total" : name;
  text_ += "# HELP " + name_ + " " + Escaped(help, false) + "\n";
  text_ += "# TYPE " + name_ + " " + kTypes[static_cast<int>(type)] + "\n";
}

void MetricsText::Sample(const std::string& name, const Labels& labels, const std::string& value) {
  text_ += name;
  char before = '{';
  for (const auto& label : labels) {
    text_ += before;
    text_ += std::string(label.first) + "=\"" + Escaped(label.second, true) + "\"";
    before = ',';
  }
  if (before == ',') text_ += '}';
  text_ += " " + value + "\n";
}

void MetricsText::Add(const Labels& labels, uint64_t value) {
  Sample(name_, labels, std::to_string(value));
}

void MetricsText::Add(const Labels& labels, double value) { Sample(name_, labels, Number(value)); }

void MetricsText::AddSeconds(const Labels& labels, Nanos value) {
  Sample(name_, labels, Seconds(value));
}

void MetricsText::Add(const Labels& labels, const LatencyHistogram& histogram) {
  Labels with_bound = labels;
  with_bound.emplace_back("le", "");
  uint64_t count = 0;
  for (size_t i = 0; i < histogram.counts.size(); ++i) {
    count += histogram.counts[i];
    const bool is_last = i == LatencyHistogram::kBounds.size();
    with_bound.back().second = is_last ? "+Inf" : Bound(LatencyHistogram::kBounds[i]);
    Sample(name_ + "_bucket", with_bound, std::to_string(count));
  }
  Sample(name_ + "_sum", labels, Seconds(histogram.sum_ns));
  Sample(name_ + "_count", labels, std::to_string(histogram.count));
}

void MetricsText::Counter(const std::string& name, const std::string& help, uint64_t value) {
  Family(name, Type::kCounter, help);
  Add({}, value);
}

void MetricsText::Gauge(const std::string& name, const std::string& help, double value) {
  Family(name, Type::kGauge, help);
  Add({}, value);
}

}  // namespace trumpet
