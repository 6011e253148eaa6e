// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "tests/bench/tem_cases.h"
#include "tests/bench/tem_network.h"

namespace trumpet {
namespace {

std::string EventName(size_t number) { return "e" + std::to_string(number); }

std::string EventsYaml(size_t count, int kilobytes) {
  std::string yaml;
  for (size_t i = 0; i < count; ++i) {
    yaml += "- {name: " + EventName(i) + ", event: 'dstIP=10." + std::to_string(i >> 8) + "." +
            std::to_string(i & 255) + ".0/24 and dstPort={80,443}, sum(volume) > " +
            std::to_string(kilobytes) + "KB, 5-tuple, 10ms'}\n";
  }
  return yaml;
}

// Every host runs every event, and has said so.
void WaitUntilAllApplied(size_t events, TemNetwork* network) {
  network->WaitUntilApplied(EventName(events - 1));
  network->WaitUntilApplied(EventName(0));
}

void CheckAllApplied(TemNetwork* network) {
  const nlohmann::json list = network->Get("/v1/events");
  for (const nlohmann::json& event : list["events"]) {
    if (event["hosts_applied"] != network->hosts().size()) {
      GiveUp("event " + event["name"].dump() + " is on " + event["hosts_applied"].dump() +
             " hosts only");
    }
  }
}

// Processes that do nothing but want a processor.
class BusyProcesses {
 public:
  explicit BusyProcesses(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const pid_t pid = fork();
      if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (volatile uint64_t work = 0;; work = work + 1) {
        }
      }
      if (pid > 0) pids_.push_back(pid);
    }
  }
  ~BusyProcesses() {
    for (const pid_t pid : pids_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }
  BusyProcesses(const BusyProcesses&) = delete;
  BusyProcesses& operator=(const BusyProcesses&) = delete;

 private:
  std::vector<pid_t> pids_;
};

uint64_t CountAttempts(TemNetwork& network) {
  uint64_t sum = 0;
  for (const auto& host : network.hosts()) sum += host->counters().attempts;
  return sum;
}

// When hosts were back, and when they had acknowledged what they should run.
void AddReturns(TemNetwork& network, Nanos began, TemFigures* figures) {
  std::vector<Nanos> back;
  std::vector<Nanos> in_sync;
  for (const auto& host : network.hosts()) {
    back.push_back(host->established_at() - began);
    in_sync.push_back(host->acknowledged_at() - began);
  }
  const auto add = [&](const std::string& name, const std::vector<Nanos>& spans) {
    const TemLatency latency = LatencyOf(spans);
    figures->Add(name + "_p50_ms", Millis(latency.p50));
    figures->Add(name + "_p99_ms", Millis(latency.p99));
    figures->Add(name + "_last_ms", Millis(*std::max_element(spans.begin(), spans.end())));
  };
  add("back", back);
  add("in_sync", in_sync);
}

}  // namespace

TemFigures MeasureInstall(size_t hosts, size_t events, const TemPlan& plan) {
  TemNetwork network{TemDaemonOptions()};
  network.AddHosts(hosts);
  TemFigures figures;
  for (int i = 0; i < plan.repeats; ++i) {
    const std::string yaml = EventsYaml(events, 125 + i);
    const Nanos cpu = network.daemon().cpu();
    const Nanos own_cpu = OwnCpu();
    const Nanos began = network.clock().MonotonicNow();
    network.Post(i == 0 ? "/v1/events" : "/v1/events?replace=true", yaml);
    const Nanos stored = network.clock().MonotonicNow();
    WaitUntilAllApplied(events, &network);
    const Nanos applied = network.clock().MonotonicNow();
    figures.Add("stored_ms", Millis(stored - began));
    figures.Add("applied_ms", Millis(applied - began));
    figures.Add("controller_cpu_ms", Millis(network.daemon().cpu() - cpu));
    figures.Add("hosts_cpu_ms", Millis(OwnCpu() - own_cpu));
    CheckAllApplied(&network);
  }
  figures.Add("memory_mb", network.daemon().MemoryMb("VmHWM"));
  return figures;
}

TemFigures MeasureRestart(size_t hosts, size_t events, size_t busy, const TemPlan& plan) {
  TemNetwork network{TemDaemonOptions()};
  network.AddHosts(hosts);
  network.Post("/v1/events", EventsYaml(events, 125));
  WaitUntilAllApplied(events, &network);
  const BusyProcesses others(busy);
  TemFigures figures;
  for (int i = 0; i < plan.repeats; ++i) {
    const uint64_t attempts_before = CountAttempts(network);
    network.daemon().Kill();
    const Nanos own_cpu = OwnCpu();
    network.RunUntil([&] { return network.connected() == 0; });
    const Nanos began = network.clock().MonotonicNow();
    network.daemon().Start();
    network.RunUntil([&] { return network.daemon().IsReady(); });
    figures.Add("serves_ms", Millis(network.clock().MonotonicNow() - began));
    network.RunUntil([&] { return network.connected() == hosts; });
    WaitUntilAllApplied(events, &network);
    figures.Add("all_in_sync_ms", Millis(network.clock().MonotonicNow() - began));
    AddReturns(network, began, &figures);
    const auto attempts = static_cast<double>(CountAttempts(network) - attempts_before);
    figures.Add("attempts_per_host", attempts / static_cast<double>(hosts));
    figures.Add("controller_cpu_ms", Millis(network.daemon().cpu()));
    figures.Add("hosts_cpu_ms", Millis(OwnCpu() - own_cpu));
    CheckAllApplied(&network);
  }
  figures.Add("memory_mb", network.daemon().MemoryMb("VmHWM"));
  return figures;
}

}  // namespace trumpet
