// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/matrix.h"

namespace trumpet::bench {
namespace {

BenchCase Flows(uint32_t flows, Order order = Order::kSequential) {
  BenchCase bench_case;
  bench_case.traffic.flows = flows;
  bench_case.traffic.order = order;
  return bench_case;
}

BenchCase WithStrawmen(BenchCase bench_case) {
  bench_case.with_strawmen = true;
  return bench_case;
}

BenchCase Triggers(uint32_t flows, uint32_t triggers, uint32_t per_packet, uint32_t patterns) {
  BenchCase bench_case = Flows(flows);
  bench_case.triggers.triggers = triggers;
  bench_case.triggers.per_packet = per_packet;
  bench_case.triggers.patterns = patterns;
  return bench_case;
}

BenchCase Churn(uint32_t new_flows_per_second) {
  BenchCase bench_case = Flows(FlowsOfChurn(new_flows_per_second));
  bench_case.traffic.new_flows_per_second = new_flows_per_second;
  return bench_case;
}

BenchCase Frames(uint32_t flows, Encapsulation encapsulation) {
  BenchCase bench_case = Flows(flows);
  bench_case.traffic.encapsulation = encapsulation;
  bench_case.triggers.encapsulation = encapsulation;
  return bench_case;
}

BenchCase Attack(double share) {
  BenchCase bench_case = Flows(300);
  bench_case.traffic.attack_share = share;
  return bench_case;
}

BenchCase Batches(uint32_t flows, uint32_t batch) {
  BenchCase bench_case = Flows(flows);
  bench_case.batch = batch;
  return bench_case;
}

BenchCase By(Buckets buckets, uint32_t flows) {
  BenchCase bench_case = Flows(flows);
  bench_case.triggers.buckets = buckets;
  return bench_case;
}

}  // namespace

uint32_t FlowsOfChurn(uint32_t new_flows_per_second) {
  switch (new_flows_per_second) {
    case 1000:
      return 300;
    case 16000:
      return 4800;
    case 64000:
      return 19200;
    default:
      return 0;
  }
}

std::vector<BenchCase> FullMatrix() {
  std::vector<BenchCase> cases = {
      Flows(10),
      WithStrawmen(Flows(300)),
      WithStrawmen(Flows(1000)),
      Flows(3000),
      WithStrawmen(Flows(10000)),
      Flows(30000),
      WithStrawmen(Flows(100000)),
      Flows(1000000),
  };
  for (const Order order : {Order::kRandom, Order::kBurst16, Order::kZipf}) {
    for (const uint32_t flows : {300u, 10000u, 100000u}) cases.push_back(Flows(flows, order));
  }
  for (const uint32_t flows : {300u, 10000u, 100000u}) {
    cases.push_back(WithStrawmen(Triggers(flows, 4096, 1, 32)));
  }
  cases.push_back(WithStrawmen(Triggers(300, 4096, 1, 1)));
  cases.push_back(WithStrawmen(Triggers(300, 4096, 8, 64)));
  cases.push_back(Triggers(300, 16384, 8, 32));
  cases.push_back(Triggers(300, 0, 8, 32));
  cases.push_back(Triggers(100000, 0, 8, 32));
  for (const uint32_t rate : {1000u, 16000u, 64000u}) cases.push_back(Churn(rate));
  for (const uint32_t flows : {300u, 100000u}) {
    cases.push_back(WithStrawmen(Frames(flows, Encapsulation::kIpv6)));
    cases.push_back(WithStrawmen(Frames(flows, Encapsulation::kVxlan)));
  }
  for (const double share : {0.5, 0.9, 0.99}) cases.push_back(Attack(share));
  for (const uint32_t flows : {300u, 10000u}) {
    for (const uint32_t batch : {1u, 4u, 8u}) cases.push_back(Batches(flows, batch));
    for (const Buckets buckets : {Buckets::kDst24, Buckets::kFiveTuple}) {
      cases.push_back(By(buckets, flows));
    }
  }
  return cases;
}

std::vector<BenchCase> QuickMatrix() {
  std::vector<BenchCase> cases = {WithStrawmen(Flows(300)),
                                  Flows(1000),
                                  Flows(10000),
                                  Flows(100000),
                                  Flows(10000, Order::kZipf),
                                  Triggers(300, 4096, 1, 32),
                                  Triggers(300, 0, 8, 32),
                                  Churn(64000),
                                  Frames(300, Encapsulation::kIpv6),
                                  Frames(300, Encapsulation::kVxlan),
                                  Attack(0.9),
                                  Batches(300, 4),
                                  By(Buckets::kFiveTuple, 300)};
  for (BenchCase& bench_case : cases) bench_case.repeats = 5;
  return cases;
}

}  // namespace trumpet::bench
