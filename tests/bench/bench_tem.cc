// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// bench-tem: what trumpet-controller does in how long, with the hosts of a network on one machine.
//
// The daemon is the real one, with its database, its file of reports and its API; this process is
// all the hosts, each with a session over TLS on loopback, and the reader of /v1/stream.  What each
// of the two took of the processors is told beside every figure.
//
// usage: bench-tem [--quick] [--repeats N] [--json FILE] [CASE...]

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lib/model/bucket_key.h"
#include "tests/bench/tem_cases.h"

namespace trumpet {

void TemFigures::Add(const std::string& name, double value) {
  for (Series& one : series_) {
    if (one.first == name) return one.second.push_back(value);
  }
  series_.push_back({name, {value}});
}

TemLatency LatencyOf(std::vector<Nanos> spans) {
  if (spans.empty()) return {};
  std::sort(spans.begin(), spans.end());
  return {spans[spans.size() / 2], spans[spans.size() * 99 / 100]};
}

std::string TemBucket(uint32_t number) {
  BucketKey key;
  (void)key.Append(FieldValue{ValueKind::kIpv4, 0x0a000000u + number});
  return std::string(key.view());
}

namespace {

struct Case {
  const char* name;
  const char* what;
  std::function<TemFigures(const TemPlan& plan)> run;
};

std::vector<Case> Cases(bool is_quick) {
  const size_t many = is_quick ? 100 : 1000;
  const auto verdict = [](uint32_t hosts, uint32_t interval_ms, bool splits) {
    VerdictLoad load;
    load.hosts = hosts;
    load.interval_ms = interval_ms;
    load.splits = splits;
    return [load](const TemPlan& plan) { return MeasureVerdicts(load, plan); };
  };
  const auto reports = [many](uint32_t per_second, size_t readers, bool keeps, uint64_t max_mb) {
    ReportLoad load;
    load.hosts = many;
    load.per_second = per_second;
    load.readers = readers;
    load.keeps = keeps;
    load.max_file_mb = max_mb;
    return [load](const TemPlan& plan) { return MeasureReports(load, plan); };
  };
  return {
      {"machine", "what the machine takes from the first 3 ms of 10, from both processors",
       MeasureMachine},
      {"verdict", "100 hosts, 10,000 buckets in 100 ms, partials", verdict(100, 100, false)},
      {"verdict-10ms", "the same in 10 ms", verdict(100, 10, false)},
      {"partials-4-hosts", "4 hosts, 10,000 buckets in 100 ms", verdict(4, 100, false)},
      {"threshold-4-hosts", "the same, threshold split", verdict(4, 100, true)},
      {"reports", "100,000 reports a second, kept", reports(100000, 1, true, 10000)},
      {"reports-not-kept", "the same, read only", reports(100000, 1, false, 10000)},
      {"reports-retention", "kept in a file that is full", reports(100000, 0, true, 100)},
      {"stream", "1,000 reports a second to 10 readers", reports(1000, 10, true, 10000)},
      {"install", "4,096 events, put anew",
       [many](const TemPlan& plan) { return MeasureInstall(many, 4096, plan); }},
      {"restart", "the controller is killed and started again",
       [many](const TemPlan& plan) { return MeasureRestart(many, 100, 0, plan); }},
      {"restart-busy", "the same beside eight processes that are busy",
       [many](const TemPlan& plan) { return MeasureRestart(many, 100, 8, plan); }},
  };
}

// Of the values: the one in the middle, the least and the most.
nlohmann::json Summary(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {{"median", values[values.size() / 2]}, {"min", values.front()}, {"max", values.back()}};
}

nlohmann::json Run(const Case& one, const TemPlan& plan) {
  std::printf("%s: %s\n", one.name, one.what);
  nlohmann::json figures = nlohmann::json::object();
  const TemFigures measured = one.run(plan);
  for (const auto& [name, values] : measured.series()) {
    const nlohmann::json summary = Summary(values);
    figures[name] = summary;
    figures[name]["values"] = values;
    std::printf("  %-26s %12.2f  (%.2f ... %.2f)\n", name.c_str(), summary["median"].get<double>(),
                summary["min"].get<double>(), summary["max"].get<double>());
  }
  std::fflush(stdout);
  return {{"case", one.name}, {"what", one.what}, {"figures", std::move(figures)}};
}

int Main(int argc, char** argv) {
  bool is_quick = false;
  TemPlan plan;
  std::string json_file;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--quick") {
      is_quick = true;
    } else if (argument == "--repeats" && i + 1 < argc) {
      plan.repeats = std::max(1, std::atoi(argv[++i]));
    } else if (argument == "--json" && i + 1 < argc) {
      json_file = argv[++i];
    } else {
      names.push_back(argument);
    }
  }
  if (is_quick) plan = {std::min(plan.repeats, 2), kNanosPerSecond / 2};
  nlohmann::json results = nlohmann::json::array();
  for (const Case& one : Cases(is_quick)) {
    if (!names.empty() && std::count(names.begin(), names.end(), one.name) == 0) continue;
    results.push_back(Run(one, plan));
  }
  if (!json_file.empty()) std::ofstream(json_file) << results.dump(2) << "\n";
  if (!results.empty()) return 0;
  std::fprintf(stderr, "bench-tem: there is no such case\n");
  return 2;
}

}  // namespace
}  // namespace trumpet

int main(int argc, char** argv) { return trumpet::Main(argc, argv); }
