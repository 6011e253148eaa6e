// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/perf_table.h"

#include <nlohmann/json.hpp>

#include "lib/base/text_table.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

double Ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string Micros(Nanos duration) { return FormatRatio(duration, kNanosPerMicro); }

Json StepsJson(const StepCounts& steps) {
  return {{"count", steps.count()},          {"p50_ns", steps.Percentile(2)},
          {"p99_ns", steps.Percentile(100)}, {"p999_ns", steps.Percentile(1000)},
          {"max_ns", steps.Longest()},       {"limit_ns", steps.limit_ns},
          {"over_limit", steps.over_limit}};
}

void AddSteps(const std::string& thread, const StepCounts& steps, TextTable* table) {
  table->Add({thread, std::to_string(steps.count()), Micros(steps.Percentile(2)),
              Micros(steps.Percentile(100)), Micros(steps.Percentile(1000)),
              Micros(steps.Longest()), Micros(steps.limit_ns), std::to_string(steps.over_limit)});
}

}  // namespace

PerfTable::Reading PerfTable::ReadingOf(const ThreadStatus& thread) {
  const MonitorCounters& counters = thread.counters;
  return {counters.packets,        counters.batches,
          counters.batch_cycles,   counters.sweep_cycles,
          thread.load.busy_cycles, thread.load.idle_cycles,
          thread.load.rx_packets,  thread.steps};
}

// A counter that fell belongs to a new thread or monitor of the same name: count from its start.
PerfTable::Reading PerfTable::Since(const Reading& before, const Reading& now) {
  const auto since = [](uint64_t from, uint64_t to) { return to >= from ? to - from : to; };
  return {
      since(before.packets, now.packets),           since(before.batches, now.batches),
      since(before.batch_cycles, now.batch_cycles), since(before.sweep_cycles, now.sweep_cycles),
      since(before.busy_cycles, now.busy_cycles),   since(before.idle_cycles, now.idle_cycles),
      since(before.rx_packets, now.rx_packets),     now.steps.Since(before.steps)};
}

std::string PerfTable::Show(const std::vector<ThreadStatus>& threads, Nanos now, bool as_json) {
  const bool is_first = last_.empty();
  TextTable table({"thread", ">packets", ">per batch", ">cycles/packet", ">sweep cycles/packet",
                   ">share of busy time", ">share of all time", ">switch cycles/packet"});
  TextTable steps({"thread", ">steps", ">p50 us", ">p99 us", ">p99.9 us", ">longest us",
                   ">limit us", ">over limit"});
  Json rows = Json::array();
  std::map<std::string, Reading> next;
  for (const ThreadStatus& thread : threads) {
    const Reading reading = ReadingOf(thread);
    next[thread.name()] = reading;
    const Reading r = Since(last_[thread.name()], reading);
    const uint64_t monitor = r.batch_cycles + r.sweep_cycles;
    const uint64_t all = r.busy_cycles + r.idle_cycles;
    const uint64_t own = r.busy_cycles > r.batch_cycles ? r.busy_cycles - r.batch_cycles : 0;
    table.Add({thread.name(), std::to_string(r.packets), FormatRatio(r.packets, r.batches),
               FormatRatio(r.batch_cycles, r.packets), FormatRatio(r.sweep_cycles, r.packets),
               FormatShare(r.batch_cycles, r.busy_cycles), FormatShare(monitor, all),
               FormatRatio(own, r.rx_packets)});
    AddSteps(thread.name(), r.steps, &steps);
    rows.push_back({{"thread", thread.name()},
                    {"packets", r.packets},
                    {"batches", r.batches},
                    {"batch_cycles", r.batch_cycles},
                    {"sweep_cycles", r.sweep_cycles},
                    {"busy_cycles", r.busy_cycles},
                    {"idle_cycles", r.idle_cycles},
                    {"rx_packets", r.rx_packets},
                    {"cycles_per_packet", Ratio(r.batch_cycles, r.packets)},
                    {"share_of_busy", Ratio(r.batch_cycles, r.busy_cycles)},
                    {"share_of_all", Ratio(monitor, all)},
                    {"steps", StepsJson(r.steps)}});
  }
  const Nanos elapsed = is_first ? 0 : now - last_time_;
  last_ = std::move(next);
  last_time_ = now;
  if (as_json) {
    return Json{{"since_ns", elapsed}, {"is_since_start", is_first}, {"threads", rows}}.dump(2);
  }
  const std::string since =
      is_first ? "since the threads started:\n"
               : "since the last call, " + FormatRatio(elapsed, kNanosPerSecond) + " s ago:\n";
  return since + table.ToString(2) +
         "steps: work outside that of packets (limit: trumpet-sweep-budget-us and 2 us):\n" +
         steps.ToString(2);
}

}  // namespace trumpet
