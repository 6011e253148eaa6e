// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The agent's own thread beside real packet threads; run under ThreadSanitizer too.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/memory_shortage_test.h"
#include "vswitchd-plugin/fake_switch_test.h"

namespace trumpet {
namespace {

using testing::FakeSwitch;

int64_t NowUs() { return ReadSystemClocks().monotonic_ns / 1000; }

// Does as a PMD thread does: brings batches while it has some to send, is idle otherwise, and calls
// nothing while the hooks are detached.
class PacketThread {
 public:
  PacketThread(FakeSwitch* fake, Agent* agent, int core) : fake_(fake), agent_(agent) {
    monitor_ = agent->AddThread({core, 0, true, this});
    thread_ = std::thread([this] { Run(); });
  }
  ~PacketThread() { Stop(); }

  void Send(uint64_t batches) { to_send_.fetch_add(batches); }
  bool has_sent_all() const { return to_send_.load() == 0; }
  uint64_t seen() const { return seen_.load(); }
  uint64_t sent() const { return sent_.load(); }

  void Stop() {
    if (!thread_.joinable()) return;
    stops_.store(true);
    thread_.join();
    agent_->RemoveThread(monitor_);
  }

 private:
  static constexpr int kBatch = 8;

  void Run() {
    std::vector<testing::UdpFrame> udp;
    for (uint32_t i = 0; i < kBatch; ++i) udp.emplace_back(1, 2 + i, 3, 4);
    std::vector<trumpet_frame> frames;
    for (const auto& frame : udp) frames.push_back({frame.bytes.data(), 60, 60});
    while (!stops_.load()) {
      if (to_send_.load() != 0) {
        if (fake_->is_attached()) {
          uint32_t marks[kBatch];
          monitor_->OnReceive(frames.data(), frames.size(), 1, NowUs(), marks);
          seen_.fetch_add(kBatch);
        }
        sent_.fetch_add(kBatch);
        to_send_.fetch_sub(1);
      } else if (fake_->is_attached()) {
        monitor_->OnIdle(NowUs());
        monitor_->NextWakeupUs();
      }
      std::this_thread::yield();
    }
  }

  FakeSwitch* fake_;
  Agent* agent_;
  ThreadMonitor* monitor_;
  std::atomic<uint64_t> to_send_{0};
  std::atomic<uint64_t> seen_{0};
  std::atomic<uint64_t> sent_{0};
  std::atomic<bool> stops_{false};
  std::thread thread_;
};

// Waits for a condition that other threads will bring about.
template <typename Condition>
bool Eventually(const Condition& condition) {
  const int64_t deadline = NowUs() + 30'000'000;
  while (!condition()) {
    if (NowUs() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

// Under a sanitizer steps are slow, which is no matter for the watchdog here.
constexpr char kBudgetUs[] = "1000";

class AgentThread : public ::testing::Test {
 protected:
  AgentThread() : plugin_(fake_.ops()) {
    plugin_.SetConfig({{"trumpet-enable", "true"},
                       {"trumpet-memory-mb", "4"},
                       {"trumpet-sweep-budget-us", kBudgetUs}});
    for (int core = 0; core < 2; ++core) {
      threads_.push_back(std::make_unique<PacketThread>(&fake_, &plugin_.agent(), core));
    }
  }
  ~AgentThread() override {
    threads_.clear();
    plugin_.agent().Stop();
  }

  void Install(const std::string& line) {
    const auto added = plugin_.RunCommand("trumpet/event-add", {line});
    ASSERT_TRUE(added.ok()) << added.message();
  }

  bool RunsOnAllThreads() {
    const auto events = plugin_.events().List();
    const AgentStatus status = plugin_.agent().Snapshot();
    if (events.empty() || events.back().generation == 0 || status.threads.size() != 2) return false;
    for (const ThreadStatus& thread : status.threads) {
      if (thread.generation < events.back().generation) return false;
    }
    return true;
  }

  Int128 ReportedPackets() {
    Int128 total = 0;
    for (const Report& report : plugin_.reports().Last(ReportLog::kCapacity, "")) {
      total += report.value.integer();
    }
    return total;
  }

  FakeSwitch fake_;
  Plugin plugin_;
  std::vector<std::unique_ptr<PacketThread>> threads_;
};

TEST_F(AgentThread, ReportsEveryPacketOfTwoThreadsExactlyOnce) {
  // Long enough that no thread is taken for a stalled one on a crowded machine.
  Install("*, sum(packets) >= 1, 300ms");
  ASSERT_TRUE(Eventually([&] { return RunsOnAllThreads(); }));
  for (auto& thread : threads_) thread->Send(5000);
  EXPECT_TRUE(Eventually([&] { return ReportedPackets() == 2 * 5000 * 8; }))
      << static_cast<uint64_t>(ReportedPackets()) << " late "
      << plugin_.agent().Snapshot().verdicts.late_partials;
}

TEST_F(AgentThread, SurvivesAThousandInterruptionsUnderTraffic) {
  Install("*, sum(packets) >= 1, 10ms");
  ASSERT_TRUE(Eventually([&] { return RunsOnAllThreads(); }));
  for (auto& thread : threads_) thread->Send(UINT64_MAX / 2);
  for (int i = 0; i < 1000; ++i) {
    plugin_.agent().SetEnabled(false);
    EXPECT_FALSE(fake_.is_attached());
    plugin_.agent().SetEnabled(true);
  }
  const uint64_t before = plugin_.agent().Snapshot().threads[0].counters.packets;
  EXPECT_TRUE(Eventually([&] {
    return plugin_.agent().Snapshot().threads[0].counters.packets > before + 1000;
  })) << "it counts again";
}

TEST_F(AgentThread, TouchesNoMonitorOnceDisabled) {
  Install("*, sum(packets) >= 1, 10ms");
  ASSERT_TRUE(Eventually([&] { return RunsOnAllThreads(); }));
  for (auto& thread : threads_) thread->Send(UINT64_MAX / 2);
  for (int i = 0; i < 20; ++i) {
    while (!plugin_.agent().SetEnabled(false)) plugin_.agent().SetEnabled(true);
    const AgentStatus before = plugin_.agent().Snapshot();
    const uint64_t sent = threads_[0]->sent();
    ASSERT_TRUE(Eventually([&] { return threads_[0]->sent() > sent + 100; }));
    const AgentStatus after = plugin_.agent().Snapshot();
    for (size_t t = 0; t < 2; ++t) {
      EXPECT_EQ(after.threads[t].counters.packets, before.threads[t].counters.packets);
    }
    plugin_.agent().SetEnabled(true);
  }
}

TEST_F(AgentThread, TakesEventsThreadsAndSettingsWhilePacketsRun) {
  Install("*, sum(packets) >= 1, 10ms");
  for (auto& thread : threads_) thread->Send(UINT64_MAX / 2);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(
        plugin_.RunCommand("trumpet/event-add", {"name=x", "*, count(is_lost) > 3, 5-tuple, 7ms"})
            .ok());
    plugin_.SetConfig({{"trumpet-enable", "true"},
                       {"trumpet-memory-mb", "4"},
                       {"trumpet-sweep-budget-us", kBudgetUs},
                       {"trumpet-zones", i % 2 == 0 ? "vlan:1=1" : ""},
                       {"trumpet-burst-gap-ns", std::to_string(i / 5)}});
    plugin_.UpdatePort(static_cast<uint32_t>(i), "port", "tap", true);
    threads_[1]->Stop();
    threads_[1] = std::make_unique<PacketThread>(&fake_, &plugin_.agent(), 1);
    threads_[1]->Send(UINT64_MAX / 2);
    EXPECT_TRUE(Eventually([&] { return RunsOnAllThreads(); }));
    ASSERT_TRUE(plugin_.RunCommand("trumpet/event-del", {"x"}).ok());
    ASSERT_TRUE(plugin_.RunCommand("trumpet/status", {}).ok());
  }
  EXPECT_EQ(fake_.TakeLogText().find("error"), std::string::npos);
}

constexpr char kCountPackets[] =
    "flow = Key(ipv4.dst);\n"
    "total = Counter(width=64);\n"
    "sizes = Sketch(alg=\"count-min\", key=flow, nhash=4, size=64, width=64);\n"
    "endpoint C;\n"
    "pkts >> total.set(total + 1) >> sizes.set(sizes + 1) >> duplicate(copies);\n"
    "copies >> collect(C);\n";

TEST_F(AgentThread, ProgramsCountEveryPacketWhileOthersComeAndGo) {
  ASSERT_TRUE(plugin_.RunCommand("trumpet/program-add", {"all", kCountPackets}).ok());
  constexpr uint64_t kBatches = 3000;
  for (auto& thread : threads_) thread->Send(kBatches);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(plugin_.RunCommand("trumpet/program-add", {"other", kCountPackets}).ok());
    ASSERT_TRUE(plugin_.RunCommand("trumpet/program-read", {"other", "sizes"}).ok());
    ASSERT_TRUE(plugin_.RunCommand("trumpet/program-show", {"other"}).ok());
    ASSERT_TRUE(plugin_.RunCommand("trumpet/program-del", {"other"}).ok());
  }
  ASSERT_TRUE(
      Eventually([&] { return threads_[0]->has_sent_all() && threads_[1]->has_sent_all(); }));
  threads_[1]->Stop();  // what it counted stays
  EXPECT_EQ(threads_[0]->seen() + threads_[1]->seen(), 2 * 8 * kBatches);
  const auto total = plugin_.RunCommand("trumpet/program-read", {"all", "total"});
  ASSERT_TRUE(total.ok()) << total.message();
  EXPECT_NE(total->find(" " + std::to_string(2 * 8 * kBatches) + "\n"), std::string::npos)
      << *total;
}

TEST_F(AgentThread, ProgramsSurviveInterruptionsAndNewThreads) {
  for (auto& thread : threads_) thread->Send(UINT64_MAX / 2);
  ASSERT_TRUE(plugin_.RunCommand("trumpet/program-add", {"all", kCountPackets}).ok());
  for (int i = 0; i < 20; ++i) {
    plugin_.agent().SetEnabled(false);
    threads_[1]->Stop();
    threads_[1] = std::make_unique<PacketThread>(&fake_, &plugin_.agent(), 1);
    threads_[1]->Send(UINT64_MAX / 2);
    plugin_.agent().SetEnabled(true);
  }
  const auto seen = [&] { return threads_[1]->seen(); };
  EXPECT_TRUE(Eventually([&] { return seen() > 100; }));
  const auto programs = plugin_.agent().measurements().Snapshot().programs;
  ASSERT_EQ(programs.size(), 1u);
  EXPECT_EQ(programs[0].threads, 2u);
  EXPECT_EQ(programs[0].view.states.size(), 2u);
}

TEST_F(AgentThread, ProgramsAreMadeWhileThreadsComeAndGo) {
  std::atomic<bool> is_over{false};
  std::thread changes([&] {
    while (!is_over.load()) {
      threads_[1]->Stop();
      threads_[1] = std::make_unique<PacketThread>(&fake_, &plugin_.agent(), 1);
    }
  });
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(plugin_.RunCommand("trumpet/program-add", {"all", kCountPackets}).ok());
    EXPECT_TRUE(plugin_.RunCommand("trumpet/program-del", {"all"}).ok());
  }
  is_over.store(true);
  changes.join();
}

// Where memory runs out in a library below, nothing is left to do but to leave the switch alone.
TEST(AgentOutOfMemory, StopsTheMonitorUntilItIsEnabledAgain) {
  std::atomic<bool> has_memory{false};
  FakeSwitch fake;
  AgentParts parts;
  parts.make_monitor = [&](const MonitorOptions& options) {
    if (!has_memory.load()) throw std::bad_alloc();
    return PacketMonitor::Create(options);
  };
  Plugin plugin(fake.ops(), parts);
  plugin.SetConfig({{"trumpet-enable", "true"}, {"trumpet-memory-mb", "4"}});
  PacketThread thread(&fake, &plugin.agent(), 0);
  ASSERT_TRUE(plugin.RunCommand("trumpet/event-add", {"*, sum(packets) >= 1, 10ms"}).ok());
  std::string log;
  ASSERT_TRUE(Eventually([&] {
    log += fake.TakeLogText();
    return log.find("the packet monitor stops") != std::string::npos;
  })) << log;
  EXPECT_NE(log.find("bad_alloc"), std::string::npos) << log;
  EXPECT_FALSE(fake.is_attached());
  EXPECT_EQ(plugin.events().List()[0].generation, 0u) << "it is not active";
  has_memory.store(true);
  ASSERT_TRUE(plugin.RunCommand("trumpet/enable", {}).ok());
  thread.Send(UINT64_MAX / 2);
  EXPECT_TRUE(Eventually([&] { return thread.seen() != 0; })) << "it is attached again";
  thread.Stop();
  plugin.agent().Stop();
}

// What is lent to a packet thread is taken away all the same.
TEST(AgentOutOfMemory, GivesUpWithoutAnyMemory) {
  static FakeSwitch fake;  // of the function below, which has no other way to it
  trumpet_host ops = *fake.ops();
  ops.log = [](trumpet_log_level level, const char* text) {
    testing::MemoryShortage::End();
    fake.ops()->log(level, text);
  };
  std::atomic<bool> is_short{false};
  AgentParts parts;
  parts.make_monitor = [&](const MonitorOptions& options) {
    if (!is_short.load()) return PacketMonitor::Create(options);
    testing::MemoryShortage::Begin(0);
    throw std::bad_alloc();
  };
  Plugin plugin(&ops, parts);
  plugin.SetConfig({{"trumpet-enable", "true"}, {"trumpet-memory-mb", "4"}});
  PacketThread first(&fake, &plugin.agent(), 0);
  ASSERT_TRUE(plugin.RunCommand("trumpet/event-add", {"*, sum(packets) >= 1, 10ms"}).ok());
  ASSERT_TRUE(plugin.RunCommand("trumpet/slice-on", {"1", "60000", "*"}).ok());
  first.Send(UINT64_MAX / 2);
  ASSERT_TRUE(Eventually([&] {
    const AgentStatus status = plugin.agent().Snapshot();
    return status.threads.size() == 1 && status.threads[0].is_attached;
  }));
  is_short.store(true);
  PacketThread second(&fake, &plugin.agent(), 1);
  ASSERT_TRUE(Eventually(
      [&] { return fake.TakeLogText().find("the packet monitor stops") != std::string::npos; }));
  EXPECT_FALSE(fake.is_attached());
  EXPECT_FALSE(plugin.agent().slices().is_any_on());
  EXPECT_FALSE(plugin.agent().Snapshot().threads[0].is_attached);
  EXPECT_FALSE(plugin.agent().Snapshot().threads[0].has_monitor) << "its memory is free again";
  second.Stop();
  first.Stop();
  plugin.agent().Stop();
}

}  // namespace
}  // namespace trumpet
