// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The cases of bench-tem: each starts a controller and its hosts, and measures the same thing
// several times.

#ifndef TRUMPET_TESTS_BENCH_TEM_CASES_H
#define TRUMPET_TESTS_BENCH_TEM_CASES_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/units.h"

namespace trumpet {

// Figures by name, in the order of their first time; one value each time.
class TemFigures {
 public:
  using Series = std::pair<std::string, std::vector<double>>;

  void Add(const std::string& name, double value);
  const std::vector<Series>& series() const { return series_; }

 private:
  std::vector<Series> series_;
};

struct TemLatency {
  Nanos p50 = 0;
  Nanos p99 = 0;
};
TemLatency LatencyOf(std::vector<Nanos> spans);
inline double Millis(Nanos span) { return static_cast<double>(span) / kNanosPerMilli; }
// The bucket `number` of an event by dstIP.
std::string TemBucket(uint32_t number);

struct TemPlan {
  int repeats = 5;
  Nanos run_ns = 2 * kNanosPerSecond;  // of each, where time is given
};

// Buckets of the network that two hosts each have seen, in every interval; a few fire.
struct VerdictLoad {
  uint32_t hosts = 100;
  uint32_t buckets = 10000;
  uint32_t firing = 10;
  uint32_t interval_ms = 100;
  bool splits = false;
};
TemFigures MeasureVerdicts(const VerdictLoad& load, const TemPlan& plan);
// What the machine takes away from its processors while verdicts are made: no verdict comes sooner.
TemFigures MeasureMachine(const TemPlan& plan);

// Reports of an event that hosts decide.
struct ReportLoad {
  size_t hosts = 1000;
  uint32_t per_second = 100000;  // over all hosts; 0: as many as are taken
  size_t readers = 1;            // of the stream of reports
  bool keeps = true;             // in the file of reports
  uint64_t max_file_mb = 10000;
};
TemFigures MeasureReports(const ReportLoad& load, const TemPlan& plan);

// All events are put anew, each with another threshold.
TemFigures MeasureInstall(size_t hosts, size_t events, const TemPlan& plan);
// The controller is killed and started again, beside so many processes that want a processor all
// the time: all its hosts come at once.
TemFigures MeasureRestart(size_t hosts, size_t events, size_t busy, const TemPlan& plan);

}  // namespace trumpet

#endif  // TRUMPET_TESTS_BENCH_TEM_CASES_H
