// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the packet thread pays for the sweep: per flow with cells but without granularity, per
// partial with one, in steps of 5 us; and how long the steps were, by the clock.  Steps during
// which another thread took the processor (`preempted`, of a million) tell about the machine and
// are left out of the rest. BM_Spin is the control: steps that only look at the clock, so what
// exceeds the budget there is interrupts and the hypervisor.
//
// BM_Pieces has no budget, so that each step is one piece of work between two looks at the clock:
// what a step can exceed its budget by.  The same sweep is run eleven times, each of its pieces
// counts with the median of its rounds, and what interrupts does not come to the same piece again.

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "lib/tpm/monitor_harness_test.h"

namespace trumpet {
namespace {

using testing::DstPrefix;
using testing::PlanOf;
using testing::UdpFrame;

constexpr Nanos kEpoch = 10 * kNanosPerMilli;

class NoSink : public DeliverySink {
 public:
  void OnPartial(const PartialView&) override {}
  void OnFlowState(const FlowStateUpdate&) override {}
  void OnEpochEnd(Nanos, Nanos, uint32_t) override {}
};

long Switches() {
  rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw + usage.ru_nvcsw;
}

constexpr Nanos kBudget = 5 * kNanosPerMicro;

struct Steps {
  // Runs `step` until it answers false.  Returns the seconds of the steps that nobody interrupted.
  template <typename Step>
  double RunAll(const Step& step) {
    double seconds = 0;
    for (bool has_more = true; has_more;) {
      const long before = Switches();
      const uint64_t start = clock->Ticks();
      has_more = step();
      const double nanos = static_cast<double>(clock->Ticks() - start) / clock->ticks_per_nano();
      if (Switches() != before) {
        preempted++;
        continue;
      }
      histogram.Add(static_cast<Nanos>(nanos));
      seconds += nanos * 1e-9;
    }
    return seconds;
  }

  void Show(benchmark::State* state) const {
    const StepCounts counts = histogram.Read();
    const auto all = static_cast<double>(counts.count());
    state->counters["p99_ns"] = static_cast<double>(counts.Percentile(100));
    state->counters["p999_ns"] = static_cast<double>(counts.Percentile(1000));
    state->counters["over"] = static_cast<double>(counts.over_limit) * 1e6 / all;
    state->counters["preempted"] = static_cast<double>(preempted) * 1e6 / all;
  }

  const StepClock* clock = StepClock::System();
  StepHistogram histogram{kBudget + StepWatch::kGrace};
  uint64_t preempted = 0;
};

void BM_Spin(benchmark::State& state) {
  Steps steps;
  StepWatch watch(steps.clock, kBudget, nullptr);
  for (auto _ : state) {
    int left = 1000;
    state.SetIterationTime(steps.RunAll([&] {
      watch.Begin();
      while (!watch.IsOver()) {
      }
      watch.End(0);
      return --left > 0;
    }));
  }
  steps.Show(&state);
}
BENCHMARK(BM_Spin)->UseManualTime()->Iterations(100);

// "max(volume) >= 0": such cells no set keeps for its flows.
std::shared_ptr<const TriggerPlan> LargestOf(uint32_t id) {
  EventSpec spec = PlanOf(id, DstPrefix(0, 0), Variable::kVolume, 10)->spec;
  spec.predicate = testing::AtLeast(AggregateKind::kMax, Variable::kVolume, 0);
  return std::make_shared<const TriggerPlan>(MakeTriggerPlan(spec));
}

MonitorOptions SweepOptions() {
  MonitorOptions options;
  options.max_flows = 1u << 18;
  options.ring_bytes = 1u << 28;
  options.sweep_budget_ns = kBudget;
  options.touches_memory = true;  // as in the switch
  return options;
}

std::unique_ptr<PacketMonitor> MakeSwept(const MonitorOptions& options, uint32_t triggers,
                                         bool is_five_tuple) {
  auto monitor = testing::MakeMonitor(options);
  HostVerdicts::Plans plans;
  for (uint32_t id = 1; id <= triggers; id++) {
    const auto plain = PlanOf(id, DstPrefix(0, 0), Variable::kVolume, 10, is_five_tuple);
    plans.push_back(is_five_tuple ? plain : LargestOf(id));
  }
  if (!monitor->Publish(TriggerProgram::Make(plans, 1, INT64_MIN)).ok()) abort();
  return monitor;
}

void SendEach(PacketMonitor* monitor, uint32_t flows, Nanos now) {
  for (uint32_t flow = 0; flow < flows; flow++) {
    testing::Send(monitor, UdpFrame(flow * 2654435761u, 1, 2, 3), now);
  }
}

// One packet of each flow per epoch; the time is that of the sweeps alone.
void Sweeps(benchmark::State& state, bool is_five_tuple) {
  const auto flows = static_cast<uint32_t>(state.range(0));
  const auto triggers = static_cast<uint32_t>(state.range(1));
  const auto monitor = MakeSwept(SweepOptions(), triggers, is_five_tuple);
  NoSink sink;
  Nanos now = 0;
  double fastest = 1e9;
  Steps steps;
  for (auto _ : state) {
    SendEach(monitor.get(), flows, now);
    now += kEpoch;
    const uint64_t preempted_before = steps.preempted;
    const double spent = steps.RunAll([&] { return monitor->OnIdle(now); });
    if (steps.preempted == preempted_before) fastest = std::min(fastest, spent);
    state.SetIterationTime(spent);
    monitor->Drain(&sink);
  }
  state.counters["min_ns_per_flow"] = fastest * 1e9 / flows;
  state.counters["min_ns_per_partial"] = is_five_tuple ? fastest * 1e9 / flows / triggers : 0;
  steps.Show(&state);
}

void BM_WholeBuckets(benchmark::State& state) { Sweeps(state, false); }
void BM_Partials(benchmark::State& state) { Sweeps(state, true); }

void Sizes(benchmark::internal::Benchmark* bench) {
  for (const int flows : {300, 10000, 100000}) {
    for (const int triggers : {1, 8}) bench->Args({flows, triggers});
  }
  bench->UseManualTime()->Iterations(40);
}
BENCHMARK(BM_WholeBuckets)->Apply(Sizes);
BENCHMARK(BM_Partials)->Apply(Sizes);

// The nanoseconds of each step of the sweep of one epoch, which has cells of each flow.
std::vector<double> PiecesOf(uint32_t flows, uint32_t triggers, bool is_five_tuple) {
  MonitorOptions options = SweepOptions();
  options.sweep_budget_ns = 0;
  options.watchdog_factor = 0;
  const auto monitor = MakeSwept(options, triggers, is_five_tuple);
  NoSink sink;
  SendEach(monitor.get(), flows, 0);
  testing::SweepAll(monitor.get(), kEpoch, &sink);
  SendEach(monitor.get(), flows, kEpoch);
  const StepClock* clock = StepClock::System();
  std::vector<double> pieces;
  for (bool has_more = true; has_more;) {
    const uint64_t start = clock->Ticks();
    has_more = monitor->OnIdle(2 * kEpoch);
    pieces.push_back(static_cast<double>(clock->Ticks() - start) / clock->ticks_per_nano());
  }
  return pieces;
}

constexpr size_t kRounds = 11;

double MedianOf(std::vector<double>* values) {
  const auto middle = values->begin() + static_cast<std::ptrdiff_t>(values->size() / 2);
  std::nth_element(values->begin(), middle, values->end());
  return *middle;
}

void BM_Pieces(benchmark::State& state) {
  const auto flows = static_cast<uint32_t>(state.range(0));
  const auto triggers = static_cast<uint32_t>(state.range(1));
  std::vector<double> pieces;
  for (auto _ : state) {
    std::vector<std::vector<double>> rounds;
    while (rounds.size() < kRounds) {
      rounds.push_back(PiecesOf(flows, triggers, state.range(2) != 0));
      if (rounds.back().size() != rounds.front().size()) {
        state.SkipWithError("rounds of one sweep have different numbers of pieces");
        return;
      }
    }
    for (size_t piece = 0; piece < rounds.front().size(); piece++) {
      std::vector<double> times;
      for (const std::vector<double>& round : rounds) times.push_back(round[piece]);
      pieces.push_back(MedianOf(&times));
    }
  }
  std::sort(pieces.begin(), pieces.end());
  state.counters["pieces"] = static_cast<double>(pieces.size());
  state.counters["median_ns"] = pieces[pieces.size() / 2];
  state.counters["p999_ns"] = pieces[(pieces.size() - 1) - pieces.size() / 1000];
  state.counters["longest_ns"] = pieces.back();
}
BENCHMARK(BM_Pieces)
    ->ArgsProduct({{300, 10000, 100000}, {1, 8}, {0, 1}})
    ->ArgNames({"flows", "triggers", "by_flow"})
    ->Iterations(1);

}  // namespace
}  // namespace trumpet
