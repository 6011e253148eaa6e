// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the hook costs around the packet monitor: the same batches handed to the hook, to the hook
// while the gate is closed, and to the monitor directly.  Time stands still, so nothing is swept.

#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "lib/tpm/trigger_program.h"
#include "vswitchd-plugin/fake_switch_test.h"

namespace trumpet::testing {
namespace {

constexpr char kElsewhere[] = "dstIP=192.0.2.1, sum(packets) > 1000000, 10ms";

// `count` frames of as many flows, none of which an event wants.
struct Batch {
  explicit Batch(size_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      udp.push_back(std::make_unique<UdpFrame>(0x0a000001, 0x0a000100 + i, 1000, 2000));
      frames.push_back({udp.back()->bytes.data(), 60, 60});
    }
  }
  std::vector<std::unique_ptr<UdpFrame>> udp;
  std::vector<trumpet_frame> frames;
};

void SayPerPacket(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void Receive(benchmark::State& state, bool is_on) {
  StillSwitch still(1);
  if (is_on) {
    still.Command("trumpet/enable");
    still.Install({kElsewhere});
    still.RunMs(20);
  }
  const Batch batch(static_cast<size_t>(state.range(0)));
  const int64_t now_us = still.monotonic / kNanosPerMicro;
  uint32_t marks[TRUMPET_BATCH_MAX];
  for (auto _ : state) {
    still.threads[0]->OnReceive(batch.frames.data(), batch.frames.size(), 7, now_us, marks);
  }
  SayPerPacket(state);
}

void Hook(benchmark::State& state) { Receive(state, true); }
void HookClosed(benchmark::State& state) { Receive(state, false); }

void MonitorAlone(benchmark::State& state) {
  const auto monitor = PacketMonitor::Create(MonitorOptions());
  const auto plan = PlanOf(1, DstPrefix(0xc0000201, 32), Variable::kPackets, 10);
  (void)(*monitor)->Publish(TriggerProgram::Make({plan}, 1, 0));
  const Batch batch(static_cast<size_t>(state.range(0)));
  std::vector<Frame> frames;
  for (const trumpet_frame& frame : batch.frames) frames.push_back({frame.data, 60, 60});
  for (auto _ : state) {
    (*monitor)->OnBatch(frames.data(), static_cast<int>(frames.size()), true, 7, 0, 1000);
  }
  SayPerPacket(state);
}

// A round of the packet thread in which nothing came and nothing is due.
void Idle(benchmark::State& state) {
  StillSwitch still(1);
  still.Command("trumpet/enable");
  still.Install({kElsewhere});
  still.RunMs(20);
  int64_t sum = 0;
  for (auto _ : state) {
    still.threads[0]->OnIdle(still.monotonic / kNanosPerMicro);
    sum += still.threads[0]->NextWakeupUs();
  }
  benchmark::DoNotOptimize(sum);
}

BENCHMARK(HookClosed)->Arg(32)->Arg(4)->Arg(1);
BENCHMARK(MonitorAlone)->Arg(32)->Arg(4)->Arg(1);
BENCHMARK(Hook)->Arg(32)->Arg(4)->Arg(1);
BENCHMARK(Idle);

}  // namespace
}  // namespace trumpet::testing
