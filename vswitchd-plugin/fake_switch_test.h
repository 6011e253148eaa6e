// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the plug-in's tests share: a switch without Open vSwitch, whose log can be read and whose
// clocks are set by hand, and packet threads that bring frames when told.

#ifndef TRUMPET_VSWITCHD_PLUGIN_FAKE_SWITCH_TEST_H
#define TRUMPET_VSWITCHD_PLUGIN_FAKE_SWITCH_TEST_H

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/tpm/monitor_harness_test.h"
#include "lib/tpm/step_test_kit.h"
#include "vswitchd-plugin/plugin.h"

namespace trumpet::testing {

// Only one at a time: the functions that the switch offers have no argument to tell them apart.
class FakeSwitch {
 public:
  FakeSwitch() { current() = this; }
  ~FakeSwitch() { current() = nullptr; }
  FakeSwitch(const FakeSwitch&) = delete;
  FakeSwitch& operator=(const FakeSwitch&) = delete;

  const trumpet_host* ops() const { return &kOps; }
  bool is_attached() const { return is_attached_.load(); }

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
  static FakeSwitch*& current() {
    static FakeSwitch* the_one = nullptr;
    return the_one;
  }
  static void Log(trumpet_log_level level, const char* text) {
    constexpr const char* kNames[] = {"error: ", "warning: ", "info: ", "debug: "};
    const std::lock_guard<std::mutex> lock(current()->mutex_);
    current()->log_.push_back(std::string(kNames[level]) + text);
  }
  static void SetAttached(bool attached) { current()->is_attached_.store(attached); }
  static void SetTxWanted(bool) {}
  static void RegisterCommand(const char* name, const char* usage, int min_args, int max_args) {
    current()->commands.push_back({name, usage, min_args, max_args});
  }
  static void ReadLoad(const void*, trumpet_thread_load* load) { *load = {1000000, 3000000, 100}; }

  static constexpr trumpet_host kOps = {Log,      SetAttached, SetTxWanted, RegisterCommand,
                                        ReadLoad, "3.1.0-fake"};
  std::mutex mutex_;
  std::vector<std::string> log_;
  std::atomic<bool> is_attached_{false};
};

// A plug-in whose clocks stand still until Run() moves them, with `thread_count` PMD threads that
// are idle all the time.
class StillSwitch {
 public:
  static constexpr Nanos kBoot = 1'700'000'000 * kNanosPerSecond;  // wall clock at monotonic 0

  explicit StillSwitch(int thread_count) : plugin(fake.ops(), Parts()) {
    for (int core = 0; core < thread_count; ++core) AddThread(core);
  }

  ThreadMonitor* AddThread(int core) {
    ThreadMonitor* thread = plugin.agent().AddThread({core, 0, true, this});
    threads.push_back(thread);
    return thread;
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
      monotonic += 100 * kNanosPerMicro;
      if (fake.is_attached() && threads_are_idle) {
        for (ThreadMonitor* thread : threads) thread->OnIdle(monotonic / 1000);
      }
      plugin.agent().Step();
    }
  }
  void RunMs(int64_t ms) { Run(ms * kNanosPerMilli); }

  // Up to the next multiple of 10 ms in Unix time.
  void RunToBoundary() {
    const Nanos past = (kBoot + wall_shift + monotonic) % (10 * kNanosPerMilli);
    if (past != 0) Run(10 * kNanosPerMilli - past);
  }

  // `count` frames of one flow to the thread, if the hooks are attached.
  void Receive(ThreadMonitor* thread, int count, uint32_t dst_ip = 0x0a008001) {
    const UdpFrame udp(0x0a000001, dst_ip, 1000, 2000);
    const trumpet_frame frame{udp.bytes.data(), 60, 60};
    for (int i = 0; fake.is_attached() && i < count; ++i) {
      thread->OnReceive(&frame, 1, 7, monotonic / 1000);
    }
  }

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
  int event_count = 0;
  FakeSwitch fake;
  Plugin plugin;
  std::vector<ThreadMonitor*> threads;

 private:
  AgentParts Parts() {
    AgentParts parts;
    parts.has_own_thread = false;
    parts.hash_seed = 42;
    parts.read_clocks = [this] { return ClockReading{monotonic, kBoot + wall_shift + monotonic}; };
    parts.make_monitor = [this](const MonitorOptions& options) {
      if (!has_memory) {
        return Result<std::unique_ptr<PacketMonitor>>(Status::Error("no memory today"));
      }
      MonitorOptions with_clock = options;
      with_clock.step_clock = step_clock;
      return PacketMonitor::Create(with_clock);
    };
    return parts;
  }
  const ReportLog& plugin_reports() const { return const_cast<Plugin&>(plugin).reports(); }
};

}  // namespace trumpet::testing

#endif  // TRUMPET_VSWITCHD_PLUGIN_FAKE_SWITCH_TEST_H
