// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/install_run.h"

#include <sys/resource.h>
#include <x86intrin.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>

#include "lib/tpm/next_flows.h"
#include "lib/tpm/step_clock.h"
#include "tests/bench/lane.h"
#include "tests/bench/monitor_contender.h"

namespace trumpet::bench {
namespace {

constexpr uint32_t kEpochBatches = kEpochPackets / kBatch;
constexpr uint32_t kBatchesBefore = 3 * kEpochBatches;
constexpr uint32_t kEpochsAfter = 5;  // the instant
constexpr int kControlSteps = 400;

// From handing over a program to its instant, as the agent chooses it.
uint32_t LeadEpochs(uint32_t flows) {
  const Nanos wait = NextFlows::WaitFor(std::min<uint64_t>(flows, kEpochPackets));
  return static_cast<uint32_t>(std::max<Nanos>(wait + kEpochNs - 1, kEpochNs) / kEpochNs);
}

// From the first `before` of the events to the first `after` of them.
struct Change {
  std::vector<EventSpec> events;
  uint32_t before;
  uint32_t after;
};

std::vector<Change> MakeChanges(const TriggersSpec& spec) {
  const std::vector<EventSpec> base = MakeEvents(spec, 1);
  const auto count = static_cast<uint32_t>(base.size());
  std::vector<EventSpec> one_more = base;
  one_more.push_back(MakeSubnetEvent(count + 1, spec.encapsulation));
  std::vector<EventSpec> twice = base;
  for (EventSpec& event : MakeEvents(spec, count + 1)) twice.push_back(std::move(event));
  return {{base, 1, count},
          {one_more, count, count + 1},
          {twice, count, 2 * count},
          {one_more, count + 1, count},
          {base, count, 1}};
}

long FaultsOfThread() {
  rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

// Work that needs no memory, about as long as a batch: what it is held up by, is the machine's.
uint64_t ControlCycles() {
  const uint64_t before = __rdtsc();
  uint64_t number = before | 1;
  for (int i = 0; i < kControlSteps; i++) {
    number *= 0x9e3779b97f4a7c15;
    __asm__ volatile("" : "+r"(number));
  }
  return __rdtsc() - before;
}

// How long the calls of one window took, by their number in it, in all rounds.  All memory is taken
// and written at the beginning.
class CallTimes {
 public:
  CallTimes(uint32_t calls, uint32_t rounds)
      : all_(static_cast<size_t>(calls) * rounds), least_(calls, UINT32_MAX) {}

  void Add(uint32_t call, uint64_t cycles) {
    const auto time = static_cast<uint32_t>(std::min<uint64_t>(cycles, UINT32_MAX));
    all_[count_++] = time;
    least_[call] = std::min(least_[call], time);
  }

  // Of the calls from `from` on, each with the least of its rounds.
  uint32_t LeastAt(double share, uint32_t from = 0) const {
    return At(share, {least_.begin() + from, least_.end()});
  }
  uint32_t Least(uint32_t call) const { return least_[call]; }
  // Which of the calls from `from` on.
  long Longest(uint32_t from) const {
    return std::max_element(least_.begin() + from, least_.end()) - least_.begin();
  }

  Json Members() const {
    return {{"p50", Micros(At(0.5, all_))},      {"p99", Micros(At(0.99, all_))},
            {"p99.9", Micros(At(0.999, all_))},  {"max_worst", Micros(At(1, all_))},
            {"least_p50", Micros(LeastAt(0.5))}, {"least_p99.9", Micros(LeastAt(0.999))},
            {"least_max", Micros(LeastAt(1))}};
  }

  static double Micros(int64_t cycles) {
    const double nanos = static_cast<double>(cycles) / StepClock::System()->ticks_per_nano();
    return static_cast<double>(static_cast<int64_t>(nanos / 10)) / 100;
  }

 private:
  static uint32_t At(double share, std::vector<uint32_t> times) {
    const auto place = static_cast<size_t>(share * static_cast<double>(times.size() - 1));
    std::nth_element(times.begin(), times.begin() + static_cast<long>(place), times.end());
    return times[place];
  }

  std::vector<uint32_t> all_;
  size_t count_ = 0;
  std::vector<uint32_t> least_;
};

struct Timings {
  Timings(uint32_t lead, uint32_t rounds)
      : lead_batches(lead * kEpochBatches),
        batches_after(lead_batches + kEpochsAfter * kEpochBatches),
        before(kBatchesBefore, rounds),
        after(batches_after, rounds),
        control(batches_after, rounds) {}
  const uint32_t lead_batches;
  const uint32_t batches_after;  // handing over
  CallTimes before;
  CallTimes after;
  CallTimes control;
  // The first batch after a program that is compiled like the others, and not handed over.
  uint32_t least_compiled = UINT32_MAX;
  long least_faults = INT32_MAX;
};

class InstallRound {
 public:
  InstallRound(const BenchCase& bench_case, const Change& change)
      : bench_case_(bench_case),
        change_(change),
        contender_(MonitorContender::Make(change.events, bench_case.traffic.flows,
                                          /*has_filter=*/false, change.before)),
        traffic_(bench_case.traffic) {}

  bool is_ready() const { return contender_ != nullptr; }

  // False when the new program could not be published.
  bool Run(Timings* timings) {
    for (uint32_t i = 0; i < bench_case_.warm_epochs * kEpochBatches; i++) TimeBatch();
    for (uint32_t i = 0; i < kBatchesBefore; i++) timings->before.Add(i, TimeBatch());
    OnOtherThread([&] { contender_->CompileOnly(change_.after); });
    timings->least_compiled = std::min(timings->least_compiled, static_cast<uint32_t>(TimeBatch()));
    for (uint32_t i = 1; i < kEpochBatches; i++) TimeBatch();
    changed_at_ = packets_ + uint64_t{timings->lead_batches} * kBatch;
    if (!Publish()) return false;
    long faults = 0;
    for (uint32_t i = 0; i < timings->batches_after; i++) {
      const long before = FaultsOfThread();
      const uint64_t cycles = TimeBatch();
      faults += FaultsOfThread() - before;
      timings->after.Add(i, cycles);
      timings->control.Add(i, ControlCycles());
    }
    timings->least_faults = std::min(timings->least_faults, faults);
    contender_->NoteTime(InstantOf(packets_) - 1);
    contender_->Finish();
    return true;
  }

  // Empty, or which trigger counted wrongly.
  std::string Check() const {
    const TriggersSpec& spec = bench_case_.triggers;
    const auto all = PacketsPerGroup(bench_case_.traffic, spec, packets_);
    const auto early = PacketsPerGroup(bench_case_.traffic, spec, changed_at_);
    const std::vector<uint64_t>& counted = contender_->counts()->values;
    for (uint32_t i = 0; i < counted.size(); i++) {
      const uint64_t from = i < change_.before ? 0 : Expected(i, early);
      const uint64_t until = Expected(i, i < change_.after ? all : early);
      const uint64_t expected = until - std::min(from, until);
      if (counted[i] == expected) continue;
      return "trigger " + std::to_string(i) + " counted " + std::to_string(counted[i]) +
             " instead of " + std::to_string(expected);
    }
    return "";
  }

 private:
  // Where the agent is: the caches of this thread keep what they have.
  template <typename Work>
  static void OnOtherThread(const Work& work) {
    std::thread(work).join();
  }

  bool Publish() {
    bool is_published = false;
    OnOtherThread(
        [&] { is_published = contender_->Install(change_.after, InstantOf(changed_at_)); });
    return is_published;
  }

  // Without the steps of the sweep, which have a budget of their own.
  uint64_t TimeBatch() {
    PacketMonitor& monitor = contender_->monitor();
    const Frame* frames = traffic_.Next();
    const Nanos now = InstantOf(packets_);
    const uint64_t before = __rdtsc();
    monitor.OnBatch(frames, kBatch, false, 0, 0, now);
    const uint64_t all = __rdtsc() - before;
    packets_ += kBatch;
    const uint64_t swept = monitor.counters().sweep_cycles;
    const uint64_t cycles = all - std::min(all, swept - swept_);
    swept_ = swept;
    if (packets_ % kEpochPackets == 0) contender_->OutsideEpoch();
    return cycles;
  }

  static Nanos InstantOf(uint64_t packets) {
    return static_cast<Nanos>(packets / kEpochPackets) * kEpochNs +
           static_cast<Nanos>(packets % kEpochPackets) * kEpochNs / kEpochPackets;
  }

  // What trigger `i` counts of so many packets per group.
  uint64_t Expected(uint32_t i, const std::vector<uint64_t>& packets) const {
    const TriggersSpec& spec = bench_case_.triggers;
    if (change_.events.size() == spec.triggers + 1 && i == spec.triggers) {
      // To the /24 at the start of the destinations, which whole groups fill.
      uint64_t sum = 0;
      for (uint32_t group = 0; group < 256 / spec.group_size(); group++) sum += packets[group];
      return sum;
    }
    const PlainTrigger trigger = TriggerNumber(spec, i % spec.triggers);
    const uint64_t per_packet[3] = {1, ShapeOf(bench_case_.traffic.encapsulation).payload_bytes, 0};
    return packets[trigger.group] * per_packet[static_cast<int>(trigger.type)];
  }

  const BenchCase& bench_case_;
  const Change& change_;
  std::unique_ptr<MonitorContender> contender_;
  Traffic traffic_;
  uint64_t packets_ = 0;
  uint64_t changed_at_ = 0;
  uint64_t swept_ = 0;
};

Json ResultsOf(const Timings& timings) {
  const CallTimes& after = timings.after;
  const int64_t usual = after.LeastAt(0.5, timings.batches_after - 2 * kEpochBatches);
  const auto more = [usual](uint32_t cycles) { return CallTimes::Micros(cycles - usual); };
  // The first batch follows a sleep, while another thread compiled: that is not the change's.
  const uint32_t first = after.Least(0);
  const uint32_t handing_over = first - std::min(first, timings.least_compiled);
  const long longest = after.Longest(1);
  const uint32_t others = after.Least(static_cast<uint32_t>(longest));
  return {{"batch_before", timings.before.Members()},
          {"batch_after", after.Members()},
          {"control", timings.control.Members()},
          {"stall", std::max(more(others), CallTimes::Micros(handing_over))},
          {"stall_p99.9", more(after.LeastAt(0.999))},
          {"first_after_compiling_only", more(timings.least_compiled)},
          {"first_after_handing_over", more(after.Least(0))},
          {"first_after_the_instant", more(after.Least(timings.lead_batches))},
          {"longest_batch", longest},
          {"page_faults", timings.least_faults}};
}

// Adds the row of one change to `rows`; false when there is no memory.
bool RunChange(const BenchCase& bench_case, const Change& change, std::vector<Json>* rows) {
  Timings timings(LeadEpochs(bench_case.traffic.flows), bench_case.repeats);
  std::string problem;
  for (uint32_t repeat = 0; repeat < bench_case.repeats; repeat++) {
    InstallRound round(bench_case, change);
    if (!round.is_ready() || !round.Run(&timings)) return false;
    if (problem.empty()) problem = round.Check();
  }
  Json row = FieldsOf(bench_case);
  row["run"] = "install";
  row["case"] = "install, " + std::to_string(bench_case.traffic.flows) +
                " flows: " + std::to_string(change.before) + " -> " + std::to_string(change.after) +
                " triggers, microseconds per batch";
  row["results"] = ResultsOf(timings);
  row["counts_right"] = problem.empty();
  if (!problem.empty()) row["problem"] = problem;
  rows->push_back(row);
  return true;
}

}  // namespace

std::vector<Json> RunInstall(const BenchCase& bench_case) {
  std::vector<Json> rows;
  for (const Change& change : MakeChanges(bench_case.triggers)) {
    if (!RunChange(bench_case, change, &rows)) return {};
  }
  return rows;
}

}  // namespace trumpet::bench
