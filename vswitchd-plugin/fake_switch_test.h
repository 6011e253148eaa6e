// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the plug-in's tests share: a switch without Open vSwitch, whose log can be read and whose
// clocks are set by hand, and packet threads that bring frames when told.

#ifndef TRUMPET_VSWITCHD_PLUGIN_FAKE_SWITCH_TEST_H
#define TRUMPET_VSWITCHD_PLUGIN_FAKE_SWITCH_TEST_H

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "lib/tpm/monitor_harness_test.h"
#include "lib/tpm/step_test_kit.h"
#include "vswitchd-plugin/plugin.h"

namespace trumpet::testing {

// The functions that the switch offers have no argument to tell switches apart, so each of the at
// most kMost at a time has functions of its own.
class FakeSwitch {
 public:
  static constexpr size_t kMost = 64;

  FakeSwitch() {
    const std::lock_guard<std::mutex> lock(Places().mutex);
    while (Places().taken[place_] != nullptr) {
      if (++place_ == kMost) std::abort();
    }
    Places().taken[place_] = this;
  }
  ~FakeSwitch() {
    const std::lock_guard<std::mutex> lock(Places().mutex);
    Places().taken[place_] = nullptr;
  }
  FakeSwitch(const FakeSwitch&) = delete;
  FakeSwitch& operator=(const FakeSwitch&) = delete;

  const trumpet_host* ops() const { return &OpsOf(std::make_index_sequence<kMost>())[place_]; }
  bool is_attached() const { return is_attached_.load(); }
  int main_thread_wakes() const { return main_thread_wakes_.load(); }
  bool is_carrying() const { return is_carrying_.load(); }
  std::atomic<uint32_t> mtu{1500};  // of all ports
  bool is_tx_wanted() const { return is_tx_wanted_.load(); }

  std::vector<std::string> TakeLog() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(log_, {});
  }
  std::string TakeLogText() {
    std::string text;
    for (const std::string& line : TakeLog()) text += line + "\n";
    return text;
  }

  struct Command {
    std::string name;
    std::string usage;
    int min_args;
    int max_args;
  };
  std::vector<Command> commands;

 private:
  struct AllPlaces {
    std::mutex mutex;
    std::array<FakeSwitch*, kMost> taken{};
  };
  static AllPlaces& Places() {
    static AllPlaces places;
    return places;
  }
  // A switch lives longer than those who call it.
  template <size_t kPlace>
  static FakeSwitch* At() {
    const std::lock_guard<std::mutex> lock(Places().mutex);
    return Places().taken[kPlace];
  }
  template <size_t kPlace>
  static trumpet_host Ops() {
    trumpet_host ops{};
    ops.log = [](trumpet_log_level level, const char* text) {
      constexpr const char* kNames[] = {"error: ", "warning: ", "info: ", "debug: "};
      FakeSwitch* self = At<kPlace>();
      const std::lock_guard<std::mutex> lock(self->mutex_);
      try {
        self->log_.push_back(std::string(kNames[level]) + text);
      } catch (const std::bad_alloc&) {
        // A test has no memory now.  The switch throws nothing.
      }
    };
    ops.set_attached = [](bool attached) { At<kPlace>()->is_attached_.store(attached); };
    ops.wake_main_thread = [] { ++At<kPlace>()->main_thread_wakes_; };
    ops.set_tx_wanted = [](bool wanted) { At<kPlace>()->is_tx_wanted_.store(wanted); };
    ops.set_carrying = [](bool carrying) { At<kPlace>()->is_carrying_.store(carrying); };
    ops.port_mtu = [](const char*) { return At<kPlace>()->mtu.load(); };
    ops.command_register = [](const char* name, const char* usage, int min_args, int max_args) {
      At<kPlace>()->commands.push_back({name, usage, min_args, max_args});
    };
    ops.thread_load = [](const void*, trumpet_thread_load* load) {
      *load = {1000000, 3000000, 100};
    };
    ops.ovs_version = "3.1.0-fake";
    return ops;
  }
  template <size_t... kPlaces>
  static const std::array<trumpet_host, kMost>& OpsOf(std::index_sequence<kPlaces...>) {
    static const std::array<trumpet_host, kMost> all{Ops<kPlaces>()...};
    return all;
  }

  size_t place_ = 0;
  std::mutex mutex_;
  std::vector<std::string> log_;
  std::atomic<bool> is_attached_{false};
  std::atomic<int> main_thread_wakes_{0};
  std::atomic<bool> is_tx_wanted_{false};
  std::atomic<bool> is_carrying_{false};
};

// A plug-in whose clocks stand still until Run() moves them, with `thread_count` PMD threads that
// are idle all the time.
class StillSwitch {
 public:
  static constexpr Nanos kBoot = 1'700'000'000 * kNanosPerSecond;  // wall clock at monotonic 0

  // `base` is run by the test; without one there is no session with a controller.
  explicit StillSwitch(int thread_count, event_base* base = nullptr)
      : plugin(fake.ops(), Parts(base)) {
    for (int core = 0; core < thread_count; ++core) AddThread(core);
  }

  ThreadMonitor* AddThread(int core) {
    ThreadMonitor* thread = plugin.agent().AddThread({core, 0, true, this});
    threads.push_back(thread);
    return thread;
  }

  void RemoveThread(ThreadMonitor* thread) {
    threads.erase(std::find(threads.begin(), threads.end(), thread));
    plugin.agent().RemoveThread(thread);
  }

  // Installs events, given by a line each, named "e1", "e2", ...
  void Install(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      const auto answer =
          plugin.RunCommand("trumpet/event-add", {"name=e" + std::to_string(++event_count), line});
      if (!answer.ok()) throw std::runtime_error(answer.message());
    }
  }

  // Lets time pass in steps of 100 us: threads are idle, the agent does its rounds.
  void Run(Nanos duration) {
    for (const Nanos end = monotonic + duration; monotonic < end;) {
      RunOneStep();
    }
  }
  void RunOneStep(Nanos by = 100 * kNanosPerMicro) {
    monotonic += by;
    if (is_stalled) return;
    if (fake.is_attached() && threads_are_idle) {
      for (ThreadMonitor* thread : threads) thread->OnIdle(monotonic / 1000);
    }
    plugin.agent().Step();
  }
  void RunMs(int64_t ms) { Run(ms * kNanosPerMilli); }

  // Up to the next multiple of 10 ms in Unix time.
  void RunToBoundary() {
    const Nanos past = (kBoot + wall_shift + monotonic) % (10 * kNanosPerMilli);
    if (past != 0) Run(10 * kNanosPerMilli - past);
  }

  // `count` frames of one flow to the thread, if the hooks are attached.  Returns how many of them
  // were marked; last_mark is the last mark.
  int Receive(ThreadMonitor* thread, int count, uint32_t dst_ip = 0x0a008001, uint32_t port = 7) {
    const UdpFrame udp(0x0a000001, dst_ip, 1000, 2000);
    const trumpet_frame frame{udp.bytes.data(), 60, 60};
    int marked = 0;
    for (int i = 0; fake.is_attached() && i < count; ++i) {
      marked += thread->OnReceive(&frame, 1, port, monotonic / 1000, &last_mark) ? 1 : 0;
    }
    return marked;
  }
  uint32_t last_mark = 0;

  std::vector<Report> Reports() const { return plugin_reports().Last(ReportLog::kCapacity, ""); }
  std::string Command(const std::string& name, std::vector<std::string> arguments = {}) {
    const auto answer = plugin.RunCommand(name, std::move(arguments));
    return answer.ok() ? *answer : "error: " + answer.message();
  }

  Nanos monotonic = kNanosPerSecond;
  Nanos wall_shift = 0;
  HandClock clock;  // of the steps, unless another is set
  const StepClock* step_clock = &clock;
  bool has_memory = true;
  bool threads_are_idle = true;
  bool threads_poll = false;  // while the clocks below stand still between rounds of a millisecond
  bool is_stalled = false;    // the agent gets no time, and threads are never idle
  std::function<void()> on_clocks;  // called whenever the agent looks at them
  int event_count = 0;
  FakeSwitch fake;
  Plugin plugin;
  std::vector<ThreadMonitor*> threads;

 private:
  AgentParts Parts(event_base* base) {
    AgentParts parts;
    parts.base = base;
    parts.has_own_thread = false;
    parts.hash_seed = 42;
    parts.read_clocks = [this] {
      if (on_clocks) on_clocks();
      return ClockReading{monotonic, kBoot + wall_shift + monotonic};
    };
    parts.make_monitor = [this](const MonitorOptions& options) {
      if (!has_memory) {
        return Result<std::unique_ptr<PacketMonitor>>(Status::Error("no memory today"));
      }
      MonitorOptions with_clock = options;
      with_clock.step_clock = step_clock;
      with_clock.never_sleeps &= threads_poll;
      return PacketMonitor::Create(with_clock);
    };
    return parts;
  }
  const ReportLog& plugin_reports() const { return const_cast<Plugin&>(plugin).reports(); }
};

}  // namespace trumpet::testing

#endif  // TRUMPET_VSWITCHD_PLUGIN_FAKE_SWITCH_TEST_H
