// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <random>

#include "tests/bench/processors_apart.h"
#include "tests/bench/tem_cases.h"
#include "tests/bench/tem_network.h"

namespace trumpet {
namespace {

constexpr char kEvent[] = "big";
// Hosts close their intervals when their threads have, each at its own time (docs/performance.md).
constexpr Nanos kHostsWithin = kNanosPerMilli;
constexpr int kWarmIntervals = 10;

class VerdictCase {
 public:
  VerdictCase(const VerdictLoad& load, const TemPlan& plan)
      : load_(load),
        plan_(plan),
        interval_(Nanos{load.interval_ms} * kNanosPerMilli),
        network_(OptionsFor(load)),
        apart_(network_.daemon().pid()),
        counts_(load.hosts),
        offsets_(load.hosts) {}

  TemFigures Run() {
    network_.AddHosts(load_.hosts);
    network_.Post("/v1/events", "- {name: " + std::string(kEvent) +
                                    ", event: 'ethType=0x0800, sum(volume) > 1MB, dstIP, " +
                                    std::to_string(load_.interval_ms) + "ms', deadline: 100ms}");
    network_.WaitUntilApplied(kEvent);
    network_.AddReader();
    MakeCounts();
    next_ = (network_.clock().UnixNow() / interval_ + 2) * interval_;
    for (int i = 0; i < kWarmIntervals; ++i) RunInterval();
    TemFigures figures;
    for (int i = 0; i < plan_.repeats; ++i) MeasureOnce(&figures);
    figures.Add("processors_apart", apart_.is_apart() ? 1 : 0);
    figures.Add("memory_mb", network_.daemon().MemoryMb("VmHWM"));
    return figures;
  }

 private:
  static TemDaemonOptions OptionsFor(const VerdictLoad& load) {
    TemDaemonOptions options;
    options.threshold_hosts = load.splits ? load.hosts : 0;
    return options;
  }

  // A tail as of flows: half of the threshold at most, but for those that fire.
  void MakeCounts() {
    for (uint32_t bucket = 0; bucket < load_.buckets; ++bucket) {
      const uint64_t bytes = bucket < load_.firing ? 600000 : 100000 / (1 + bucket % 1000);
      for (const uint32_t host : {bucket % load_.hosts, (bucket + 1) % load_.hosts}) {
        counts_[host].emplace_back(TemBucket(bucket), bytes);
      }
    }
    std::mt19937_64 random(1);
    for (Nanos& offset : offsets_) offset = static_cast<Nanos>(random() % kHostsWithin);
    std::sort(offsets_.begin(), offsets_.end());
  }

  // Counting goes on during the interval, and is no part of what is measured.
  void RunInterval() {
    for (uint32_t host = 0; host < load_.hosts; ++host) {
      network_.hosts()[host]->Count(counts_[host], next_);
      network_.RunReady();
    }
    next_ += interval_;
    for (uint32_t host = 0; host < load_.hosts; ++host) {
      network_.RunUntilTime(next_ + offsets_[host]);
      network_.hosts()[host]->End(next_);
      network_.RunReady();  // sent now, not when the last host has ended its interval, too
    }
    sent_[next_] = network_.clock().UnixNow();
  }

  void MeasureOnce(TemFigures* figures) {
    const nlohmann::json before = network_.Get(kPath)["counters"];
    const uint64_t bytes = network_.bytes_to_controller();
    next_ = (network_.clock().UnixNow() / interval_ + 1) * interval_;
    RunInterval();  // that the question has disturbed
    network_.told.clear();
    sent_.clear();
    const Nanos cpu = network_.daemon().cpu();
    const Nanos own_cpu = OwnCpu();
    const Nanos first = next_;
    const Nanos began = network_.clock().MonotonicNow();
    const auto intervals = std::max<Nanos>(1, plan_.run_ns / interval_);
    for (Nanos i = 0; i < intervals; ++i) RunInterval();
    // What is under way comes before it is asked for anything.
    network_.RunUntilTime(network_.clock().UnixNow() + interval_ / 2);
    const auto span = static_cast<double>(network_.clock().MonotonicNow() - began);
    const auto daemon_cpu = static_cast<double>(network_.daemon().cpu() - cpu);
    const auto hosts_cpu = static_cast<double>(OwnCpu() - own_cpu);
    network_.RunUntilTime(next_ + 2 * 100 * kNanosPerMilli);
    const nlohmann::json after = network_.Get(kPath)["counters"];
    const auto count = [&](const char* name) {
      return after[name].get<double>() - before[name].get<double>();
    };
    AddLatencies(first, figures);
    figures->Add("late_cells", count("late_partials"));
    figures->Add("controller_cpu_percent", 100 * daemon_cpu / span);
    figures->Add("hosts_cpu_percent", 100 * hosts_cpu / span);
    figures->Add("cells_per_second", count("partials") * 1e9 / span);
    figures->Add("questions_per_second", count("polls") * 1e9 / span);
    figures->Add("kilobytes_per_second",
                 static_cast<double>(network_.bytes_to_controller() - bytes) * 1e6 / span);
  }

  void AddLatencies(Nanos first, TemFigures* figures) {
    std::vector<Nanos> verdict;
    std::vector<Nanos> reader;
    std::vector<Nanos> verdict_after_hosts;
    std::vector<Nanos> reader_after_hosts;
    std::vector<Nanos> hosts;
    size_t incomplete = 0;
    for (const auto& [end, at] : sent_) hosts.push_back(at - end);
    for (const TemReport& report : network_.told) {
      const auto sent = sent_.find(report.end_ns);
      if (sent == sent_.end() || report.end_ns <= first) continue;
      if (!report.is_complete) ++incomplete;
      verdict.push_back(report.detected_ns - report.end_ns);
      reader.push_back(report.told_ns - report.end_ns);
      verdict_after_hosts.push_back(std::max<Nanos>(0, report.detected_ns - sent->second));
      reader_after_hosts.push_back(report.told_ns - sent->second);
    }
    const auto add = [figures](const std::string& name, const TemLatency& latency) {
      figures->Add(name + "_p50_ms", Millis(latency.p50));
      figures->Add(name + "_p99_ms", Millis(latency.p99));
    };
    figures->Add("reports", static_cast<double>(reader.size()));
    figures->Add("incomplete_reports", static_cast<double>(incomplete));
    add("hosts_sent", LatencyOf(hosts));
    add("verdict", LatencyOf(verdict));
    add("reader", LatencyOf(reader));
    // The hosts of this bench send one after the other what others would send side by side.
    add("verdict_after_hosts", LatencyOf(verdict_after_hosts));
    add("reader_after_hosts", LatencyOf(reader_after_hosts));
  }

  static constexpr char kPath[] = "/v1/events/big";

  const VerdictLoad load_;
  const TemPlan plan_;
  const Nanos interval_;
  TemNetwork network_;
  ProcessorsApart apart_;
  std::vector<TemCounts> counts_;  // by host
  std::vector<Nanos> offsets_;     // by host: from the end of an interval until it says so
  Nanos next_ = 0;                 // start of the next interval
  std::map<Nanos, Nanos> sent_;    // by end of interval: when the last host had sent
};

}  // namespace

TemFigures MeasureVerdicts(const VerdictLoad& load, const TemPlan& plan) {
  return VerdictCase(load, plan).Run();
}

}  // namespace trumpet
