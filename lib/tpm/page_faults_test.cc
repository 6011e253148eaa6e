// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// No packet meets a page that was never written: neither the first batches, nor those around a
// change of events, nor the sweeps after them.  To zero a huge page takes longer than the watchdog
// lets a step take.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "lib/base/sanitizers_test.h"
#include "lib/tpm/monitor_fuzz_kit.h"
#include "lib/tpm/monitor_harness_test.h"
#include "lib/tpm/packet_threads_test_kit.h"
#include "lib/tpm/peer_exchange.h"
#include "lib/tpm/tcp_traffic_test.h"
#include "lib/tpm/trigger_program.h"

namespace trumpet {
namespace {

using testing::RandomTraffic;
using testing::ShotFrame;
using testing::UdpFrame;

constexpr bool kSanitizersKeepNotes = testing::kHasAddressSanitizer || testing::kHasThreadSanitizer;

constexpr int kPackets = 40'000;
constexpr Nanos kGap = 5 * kNanosPerMicro;
constexpr Nanos kChange = kPackets / 2 * kGap;

long FaultsOfThread() {
  rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

class ForgettingSink : public DeliverySink {
 public:
  void OnPartial(const PartialView&) override {}
  void OnFlowState(const FlowStateUpdate&) override {}
  void OnEpochEnd(Nanos, Nanos, uint32_t) override {}
};

// Every other packet is TCP, its directions on two threads; the rest are 20,000 flows of UDP.
class Packets {
 public:
  Packets() {
    RandomTraffic traffic(1, 2000);
    for (uint32_t i = 0; i < kPackets / 2; i++) {
      const RandomTraffic::Event event = traffic.Next();
      tcp_.push_back(std::make_unique<ShotFrame>(event.flow, event.shot));
      tcp_side_.push_back(event.flow.src_ip < event.flow.dst_ip ? 0 : 1);
      udp_.emplace_back(0x0a000001 + i % 5000, 0x0a008000 + i % 300, static_cast<uint16_t>(i / 20),
                        6);
    }
  }
  // Number i, and the thread that receives it.
  std::pair<Frame, size_t> At(size_t i) const {
    const size_t half = i / 2;
    if (i % 2 == 0) return {tcp_[half]->frame(), tcp_side_[half]};
    return {udp_[half].frame(), half % 2};
  }

 private:
  std::vector<std::unique_ptr<ShotFrame>> tcp_;
  std::vector<size_t> tcp_side_;
  std::vector<UdpFrame> udp_;
};

// Two packet threads, driven by the calling thread; what is the agent's is done by another one.
class Host {
 public:
  Host() : exchange_(1u << 14, kNanosPerSecond) {
    ByAgent([this] {
      MonitorOptions options;
      options.max_flows = 1u << 15;
      options.stat_megabytes = 16;
      options.set_kilobytes = 16 << 10;
      options.ring_bytes = 1u << 20;
      options.connections.max_connections = 1u << 14;
      options.admission.is_enabled = true;
      options.touches_memory = true;
      options.peers = &exchange_;
      for (auto& monitor : monitors_) monitor = testing::MakeMonitor(options);
    });
  }

  // Page faults of the packet threads.
  long Run(const Packets& packets) {
    const HostVerdicts::Plans all = fuzz::AllPlans();
    Publish({all.begin(), all.begin() + 3}, INT64_MIN);
    for (size_t i = 0; i < kPackets; i++) {
      const Nanos now = static_cast<Nanos>(i) * kGap;
      if (now == kChange - 10 * kNanosPerMilli) Publish(all, kChange);
      const auto [frame, thread] = packets.At(i);
      const Frame* batch = &frame;
      const long before = FaultsOfThread();
      monitors_[thread]->OnIdle(now);
      monitors_[thread]->OnBatch(batch, 1, false, 0, 0, now);
      faults_ += FaultsOfThread() - before;
      if (i % 64 == 0) ByAgent([this] { Drain(); });
    }
    return faults_;
  }
  uint64_t Sum(uint64_t MonitorCounters::*counter) const {
    return monitors_[0]->counters().*counter + monitors_[1]->counters().*counter;
  }

 private:
  template <typename Work>
  static void ByAgent(Work work) {
    std::thread agent(work);
    agent.join();
  }
  void Publish(const HostVerdicts::Plans& plans, Nanos from) {
    ByAgent([&] {
      const auto program = TriggerProgram::Make(plans, ++generation_, from);
      for (auto& monitor : monitors_) EXPECT_TRUE(monitor->Publish(program).ok());
    });
  }
  void Drain() {
    for (auto& monitor : monitors_) monitor->Drain(&sink_);
  }

  PeerExchange exchange_;
  std::unique_ptr<PacketMonitor> monitors_[2];
  ForgettingSink sink_;
  uint64_t generation_ = 0;
  long faults_ = 0;
};

// The first run brings the program's own pages.  The kernel may move pages of ours now and then, so
// one run of three is enough to show that nothing needs a new one; all hosts stay, lest the next
// one get their memory.
TEST(PageFaults, NeverHappenOnThePacketThread) {
  if (kSanitizersKeepNotes) GTEST_SKIP() << "sanitizers keep notes of their own in fresh pages";
  const Packets packets;
  std::vector<std::unique_ptr<Host>> hosts;
  hosts.push_back(std::make_unique<Host>());
  hosts.back()->Run(packets);
  long least = INT64_MAX;
  for (int run = 0; run < 3 && least != 0; run++) {
    hosts.push_back(std::make_unique<Host>());
    least = std::min(least, hosts.back()->Run(packets));
  }
  EXPECT_EQ(least, 0);
  EXPECT_GT(hosts.back()->Sum(&MonitorCounters::flows_added), 20'000u);
  EXPECT_GT(hosts.back()->Sum(&MonitorCounters::partials), 20'000u);
  EXPECT_GT(hosts.back()->Sum(&MonitorCounters::rtt_samples), 100u);
}

}  // namespace
}  // namespace trumpet
