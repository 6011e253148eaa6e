// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// bench-install: what a change of triggers keeps the packet thread from.
//
//   bench-install [--flows N,N,...] [--repeats N]
//
// A monitor under the traffic of bench-monitor, at full load (no idle call ever comes), changes
// from one program to another.  Each call for a batch is timed without the bounded steps of the
// sweep, whose budget is another matter.  The program is handed over an epoch before its instant,
// as the agent does, and the timing begins there.  All repeats do the same work batch by batch, so
// the minimum over them is free of interrupts and of other processes.  The stall is how much longer
// the longest call after the change takes than a usual one of the same program does.
//
// One JSON object a line on stdout, a table on stderr.

#include <x86intrin.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "lib/tpm/packet_monitor.h"
#include "lib/tpm/trigger_program.h"
#include "tests/bench/traffic.h"
#include "tests/bench/triggers.h"
#include "tests/bench/workload.h"

namespace trumpet::bench {
namespace {

constexpr uint32_t kEpochBatches = kEpochPackets / kBatch;
constexpr uint32_t kBatchesBefore = 3 * kEpochBatches;
constexpr uint32_t kLeadBatches = kEpochBatches;  // from handing over a program to its instant
constexpr uint32_t kBatchesAfter = 6 * kEpochBatches;

class ForgettingSink : public DeliverySink {
 public:
  void OnPartial(const PartialView&) override {}
  void OnFlowState(const FlowStateUpdate&) override {}
  void OnEpochEnd(Nanos, Nanos, uint32_t reasons) override { incomplete_epochs += reasons != 0; }
  uint64_t incomplete_epochs = 0;
};

using Plans = HostVerdicts::Plans;

struct Change {
  const char* name;
  Plans before;
  Plans after;
};

std::vector<Change> MakeChanges() {
  TriggersSpec spec;
  spec.triggers = 4097;
  Plans all;
  for (const EventSpec& event : MakeEvents(spec, 1)) {
    all.push_back(std::make_shared<const TriggerPlan>(MakeTriggerPlan(event)));
  }
  const Plans most(all.begin(), all.begin() + 4096);
  const Plans one(all.begin(), all.begin() + 1);
  return {{"1 -> 4096", one, most},
          {"4096 -> 4097", most, all},
          {"4097 -> 4096", all, most},
          {"4096 -> 1", most, one}};
}

double CyclesPerNano() {
  timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  const uint64_t start = __rdtsc();
  Nanos elapsed = 0;
  while (elapsed < 50 * kNanosPerMilli) {
    clock_gettime(CLOCK_MONOTONIC, &after);
    elapsed = (after.tv_sec - before.tv_sec) * kNanosPerSecond + after.tv_nsec - before.tv_nsec;
  }
  return static_cast<double>(__rdtsc() - start) / static_cast<double>(elapsed);
}

// The monitor, the traffic and the clock of one repeat.
class Run {
 public:
  Run(const Change& change, uint32_t flows, Order order)
      : change_(change), traffic_(Spec(flows, order)) {
    MonitorOptions options;
    options.max_flows = std::max(1u << 17, 4 * flows);
    options.stat_megabytes = std::max(64u, options.max_flows >> 11);
    options.touches_memory = true;
    auto monitor = PacketMonitor::Create(options);
    if (monitor.ok()) monitor_ = std::move(*monitor);
  }

  // Lowers `cycles[i]` to what batch i after the change took.
  bool Time(std::vector<uint64_t>* cycles) {
    if (monitor_ == nullptr || !Publish(change_.before, 1, INT64_MIN)) return false;
    for (uint32_t i = 0; i < kBatchesBefore; i++) SendBatch();
    if (!Publish(change_.after, 2, InstantOf(batches_ + kLeadBatches))) return false;
    uint64_t swept = monitor_->counters().sweep_cycles;
    for (uint32_t i = 0; i < kBatchesAfter; i++) {
      const Frame* frames = traffic_.Next();
      const Nanos now = NextInstant();
      const uint64_t before = __rdtsc();
      monitor_->OnBatch(frames, kBatch, false, 0, 0, now);
      const uint64_t all = __rdtsc() - before;
      const uint64_t swept_after = monitor_->counters().sweep_cycles;
      (*cycles)[i] = std::min((*cycles)[i], all - std::min(all, swept_after - swept));
      swept = swept_after;
      if (i % kEpochBatches == 0) monitor_->Drain(&sink_);
    }
    monitor_->Drain(&sink_);
    return true;
  }
  uint64_t incomplete_epochs() const { return sink_.incomplete_epochs; }

 private:
  static TrafficSpec Spec(uint32_t flows, Order order) {
    TrafficSpec spec;
    spec.flows = flows;
    spec.order = order;
    return spec;
  }
  bool Publish(const Plans& plans, uint64_t generation, Nanos from) {
    Status status = Status::Ok();
    // By another thread, as the agent is one: the caches of this one keep what they have.
    std::thread agent(
        [&] { status = monitor_->Publish(TriggerProgram::Make(plans, generation, from)); });
    agent.join();
    if (!status.ok()) std::fprintf(stderr, "bench-install: %s\n", status.message().c_str());
    return status.ok();
  }
  Nanos NextInstant() { return InstantOf(batches_++); }
  static Nanos InstantOf(uint64_t batch) {
    const auto packets = static_cast<Nanos>(batch) * kBatch;
    return kNanosPerSecond + packets * kEpochNs / kEpochPackets;
  }
  void SendBatch() {
    const Frame* frames = traffic_.Next();
    const Nanos now = NextInstant();
    monitor_->OnBatch(frames, kBatch, false, 0, 0, now);
    if (batches_ % kEpochBatches == 0) monitor_->Drain(&sink_);
  }

  const Change& change_;
  Traffic traffic_;
  std::unique_ptr<PacketMonitor> monitor_;
  ForgettingSink sink_;
  uint64_t batches_ = 0;
};

bool Measure(const Change& change, uint32_t flows, Order order, uint32_t repeats,
             double cycles_per_ns) {
  std::vector<uint64_t> cycles(kBatchesAfter, UINT64_MAX);
  uint64_t incomplete = 0;
  for (uint32_t repeat = 0; repeat < repeats; repeat++) {
    Run run(change, flows, order);
    if (!run.Time(&cycles)) return false;
    incomplete = std::max(incomplete, run.incomplete_epochs());
  }
  const auto longest = std::max_element(cycles.begin(), cycles.end());
  const auto longest_at = longest - cycles.begin();
  std::vector<uint64_t> usual(cycles.end() - 2 * kEpochBatches, cycles.end());
  std::sort(usual.begin(), usual.end());
  const auto nanos = [&](uint64_t count) { return static_cast<double>(count) / cycles_per_ns; };
  const double median = nanos(usual[usual.size() / 2]);
  const double stall = nanos(*longest) - median;
  const double first = nanos(cycles[kLeadBatches]) - median;
  std::vector<uint64_t> sorted(cycles);
  std::sort(sorted.begin(), sorted.end());
  const double p999 = nanos(sorted[sorted.size() * 999 / 1000]) - median;
  const char* order_name = order == Order::kSequential ? "sequential" : "random";
  std::printf(
      "{\"bench\":\"install\",\"change\":\"%s\",\"flows\":%u,\"order\":\"%s\",\"batch_ns\":%.0f,"
      "\"batch_max_ns\":%.0f,\"first_ns\":%.0f,\"stall_ns\":%.0f,\"stall_p999_ns\":%.0f,"
      "\"longest_batch\":%ld,\"incomplete_epochs\":%llu}\n",
      change.name, flows, order_name, median, nanos(usual.back()), first, stall, p999,
      static_cast<long>(longest_at), static_cast<unsigned long long>(incomplete));
  std::fprintf(stderr, "%-14s %7u %-10s %8.0f %8.0f %8.0f %8.0f %8.0f %8ld %4llu\n", change.name,
               flows, order_name, median, nanos(usual.back()) - median, first, stall, p999,
               static_cast<long>(longest_at), static_cast<unsigned long long>(incomplete));
  return true;
}

bool ParseNumbers(const char* text, std::vector<uint32_t>* numbers) {
  numbers->clear();
  std::istringstream stream(text);
  std::string item;
  while (std::getline(stream, item, ',')) {
    char* end = nullptr;
    const unsigned long value = std::strtoul(item.c_str(), &end, 10);
    if (item.empty() || *end != '\0' || value == 0 || value > 4000000) return false;
    numbers->push_back(static_cast<uint32_t>(value));
  }
  return !numbers->empty();
}

int Main(int argc, char** argv) {
  std::vector<uint32_t> flows{300, 10000, 100000};
  std::vector<uint32_t> repeats{7};
  bool is_fine = argc % 2 == 1;
  for (int i = 1; is_fine && i < argc; i += 2) {
    const std::string name = argv[i];
    is_fine = (name == "--flows" && ParseNumbers(argv[i + 1], &flows)) ||
              (name == "--repeats" && ParseNumbers(argv[i + 1], &repeats));
  }
  if (!is_fine) {
    std::fprintf(stderr, "usage: bench-install [--flows N,N,...] [--repeats N]\n");
    return 2;
  }
  const double cycles_per_ns = CyclesPerNano();
  const std::vector<Change> changes = MakeChanges();
  std::fprintf(stderr, "%-14s %7s %-10s %8s %8s %8s %8s %8s %8s %4s\n", "change", "flows", "order",
               "batch ns", "max +", "first +", "stall", "p99.9 +", "at batch", "inc");
  for (const uint32_t count : flows) {
    for (const Change& change : changes) {
      for (const Order order : {Order::kSequential, Order::kRandom}) {
        if (!Measure(change, count, order, repeats.front(), cycles_per_ns)) return 1;
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace trumpet::bench

int main(int argc, char** argv) { return trumpet::bench::Main(argc, argv); }
