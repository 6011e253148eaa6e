// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the agent may conclude about packet threads that enter their hooks without a locked
// instruction; run under ThreadSanitizer too.

#include "vswitchd-plugin/thread_monitor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "lib/base/cold_stores_test.h"
#include "lib/base/memory_shortage_test.h"
#include "lib/tpm/monitor_harness_test.h"
#include "lib/tpm/packet_monitor.h"
#include "vswitchd-plugin/monitor_slot.h"

namespace trumpet {
namespace {

constexpr int kRounds = 2000;

std::unique_ptr<PacketMonitor> MakeMonitor() {
  MonitorOptions options;
  options.max_flows = 1024;
  return std::move(*PacketMonitor::Create(options));
}

// A PMD thread that brings a packet again and again, and has an empty round after every so many;
// to it time stands still, so that only floors move its stamps.
class BusyThread {
 public:
  BusyThread(ThreadMonitor* monitor, int packets_per_idle_round)
      : monitor_(monitor), packets_per_idle_round_(packets_per_idle_round) {
    thread_ = std::thread([this] { Run(); });
    while (visits_.load() < 100) std::this_thread::yield();
  }
  ~BusyThread() { Stop(); }

  void Stop() {
    stops_.store(true);
    if (thread_.joinable()) thread_.join();
  }

  // From now on no visit that begins has an earlier stamp.
  void Expect(Nanos floor) { expected_.store(floor); }
  uint64_t visits() const { return visits_.load(); }
  uint64_t early() const { return early_.load(); }

 private:
  void Run() {
    const testing::UdpFrame udp(1, 2, 3, 4);
    const trumpet_frame frame{udp.bytes.data(), 60, 60};
    testing::ColdStores store_cold;
    uint32_t mark;
    for (int i = 0; !stops_.load(std::memory_order_relaxed); ++i) {
      const Nanos expected = expected_.load();
      store_cold();
      if (packets_per_idle_round_ != 0 && i % (packets_per_idle_round_ + 1) == 0) {
        monitor_->OnIdle(0);
      } else {
        monitor_->OnReceive(&frame, 1, 1, 0, &mark);
      }
      if (monitor_->last_stamp_ns() < expected) early_.fetch_add(1);
      visits_.fetch_add(1);
    }
  }

  ThreadMonitor* monitor_;
  const int packets_per_idle_round_;
  std::atomic<Nanos> expected_{INT64_MIN};
  std::atomic<uint64_t> visits_{0};
  std::atomic<uint64_t> early_{0};
  std::atomic<bool> stops_{false};
  std::thread thread_;
};

class ThreadMonitorTest : public ::testing::TestWithParam<int> {
 protected:
  ThreadMonitorTest() { rules_.is_open.store(true); }

  ThreadRules rules_;
  const trumpet_thread_info info_{0, 0, true, nullptr};
};

// As the agent does when it takes a view away: then nobody touches it.
TEST_P(ThreadMonitorTest, WhatWasTakenAwayIsNotTouched) {
  ThreadMonitor monitor(info_, rules_);
  const auto packets = MakeMonitor();
  BusyThread thread(&monitor, GetParam());
  for (int round = 0; round < kRounds; ++round) {
    auto zones = std::make_unique<ZoneMap>();
    auto view = std::make_unique<LiveView>(LiveView{packets.get(), zones.get(), {}});
    monitor.Show(view.get());
    if (round % 2 == 0) std::this_thread::yield();
    monitor.Show(nullptr);
    while (!WaitUntilLeft({&monitor})) {
    }
    *view = LiveView();  // whoever touches it follows a null pointer
  }
}

TEST_P(ThreadMonitorTest, NothingComesFromBeforeAFloorThatWasPassed) {
  MonitorSlot slot(info_, rules_, 0);
  slot.SetMonitor(MakeMonitor());
  slot.Show(ZoneMap(), ParseOptions());
  BusyThread thread(&slot.thread(), GetParam());
  for (Nanos floor = 1; floor <= kRounds; ++floor) {
    rules_.floor_ns.store(floor, std::memory_order_seq_cst);
    while (slot.PassedUntil(floor) < floor) {
    }
    thread.Expect(floor);
  }
  const uint64_t before = thread.visits();
  while (thread.visits() < before + 10) std::this_thread::yield();
  thread.Stop();
  EXPECT_EQ(thread.early(), 0u);
  slot.Hide();
}

// Packets only; now and then a round without any; as many of either.
INSTANTIATE_TEST_SUITE_P(Rounds, ThreadMonitorTest, ::testing::Values(0, 7, 1));

// A thread that is held up between two batches, with the whole interval passing meanwhile.
TEST(ThreadMonitor, AThreadThatStaysAwayAfterABatchHoldsNobodyUp) {
  ThreadRules rules;
  rules.is_open.store(true);
  MonitorSlot slot({0, 0, true, nullptr}, rules, 0);
  slot.SetMonitor(MakeMonitor());
  slot.Show(ZoneMap(), ParseOptions());
  const testing::UdpFrame udp(1, 2, 3, 4);
  const trumpet_frame frame{udp.bytes.data(), 60, 60};
  uint32_t mark;
  slot.thread().OnReceive(&frame, 1, 1, 1, &mark);
  slot.thread().OnReceive(&frame, 1, 1, 2, &mark);
  EXPECT_EQ(slot.thread().last_stamp_ns(), 2000);
  rules.floor_ns.store(10'000);
  EXPECT_EQ(slot.PassedUntil(10'000), 10'000);
  slot.thread().OnReceive(&frame, 1, 1, 3, &mark);
  EXPECT_EQ(slot.thread().last_stamp_ns(), 10'000);
  slot.Hide();
}

// Once the thread may use what is new, nothing can fail any more.
TEST(MonitorSlot, TakesMemoryOnlyForWhatIsShown) {
  ThreadRules rules;
  MonitorSlot slot({0, 0, true, nullptr}, rules, 0);
  slot.SetMonitor(MakeMonitor());
  const auto show = [&] { slot.Show(ZoneMap(), ParseOptions()); };
  uint64_t calls = 0;
  while (!testing::DoesWith(calls, show)) ++calls;
  EXPECT_TRUE(testing::DoesWith(calls, show)) << "what is shown is changed";
  EXPECT_TRUE(testing::DoesWith(0, [&] { slot.Hide(); }));
}

}  // namespace
}  // namespace trumpet
