// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/report_run.h"

#include <algorithm>
#include <string>
#include <utility>

#include "tests/bench/lane.h"
#include "tests/bench/monitor_contender.h"

namespace trumpet::bench {
namespace {

constexpr int64_t kNever = 80000000;
constexpr int kStepsPerDrain = 64;

double Rounded(double value) { return static_cast<double>(static_cast<int64_t>(value * 10)) / 10; }

Json RowOf(const BenchCase& bench_case, const std::string& name) {
  Json row = FieldsOf(bench_case);
  row["run"] = "reports";
  row["case"] = "reports, " + std::to_string(bench_case.traffic.flows) + " flows: " + name;
  return row;
}

// A monitor whose sweeps run by themselves, between two epochs.
class Variant {
 public:
  Variant(std::string name, std::unique_ptr<MonitorContender> contender,
          const BenchCase& bench_case)
      : name_(std::move(name)), contender_(std::move(contender)), traffic_(bench_case.traffic) {
    contender_->sink().DecideVerdicts();
  }

  // Sweeps the last epoch and counts the next one.
  void RunEpoch(bool is_sample) {
    const SummingSink& sink = contender_->sink();
    const uint64_t partials = sink.partials();
    const uint64_t reports = sink.reports();
    const double sweep = Sweep();
    const double batches = CountEpoch();
    next_epoch_++;
    if (!is_sample) return;
    partials_ = sink.partials() - partials;
    reports_ = sink.reports() - reports;
    sweep_.push_back(sweep);
    batches_.push_back(batches);
  }

  // In nanoseconds per epoch, the least of the samples.
  double sweep_ns() const { return SpreadOf(sweep_).min * 1e9; }
  double epoch_ns() const { return sweep_ns() + SpreadOf(batches_).min * 1e9; }
  uint64_t partials() const { return partials_; }  // of the last sample
  uint64_t reports() const { return reports_; }

  Json Row(const BenchCase& bench_case, uint64_t expected_reports) const {
    const Spread sweep = SpreadOf(sweep_);
    Json row = RowOf(bench_case, name_);
    row["results"] = {
        {"partials_per_epoch", partials_},
        {"reports_per_epoch", reports_},
        {"ns_per_packet", Rounded(epoch_ns() / kEpochPackets)},
        {"sweep_us_min", Rounded(sweep.min * 1e6)},
        {"sweep_us_median", Rounded(sweep.median * 1e6)},
        {"agent_us_per_epoch", Rounded(agent_seconds_ * 1e6 / static_cast<double>(next_epoch_))}};
    if (reports_ != expected_reports) {
      row["problem"] = std::to_string(expected_reports) + " reports per epoch were expected";
    }
    return row;
  }

 private:
  // With the agent emptying the ring in between, in its own time.
  double Sweep() {
    const Nanos now = next_epoch_ * kEpochNs;
    double seconds = 0;
    bool has_more = true;
    while (has_more) {
      const double before = ThreadSeconds();
      for (int i = 0; i < kStepsPerDrain && has_more; i++) has_more = monitor().OnIdle(now);
      const double after = ThreadSeconds();
      contender_->OutsideEpoch();
      seconds += after - before;
      agent_seconds_ += ThreadSeconds() - after;
    }
    return seconds;
  }

  double CountEpoch() {
    const double before = ThreadSeconds();
    for (uint32_t packet = 0; packet < kEpochPackets; packet += kBatch) {
      const Nanos within = static_cast<Nanos>(packet) * kEpochNs / kEpochPackets;
      monitor().OnBatch(traffic_.Next(), kBatch, false, 0, 0, next_epoch_ * kEpochNs + within);
    }
    return ThreadSeconds() - before;
  }

  PacketMonitor& monitor() { return contender_->monitor(); }

  std::string name_;
  std::unique_ptr<MonitorContender> contender_;
  Traffic traffic_;
  int64_t next_epoch_ = 0;
  uint64_t partials_ = 0;
  uint64_t reports_ = 0;
  double agent_seconds_ = 0;
  std::vector<double> sweep_;
  std::vector<double> batches_;
};

EventSpec WholeEvent() {
  EventSpec event = MakePerFlowEvent(1, kNever);
  event.granularity.is_five_tuple = false;
  return event;
}

// Never and always, twice, then the flows alone.
enum { kTriggersNever, kTriggersAlways, kFlowsNever, kFlowsAlways, kWhole, kVariants };

bool MakeVariants(const BenchCase& bench_case, std::vector<Variant>* variants) {
  TriggersSpec always = bench_case.triggers;
  always.threshold = 1;
  const std::pair<const char*, std::vector<EventSpec>> all[kVariants] = {
      {"triggers, never", MakeEvents(bench_case.triggers, 1)},
      {"triggers, always", MakeEvents(always, 1)},
      {"5-tuple, never", {MakePerFlowEvent(1, kNever)}},
      {"5-tuple, always", {MakePerFlowEvent(1, 1)}},
      {"no granularity, never", {WholeEvent()}}};
  for (const auto& [name, events] : all) {
    auto contender = MonitorContender::Make(events, bench_case.traffic.flows);
    if (contender == nullptr) return false;
    variants->emplace_back(name, std::move(contender), bench_case);
  }
  return true;
}

// Triggers that fire in an epoch in which every flow has a packet: all but losses.
uint64_t FiringTriggers(const BenchCase& bench_case) {
  const auto packets = PacketsPerGroup(bench_case.traffic, bench_case.triggers, kEpochPackets);
  uint64_t count = 0;
  for (uint32_t q = 0; q < bench_case.triggers.triggers; q++) {
    const PlainTrigger trigger = TriggerNumber(bench_case.triggers, q);
    const bool can_fire = trigger.type == TriggerType::kPackets ||
                          (trigger.type == TriggerType::kVolume &&
                           ShapeOf(bench_case.traffic.encapsulation).payload_bytes != 0);
    if (can_fire && packets[trigger.group] != 0) count++;
  }
  return count;
}

// Nanoseconds on the packet thread; 0 if there was nothing to divide by.
double CostOf(double more_ns, uint64_t count) {
  return count == 0 ? 0 : Rounded(more_ns / static_cast<double>(count));
}

Json Costs(const BenchCase& bench_case, const std::vector<Variant>& variants) {
  const Variant& triggers = variants[kTriggersAlways];
  const Variant& flows = variants[kFlowsAlways];
  const double of_triggers = triggers.epoch_ns() - variants[kTriggersNever].epoch_ns();
  const double of_flows = flows.epoch_ns() - variants[kFlowsNever].epoch_ns();
  const double of_partials = flows.sweep_ns() - variants[kWhole].sweep_ns();
  Json row = RowOf(bench_case, "cost on the packet thread (goal: a report below 100 ns)");
  row["results"] = {
      {"ns_per_report_of_trigger", CostOf(of_triggers, triggers.reports())},
      {"ns_per_report_of_flow", CostOf(of_flows, flows.reports())},
      {"sweep_ns_per_partial_of_trigger", CostOf(triggers.sweep_ns(), triggers.partials())},
      {"sweep_ns_per_partial_of_flow", CostOf(flows.sweep_ns(), flows.partials())},
      {"ns_per_partial_of_flow", CostOf(of_partials, flows.partials())}};
  return row;
}

}  // namespace

std::vector<Json> RunReports(const BenchCase& bench_case) {
  std::vector<Variant> variants;
  if (!MakeVariants(bench_case, &variants)) return {};
  for (Variant& variant : variants) {
    for (uint32_t i = 0; i < bench_case.warm_epochs + 2; i++) variant.RunEpoch(false);
  }
  for (uint32_t repeat = 0; repeat < bench_case.repeats * bench_case.epochs; repeat++) {
    for (Variant& variant : variants) {
      variant.RunEpoch(false);
      variant.RunEpoch(true);
    }
  }
  const uint64_t expected[kVariants] = {0, FiringTriggers(bench_case), 0, bench_case.traffic.flows,
                                        0};
  std::vector<Json> rows;
  for (int i = 0; i < kVariants; i++) rows.push_back(variants[i].Row(bench_case, expected[i]));
  rows.push_back(Costs(bench_case, variants));
  return rows;
}

}  // namespace trumpet::bench
