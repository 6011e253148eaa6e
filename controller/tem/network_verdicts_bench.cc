// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What network-wide verdicts cost.
//
// Verdict: the controller's CPU time for one interval of one event over some hosts, 10,000 buckets
// that two hosts each have seen: taking in the cells (per_cell_ns), and from the last interval end
// to the reports (decide_ms).
//
// Economy: the same traffic by merging partials and by splitting the threshold; items are cells,
// questions and orders, bytes their payload (network_test_kit.h).  items_ratio and bytes_ratio are
// split / partials: below 1 splitting is cheaper.  The second argument says how heavy the flows'
// tail is: the exponent of a Pareto distribution, times 10.  `equal` is 1 if both gave the same
// reports.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <random>

#include "controller/tem/network_test_kit.h"

namespace trumpet {
namespace {

using namespace kit;

constexpr int kBuckets = 10000;
constexpr Nanos kInterval = Ms(10);

Nanos CpuNs() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * kNanosPerSecond + time.tv_nsec;
}

struct Seen {
  uint32_t host;
  std::string key;
  std::vector<uint64_t> words;
};

// One interval's cells: every bucket on two hosts, volumes with a heavy tail, in random order.
std::vector<Seen> MakeInterval(const TriggerPlan& plan, uint32_t hosts, double exponent,
                               uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Seen> seen;
  for (uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
    for (int copy = 0; copy < 2; ++copy) {
      const double uniform = (1 + static_cast<double>(random() >> 12)) / 0x1p52;
      const auto volume =
          static_cast<int64_t>(std::min(1e9, 1000 * std::pow(uniform, -1 / exponent)));
      const Values values{{Variable::kPackets, 1}, {Variable::kVolume, volume}};
      const auto host = static_cast<uint32_t>((bucket * 7 + static_cast<uint32_t>(copy)) % hosts);
      seen.push_back({host, PortKey(bucket), CellsOf(plan, values)});
    }
  }
  std::shuffle(seen.begin(), seen.end(), random);
  return seen;
}

PartialView ViewOf(const Seen& seen, Nanos start) {
  PartialView view;
  view.event_id = 1;
  view.epoch_start = start;
  view.epoch_end = start + kInterval;
  view.bucket_key = seen.key;
  view.words = seen.words.data();
  return view;
}

// Some ten buckets of the 10,000 lie above it.
int64_t ThresholdFor(double exponent) {
  return static_cast<int64_t>(1000 * std::pow(0.0005, -1 / exponent));
}

void Verdict(benchmark::State& state) {
  const auto hosts = static_cast<uint32_t>(state.range(0));
  const auto plan = Plan(
      Event(1, Op(Sum(Variable::kVolume), ExprOp::kGreater, Num(ThresholdFor(1.5))), ByPort()));
  const std::vector<Seen> seen = MakeInterval(*plan, hosts, 1.5, 1);
  NetworkVerdicts verdicts({});
  if (!verdicts.Install(plan, 0, {}).ok()) state.SkipWithError("not installed");
  for (uint32_t host = 0; host < hosts; ++host) {
    verdicts.Join(1, *verdicts.AddHost(std::to_string(host)), 0);
  }
  Nanos start = 0;
  Nanos best_add = INT64_MAX;
  Nanos best_decide = INT64_MAX;
  size_t reports = 0;
  for (auto _ : state) {
    NetworkOutput output;
    const Nanos began = CpuNs();
    for (const Seen& one : seen) verdicts.Add(one.host, ViewOf(one, start), one.words.size());
    const Nanos added = CpuNs();
    for (uint32_t host = 0; host < hosts; ++host) {
      verdicts.EndUntil(host, start + kInterval, start + kInterval);
    }
    verdicts.Advance(start + kInterval, SIZE_MAX, &output);
    const Nanos decided = CpuNs();
    best_add = std::min(best_add, added - began);
    best_decide = std::min(best_decide, decided - added);
    reports = output.reports.size();
    start += kInterval;
  }
  state.counters["per_cell_ns"] = static_cast<double>(best_add) / static_cast<double>(seen.size());
  state.counters["decide_ms"] = static_cast<double>(best_decide) / 1e6;
  state.counters["reports"] = static_cast<double>(reports);
}
BENCHMARK(Verdict)->Arg(8)->Arg(100)->Arg(1000)->Iterations(40)->Unit(benchmark::kMillisecond);

// Runs some intervals; what the hosts and the controller sent each other after the first three.
Traffic RunMode(uint32_t hosts, double exponent, bool splits, std::vector<std::string>* reports) {
  const auto plan = Plan(Event(
      1, Op(Sum(Variable::kVolume), ExprOp::kGreater, Num(ThresholdFor(exponent))), ByPort()));
  NetworkSim sim({}, [] { return Ms(1); });
  NetworkEventOptions options;
  options.splits_threshold = splits;
  if (!sim.verdicts.Install(plan, 0, options).ok()) return {};
  for (uint32_t host = 0; host < hosts; ++host) {
    sim.Place(plan, sim.AddHost(std::to_string(host)), 0);
  }
  Traffic before;
  for (int interval = 0; interval < 8; ++interval) {
    if (interval == 3) before = sim.traffic;
    const Nanos start = interval * kInterval;
    for (const Seen& one : MakeInterval(*plan, hosts, exponent, static_cast<uint64_t>(interval))) {
      sim.feed(one.host, 1).Add(ViewOf(one, start));
    }
    sim.Run(start + kInterval - 1);
    for (uint32_t host = 0; host < hosts; ++host) {
      for (auto& message : sim.Close(host, start + kInterval)) sim.At(start + kInterval, message);
      sim.At(start + kInterval + 1, [&sim, host, start] { sim.EndUntil(host, start + kInterval); });
    }
  }
  sim.Run(9 * kInterval);
  for (NetworkReport& report : sim.output.reports) {
    report.report.detected_ns = 0;
    reports->push_back(ToJsonLine(report));
  }
  Traffic traffic = sim.traffic;
  traffic.cells -= before.cells;
  traffic.cells_bytes -= before.cells_bytes;
  traffic.questions -= before.questions;
  traffic.question_bytes -= before.question_bytes;
  traffic.share_orders -= before.share_orders;
  return traffic;
}

void Economy(benchmark::State& state) {
  const auto hosts = static_cast<uint32_t>(state.range(0));
  const double exponent = static_cast<double>(state.range(1)) / 10;
  for (auto _ : state) {
    std::vector<std::string> merged;
    std::vector<std::string> split;
    const Traffic partials = RunMode(hosts, exponent, false, &merged);
    const Traffic shares = RunMode(hosts, exponent, true, &split);
    state.counters["items_partials"] = static_cast<double>(partials.items());
    state.counters["items_split"] = static_cast<double>(shares.items());
    state.counters["items_ratio"] =
        static_cast<double>(shares.items()) / static_cast<double>(partials.items());
    state.counters["bytes_ratio"] =
        static_cast<double>(shares.bytes()) / static_cast<double>(partials.bytes());
    state.counters["equal"] = merged == split ? 1 : 0;
    state.counters["reports"] = static_cast<double>(merged.size());
  }
}
BENCHMARK(Economy)
    ->ArgsProduct({{2, 4, 8, 32, 100}, {10, 15, 25}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trumpet
