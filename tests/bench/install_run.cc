// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/install_run.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "tests/bench/lane.h"
#include "tests/bench/monitor_contender.h"

namespace trumpet::bench {
namespace {

constexpr int kWindowEpochs = 3;
constexpr uint32_t kInstallPacket = kEpochPackets / 2 / kBatch * kBatch;

int64_t ThreadNanos() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

int64_t CostOfClock() {
  int64_t least = INT64_MAX;
  for (int i = 0; i < 1000; i++) {
    const int64_t before = ThreadNanos();
    least = std::min(least, ThreadNanos() - before);
  }
  return least;
}

// Durations of one kind of call in one window, all rounds.
class CallTimes {
 public:
  void BeginRound() { largest_.push_back(0); }
  void Add(int64_t ns) {
    all_.push_back(static_cast<uint32_t>(std::max<int64_t>(ns, 0)));
    largest_.back() = std::max(largest_.back(), all_.back());
  }

  Json Members() {
    std::sort(all_.begin(), all_.end());
    std::sort(largest_.begin(), largest_.end());
    return {{"p50", Micros(At(0.5))},
            {"p99", Micros(At(0.99))},
            {"p99.9", Micros(At(0.999))},
            {"max_quietest", Micros(largest_.front())},
            {"max_median", Micros(largest_[largest_.size() / 2])},
            {"max_worst", Micros(largest_.back())}};
  }

 private:
  uint32_t At(double share) const {
    return all_[static_cast<size_t>(share * static_cast<double>(all_.size() - 1))];
  }
  static double Micros(uint32_t ns) { return static_cast<double>(ns / 10) / 100; }

  std::vector<uint32_t> all_;
  std::vector<uint32_t> largest_;  // per round
};

struct Window {
  double ns_per_packet() const {
    return std::round(SpreadOf(seconds).min * 1e10 / kWindowEpochs / kEpochPackets) / 10;
  }

  CallTimes batches;
  CallTimes idles;
  std::vector<double> seconds;  // for kWindowEpochs, without a clock between the calls
};

class InstallRound {
 public:
  InstallRound(const BenchCase& bench_case, int64_t clock_ns)
      : bench_case_(bench_case),
        clock_ns_(clock_ns),
        contender_(
            MonitorContender::Make(MakeEvents(bench_case.triggers, 1), bench_case.traffic.flows)),
        traffic_(bench_case.traffic) {}

  bool is_ready() const { return contender_ != nullptr; }

  // False when the new program could not be published.
  bool Run(const std::vector<EventSpec>& added, Window* before, Window* after) {
    RunPackets(static_cast<uint64_t>(bench_case_.warm_epochs) * kEpochPackets, nullptr);
    BeginRound(before);
    before->seconds.push_back(TimeEpochs());
    RunPackets(kWindowEpochs * kEpochPackets + kInstallPacket, before);
    installed_at_ = packets_;
    if (!contender_->InstallMore(added, Now())) return false;
    BeginRound(after);
    RunPackets(kWindowEpochs * kEpochPackets, after);
    after->seconds.push_back(TimeEpochs());
    contender_->Finish();
    return true;
  }

  // Empty, or which trigger counted wrongly.
  std::string Check(bool is_whole_set) const {
    const TriggersSpec& triggers = bench_case_.triggers;
    const std::vector<uint64_t>& counted = contender_->counts()->values;
    const auto all = PacketsPerGroup(bench_case_.traffic, triggers, packets_);
    const auto early = PacketsPerGroup(bench_case_.traffic, triggers, installed_at_);
    for (uint32_t i = 0; i < counted.size(); i++) {
      const bool is_new = i >= triggers.triggers;
      uint64_t packets = 0;
      const PlainTrigger trigger = TriggerNumber(triggers, i % triggers.triggers);
      if (is_new && !is_whole_set) {
        packets = SubnetPackets(all) - SubnetPackets(early);
      } else {
        packets = all[trigger.group] - (is_new ? early[trigger.group] : 0);
      }
      const uint64_t per_packet[3] = {1, ShapeOf(bench_case_.traffic.encapsulation).payload_bytes,
                                      0};
      const uint64_t expected = packets * per_packet[static_cast<int>(trigger.type)];
      if (counted[i] == expected) continue;
      return "trigger " + std::to_string(i) + " counted " + std::to_string(counted[i]) +
             " instead of " + std::to_string(expected);
    }
    return "";
  }

 private:
  // To the /24 at the start of the destinations, which whole groups fill.
  uint64_t SubnetPackets(const std::vector<uint64_t>& packets) const {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 256 / bench_case_.triggers.group_size(); i++) sum += packets[i];
    return sum;
  }

  static void BeginRound(Window* window) {
    window->batches.BeginRound();
    window->idles.BeginRound();
  }

  Nanos Now() const {
    return static_cast<Nanos>(packets_ / kEpochPackets) * kEpochNs +
           static_cast<Nanos>(packets_ % kEpochPackets) * kEpochNs / kEpochPackets;
  }

  double TimeEpochs() {
    PacketMonitor& monitor = contender_->monitor();
    double seconds = 0;
    for (int i = 0; i < kWindowEpochs; i++) {
      const double before = ThreadSeconds();
      for (uint32_t j = 0; j < kEpochPackets; j += kBatch, packets_ += kBatch) {
        monitor.OnIdle(Now());
        monitor.OnBatch(traffic_.Next(), kBatch, false, 0, 0, Now());
      }
      seconds += ThreadSeconds() - before;
      contender_->OutsideEpoch();
    }
    contender_->NoteTime(Now() - 1);
    return seconds;
  }

  void RunPackets(uint64_t count, Window* window) {
    PacketMonitor& monitor = contender_->monitor();
    for (const uint64_t end = packets_ + count; packets_ < end; packets_ += kBatch) {
      const Frame* frames = traffic_.Next();
      const int64_t start = ThreadNanos();
      monitor.OnIdle(Now());
      const int64_t middle = ThreadNanos();
      monitor.OnBatch(frames, kBatch, false, 0, 0, Now());
      const int64_t end_ns = ThreadNanos();
      if (packets_ % kEpochPackets == 0) contender_->OutsideEpoch();
      if (window == nullptr) continue;
      window->idles.Add(middle - start - clock_ns_);
      window->batches.Add(end_ns - middle - clock_ns_);
    }
    contender_->NoteTime(Now() - 1);
  }

  const BenchCase& bench_case_;
  const int64_t clock_ns_;
  std::unique_ptr<MonitorContender> contender_;
  Traffic traffic_;
  uint64_t packets_ = 0;
  uint64_t installed_at_ = 0;
};

bool RunAdding(const BenchCase& bench_case, bool is_whole_set, std::vector<Json>* rows) {
  const uint32_t first_id = bench_case.triggers.triggers + 1;
  std::vector<EventSpec> added = {MakeSubnetEvent(first_id, bench_case.traffic.encapsulation)};
  if (is_whole_set) added = MakeEvents(bench_case.triggers, first_id);
  Window before;
  Window after;
  std::string problem;
  const int64_t clock_ns = CostOfClock();
  for (uint32_t repeat = 0; repeat < bench_case.repeats; repeat++) {
    InstallRound round(bench_case, clock_ns);
    if (!round.is_ready() || !round.Run(added, &before, &after)) return false;
    if (problem.empty()) problem = round.Check(is_whole_set);
  }
  Json row = FieldsOf(bench_case);
  row["run"] = "install";
  row["case"] = "install, " + std::to_string(bench_case.traffic.flows) +
                " flows: " + std::to_string(added.size()) + " more, microseconds per call";
  row["results"] = {{"batch_before", before.batches.Members()},
                    {"batch_after", after.batches.Members()},
                    {"idle_before", before.idles.Members()},
                    {"idle_after", after.idles.Members()},
                    {"ns_per_packet_before", before.ns_per_packet()},
                    {"ns_per_packet_after", after.ns_per_packet()}};
  row["counts_right"] = problem.empty();
  if (!problem.empty()) row["problem"] = problem;
  rows->push_back(row);
  return true;
}

}  // namespace

std::vector<Json> RunInstall(const BenchCase& bench_case) {
  std::vector<Json> rows;
  if (!RunAdding(bench_case, false, &rows) || !RunAdding(bench_case, true, &rows)) return {};
  return rows;
}

}  // namespace trumpet::bench
