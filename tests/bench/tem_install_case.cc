// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

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

TemFigures MeasureRestart(size_t hosts, size_t events, const TemPlan& plan) {
  TemNetwork network{TemDaemonOptions()};
  network.AddHosts(hosts);
  network.Post("/v1/events", EventsYaml(events, 125));
  WaitUntilAllApplied(events, &network);
  TemFigures figures;
  const auto attempts = [&network] {
    uint64_t sum = 0;
    for (const auto& host : network.hosts()) sum += host->counters().attempts;
    return sum;
  };
  for (int i = 0; i < plan.repeats; ++i) {
    const uint64_t attempts_before = attempts();
    network.daemon().Kill();
    const Nanos own_cpu = OwnCpu();
    network.RunUntil([&] { return network.connected() == 0; });
    const Nanos began = network.clock().MonotonicNow();
    network.daemon().Start();
    network.RunUntil([&] { return network.daemon().IsReady(); });
    const Nanos ready = network.clock().MonotonicNow();
    network.RunUntil([&] { return network.connected() >= hosts / 2; });
    const Nanos half = network.clock().MonotonicNow();
    network.RunUntil([&] { return network.connected() == hosts; });
    const Nanos connected = network.clock().MonotonicNow();
    WaitUntilAllApplied(events, &network);
    const Nanos in_sync = network.clock().MonotonicNow();
    figures.Add("serves_ms", Millis(ready - began));
    figures.Add("half_connected_ms", Millis(half - began));
    figures.Add("all_connected_ms", Millis(connected - began));
    figures.Add("in_sync_ms", Millis(in_sync - began));
    figures.Add("attempts_per_host",
                static_cast<double>(attempts() - attempts_before) / static_cast<double>(hosts));
    figures.Add("controller_cpu_ms", Millis(network.daemon().cpu()));
    figures.Add("hosts_cpu_ms", Millis(OwnCpu() - own_cpu));
    CheckAllApplied(&network);
  }
  figures.Add("memory_mb", network.daemon().MemoryMb("VmHWM"));
  return figures;
}

}  // namespace trumpet
