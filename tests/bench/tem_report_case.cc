// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "tests/bench/tem_cases.h"
#include "tests/bench/tem_network.h"

namespace trumpet {
namespace {

constexpr Nanos kStep = kNanosPerMilli;
constexpr Nanos kInterval = 10 * kNanosPerMilli;
constexpr uint32_t kAtOnce = 10;           // reports of a host
constexpr size_t kMostQueued = 64 * 1024;  // of a host: beyond, it waits

class ReportCase {
 public:
  ReportCase(const ReportLoad& load, const TemPlan& plan)
      : load_(load), plan_(plan), network_(OptionsFor(load)) {
    for (uint32_t i = 0; i < kAtOnce; ++i) keys_.push_back(TemBucket(i));
  }

  TemFigures Run() {
    network_.AddHosts(load_.hosts);
    network_.Post("/v1/events",
                  "- {name: local, event: '*, sum(volume) > 5, dstIP, 10ms', "
                  "scope: host}");
    network_.WaitUntilApplied("local");
    for (size_t i = 0; i < load_.readers; ++i) network_.AddReader();
    Send(kNanosPerSecond / 2);
    TemFigures figures;
    for (int i = 0; i < plan_.repeats; ++i) MeasureOnce(&figures);
    figures.Add("memory_mb", network_.daemon().MemoryMb("VmHWM"));
    return figures;
  }

 private:
  static TemDaemonOptions OptionsFor(const ReportLoad& load) {
    TemDaemonOptions options;
    options.keeps_reports = load.keeps;
    options.max_report_mb = load.max_file_mb;
    return options;
  }

  // Every step some hosts, in turn, send a few reports each.
  void Send(Nanos span) {
    const Nanos began = network_.clock().MonotonicNow();
    const uint64_t first = sent_;
    Nanos step_at = network_.clock().UnixNow();
    while (network_.clock().MonotonicNow() - began < span) {
      const Nanos passed = network_.clock().MonotonicNow() - began;
      const auto due = first + static_cast<uint64_t>(passed) * load_.per_second / kNanosPerSecond;
      size_t waiting = 0;
      while ((load_.per_second == 0 || sent_ + kAtOnce <= due) && waiting < load_.hosts) {
        TemHost& host = *network_.hosts()[next_host_++ % load_.hosts];
        if (host.queued_bytes() > (load_.per_second == 0 ? 0 : kMostQueued)) {
          ++waiting;
          continue;
        }
        // Its end is now, so that from there to the reader is the whole way.
        const Nanos now = network_.clock().UnixNow();
        for (const std::string& key : keys_) host.SendReport(key, now - kInterval, now);
        sent_ += kAtOnce;
        if (load_.per_second == 0) network_.RunReady();
      }
      step_at += kStep;
      network_.RunReady();
      if (load_.per_second != 0) network_.RunUntilTime(step_at);
    }
  }

  struct Counted {
    uint64_t sent;
    Nanos at;
    Nanos cpu;
    Nanos own_cpu;
  };
  Counted CountNow() {
    return {sent_, network_.clock().MonotonicNow(), network_.daemon().cpu(), OwnCpu()};
  }

  void MeasureOnce(TemFigures* figures) {
    const double written = load_.keeps ? network_.Metric("trumpet_report_store_written_total") : 0;
    const double expired = load_.keeps ? network_.Metric("trumpet_report_store_expired_total") : 0;
    const double lost = load_.keeps ? network_.Metric("trumpet_report_store_lost_total") : 0;
    network_.told.clear();
    const Counted before = CountNow();
    Send(plan_.run_ns);
    const Counted after = CountNow();
    const auto span = static_cast<double>(after.at - before.at);
    const auto told = static_cast<double>(network_.told.size());
    std::vector<Nanos> spans;
    for (const TemReport& report : network_.told) spans.push_back(report.told_ns - report.end_ns);
    const TemLatency latency = LatencyOf(std::move(spans));
    const auto per_second = [span](double count) { return count * 1e9 / span; };
    figures->Add("sent_per_second", per_second(static_cast<double>(after.sent - before.sent)));
    figures->Add("read_per_second", per_second(told));
    figures->Add("reader_p50_ms", Millis(latency.p50));
    figures->Add("reader_p99_ms", Millis(latency.p99));
    figures->Add("controller_cpu_percent",
                 100 * static_cast<double>(after.cpu - before.cpu) / span);
    figures->Add("hosts_cpu_percent",
                 100 * static_cast<double>(after.own_cpu - before.own_cpu) / span);
    if (!load_.keeps) return;
    figures->Add("written_per_second",
                 per_second(network_.Metric("trumpet_report_store_written_total") - written));
    figures->Add("expired_per_second",
                 per_second(network_.Metric("trumpet_report_store_expired_total") - expired));
    figures->Add("not_kept", network_.Metric("trumpet_report_store_lost_total") - lost);
  }

  const ReportLoad load_;
  const TemPlan plan_;
  TemNetwork network_;
  std::vector<std::string> keys_;
  size_t next_host_ = 0;
  uint64_t sent_ = 0;
};

}  // namespace

TemFigures MeasureReports(const ReportLoad& load, const TemPlan& plan) {
  return ReportCase(load, plan).Run();
}

}  // namespace trumpet
