// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/case_run.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/bench/lane.h"
#include "tests/bench/monitor_contender.h"
#include "tests/bench/simple_contenders.h"
#include "tests/bench/strawmen.h"
#include "tests/bench/yardstick.h"

namespace trumpet::bench {
namespace {

const char* NameOf(Order order) {
  static const char* const kNames[] = {"sequential", "random", "burst16", "zipf"};
  return kNames[static_cast<int>(order)];
}
const char* NameOf(Encapsulation encapsulation) {
  static const char* const kNames[] = {"ipv4", "ipv6", "vxlan"};
  return kNames[static_cast<int>(encapsulation)];
}
const char* NameOf(Buckets buckets) {
  static const char* const kNames[] = {"none", "dstIP/24", "5-tuple"};
  return kNames[static_cast<int>(buckets)];
}

// All flows come up at least twice in a row, four times by lot.
uint32_t WarmEpochs(const BenchCase& bench_case) {
  const uint32_t rounds = bench_case.traffic.order == Order::kSequential ? 2 : 4;
  return std::max(bench_case.warm_epochs, rounds * bench_case.traffic.flows / kEpochPackets + 1);
}

bool AddLane(std::string name, std::unique_ptr<Contender> contender, const BenchCase& bench_case,
             std::vector<Lane>* lanes) {
  if (contender == nullptr) return false;
  lanes->emplace_back(std::move(name), std::move(contender), bench_case.traffic, bench_case.epochs);
  return true;
}

bool AddLanes(const BenchCase& bench_case, std::vector<Lane>* lanes) {
  const TrafficSpec& traffic = bench_case.traffic;
  const TriggersSpec& triggers = bench_case.triggers;
  AddLane("yardstick", MakeYardstick(traffic), bench_case, lanes);
  AddLane("map", MakeMap(traffic), bench_case, lanes);
  AddLane("traffic", MakeTrafficOnly(), bench_case, lanes);
  AddLane("parse", MakeParse(), bench_case, lanes);
  const uint32_t max_flows = std::max(1u << 17, 2 * traffic.flows);
  const auto events = triggers.triggers == 0 ? std::vector<EventSpec>() : MakeEvents(triggers, 1);
  auto monitor = MonitorContender::Make(events, traffic.flows, traffic.attack_share != 0);
  if (monitor != nullptr) monitor->set_batch(static_cast<int>(bench_case.batch));
  if (!AddLane("lookup", MakeLookup(max_flows), bench_case, lanes) ||
      !AddLane("monitor", std::move(monitor), bench_case, lanes)) {
    return false;
  }
  if (bench_case.with_strawmen && StrawmenCanMatch(triggers)) {
    BenchCase shorter = bench_case;  // they are slow and do not vary
    shorter.epochs = std::min(bench_case.epochs, 2u);
    AddLane("match-first", MakeMatchFirst(triggers), shorter, lanes);
    AddLane("match-later", MakeMatchLater(triggers), shorter, lanes);
  }
  return true;
}

double Rounded(double value, int digits) {
  const double scale = std::pow(10.0, digits);
  return std::round(value * scale) / scale;
}

Json RowOf(const BenchCase& bench_case, Lane* lane, double traffic_ns, double yardstick_ns) {
  lane->contender().Finish();
  const Spread times = lane->times();
  const double frames_ns = lane->contender().times_frames() ? traffic_ns : 0;
  Json row = FieldsOf(bench_case);
  row["contender"] = lane->name();
  row["ns_min"] = Rounded(times.min, 2);
  row["ns_median"] = Rounded(times.median, 2);
  row["ns_p90"] = Rounded(times.p90, 2);
  row["ns_max"] = Rounded(times.max, 2);
  row["ns_min_without_frames"] = Rounded(times.min - frames_ns, 2);
  row["ratio"] = Rounded(times.min / yardstick_ns, 3);
  row["packets"] = lane->packets();
  row.update(lane->contender().Facts());
  const std::string problem = lane->CheckCounts(bench_case.triggers);
  if (lane->contender().counts() != nullptr) row["counts_right"] = problem.empty();
  if (!problem.empty()) row["problem"] = problem;
  return row;
}

}  // namespace

std::string LabelOf(const BenchCase& bench_case) {
  const TrafficSpec& traffic = bench_case.traffic;
  const TriggersSpec& triggers = bench_case.triggers;
  std::string label = std::to_string(traffic.flows) + " flows";
  if (traffic.order != Order::kSequential) label += std::string(", ") + NameOf(traffic.order);
  if (traffic.encapsulation != Encapsulation::kIpv4) {
    label += std::string(", ") + NameOf(traffic.encapsulation);
  }
  if (traffic.new_flows_per_second != 0) {
    label += ", " + std::to_string(traffic.new_flows_per_second) + " new/s";
  }
  if (traffic.attack_share != 0) {
    label += ", attack " + std::to_string(std::lround(traffic.attack_share * 100)) + " %";
  }
  if (bench_case.batch != kBatch) {
    label += ", batches of " + std::to_string(bench_case.batch);
  }
  if (triggers.buckets != Buckets::kNone) label += std::string(", by ") + NameOf(triggers.buckets);
  const TriggersSpec base;
  if (triggers.triggers != base.triggers) {
    label += ", " + std::to_string(triggers.triggers) + " triggers";
  }
  if (triggers.triggers != 0 && triggers.per_packet != base.per_packet) {
    label += ", " + std::to_string(triggers.per_packet) + "/packet";
  }
  if (triggers.triggers != 0 && triggers.patterns != base.patterns) {
    label += ", " + std::to_string(triggers.patterns) + " masks";
  }
  return label;
}

Json FieldsOf(const BenchCase& bench_case) {
  return {{"bench", "monitor"},
          {"case", LabelOf(bench_case)},
          {"flows", bench_case.traffic.flows},
          {"order", NameOf(bench_case.traffic.order)},
          {"frames", NameOf(bench_case.traffic.encapsulation)},
          {"new_flows_per_second", bench_case.traffic.new_flows_per_second},
          {"attack_share", bench_case.traffic.attack_share},
          {"triggers", bench_case.triggers.triggers},
          {"per_packet", bench_case.triggers.per_packet},
          {"patterns", bench_case.triggers.patterns},
          {"granularity", NameOf(bench_case.triggers.buckets)},
          {"batch", bench_case.batch}};
}

std::vector<Json> RunCase(const BenchCase& bench_case) {
  std::vector<Lane> lanes;
  if (!AddLanes(bench_case, &lanes)) return {};
  for (Lane& lane : lanes) lane.WarmUp(WarmEpochs(bench_case));
  for (uint32_t repeat = 0; repeat < bench_case.repeats; repeat++) {
    for (Lane& lane : lanes) lane.TakeSample();
  }
  const double yardstick_ns = lanes[0].times().min;
  const double traffic_ns = lanes[2].times().min;
  std::vector<Json> rows;
  for (Lane& lane : lanes) rows.push_back(RowOf(bench_case, &lane, traffic_ns, yardstick_ns));
  return rows;
}

}  // namespace trumpet::bench
