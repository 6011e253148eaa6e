// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Cost per packet of known flows, of new ones that are all added, and of a flood that the
// admission filter holds back, through the whole monitor with 4,096 triggers of which each packet
// matches one.  A flood of SYNs meets triggers that need TCP state.  Time passes at 14.88 million
// packets a second.

#include <benchmark/benchmark.h>

#include <vector>

#include "lib/tpm/monitor_harness_test.h"

namespace trumpet {
namespace {

using testing::DstPrefix;
using testing::PlanOf;
using testing::UdpFrame;

constexpr uint32_t kDstBase = 0x0a000000;
constexpr int kBatch = 32;
constexpr Nanos kBatchTime = 2150;

struct Discard : DeliverySink {
  void OnPartial(const PartialView&) override {}
  void OnFlowState(const FlowStateUpdate&) override {}
  void OnEpochEnd(Nanos, Nanos, uint32_t) override {}
};

void SetSource(UdpFrame* frame, uint32_t src) {
  for (size_t i = 0; i < 4; i++) frame->bytes[26 + i] = static_cast<uint8_t>(src >> (24 - 8 * i));
}

void MakeSyn(UdpFrame* frame) {
  frame->bytes[23] = kProtocolTcp;
  frame->bytes[46] = 0x50;
  frame->bytes[47] = kTcpSyn;
}

// `flows` flows by turns.
void Run(benchmark::State& state, uint32_t flows, bool has_filter, bool is_tcp = false) {
  MonitorOptions options;
  options.admission.is_enabled = has_filter;
  const auto monitor = testing::MakeMonitor(options);
  HostVerdicts::Plans plans;
  for (uint32_t id = 0; id < 4096; id++) {
    const Variable variable = is_tcp ? Variable::kIsLost : Variable::kPackets;
    plans.push_back(PlanOf(id + 1, DstPrefix(kDstBase + 16 * id, 28), variable, 10));
  }
  if (!monitor->Publish(TriggerProgram::Make(plans, 1, INT64_MIN)).ok()) {
    state.SkipWithError("no memory");
    return;
  }
  Discard sink;
  std::vector<UdpFrame> frames;
  Frame views[kBatch];
  for (uint32_t i = 0; i < kBatch; i++) {
    frames.emplace_back(0, kDstBase + 1000 * i, uint16_t{5}, uint16_t{6});
    if (is_tcp) MakeSyn(&frames.back());
  }
  for (size_t i = 0; i < kBatch; i++) views[i] = frames[i].frame();
  Nanos now = 0;
  uint32_t next = 0;
  const auto one_batch = [&] {
    for (UdpFrame& frame : frames) SetSource(&frame, next = next + 1 == flows ? 0 : next + 1);
    monitor->OnBatch(views, kBatch, false, 0, 0, now += kBatchTime);
  };
  // Fills the table, and lets the filter settle.
  for (int i = 0; i < 100000; i++) one_batch();
  for (auto _ : state) {
    one_batch();
    if (now % (64 * kBatchTime) == 0) monitor->Drain(&sink);
  }
  const MonitorCounters counters = monitor->counters();
  state.SetItemsProcessed(state.iterations() * kBatch);
  state.counters["withheld"] =
      static_cast<double>(counters.withheld_packets) / static_cast<double>(counters.packets);
}

void BM_KnownFlows(benchmark::State& state) { Run(state, 10000, true); }
void BM_NewFlowsAllAdded(benchmark::State& state) { Run(state, UINT32_MAX, false); }
void BM_FloodHeldBack(benchmark::State& state) { Run(state, UINT32_MAX, true); }
void BM_SynFloodHeldBack(benchmark::State& state) { Run(state, UINT32_MAX, true, true); }

BENCHMARK(BM_KnownFlows);
BENCHMARK(BM_NewFlowsAllAdded);
BENCHMARK(BM_FloodHeldBack);
BENCHMARK(BM_SynFloodHeldBack);

}  // namespace
}  // namespace trumpet
