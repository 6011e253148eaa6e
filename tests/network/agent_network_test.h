// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// AgentNetwork: hosts with a real agent each, and the real event manager, in one process and one
// thread, over TCP on loopback.  Clocks stand still until Run() moves them, so that what is decided
// does not depend on how fast the machine is.
//
//   AgentNetwork network(3);
//   network.Install("- {name: e, event: '*, sum(packets) > 9, 10ms'}");
//   network.host(0).Receive(network.host(0).threads[0], 5);
//   network.RunMs(30);
//   network.reports()

#ifndef TRUMPET_TESTS_NETWORK_AGENT_NETWORK_TEST_H
#define TRUMPET_TESTS_NETWORK_AGENT_NETWORK_TEST_H

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "controller/store/memory_event_store.h"
#include "controller/tem/event_manager.h"
#include "lib/wire/session_kit_test.h"
#include "vswitchd-plugin/fake_switch_test.h"

namespace trumpet::testing {

struct AgentNetworkOptions {
  int threads_per_host = 1;
  ConfigPairs config;  // of every host, besides what is needed to run
  EventManagerOptions manager;
};

class AgentNetwork : private ReportSubscriber {
 public:
  explicit AgentNetwork(size_t host_count,
                        const AgentNetworkOptions& options = AgentNetworkOptions())
      : options_(options), store_(loop_.base(), 77), hub_(nullptr) {
    options_.manager.name = "tem";
    options_.manager.listener.tick = 0;
    options_.manager.listener.max_accepts_per_tick = 100000;
    hub_.Add(this);
    clock_.unix_base = StillSwitch::kBoot;
    StartManager();
    for (size_t i = 0; i < host_count; ++i) AddHost();
  }
  ~AgentNetwork() override {
    hosts_.clear();
    hub_.Remove(this);
  }

  EventManager& manager() { return *manager_; }
  Loop& loop() { return loop_; }
  StillSwitch& host(size_t i) { return *hosts_[i]; }
  size_t host_count() const { return hosts_.size(); }
  Nanos now() const { return clock_.UnixNow(); }
  // "h1", "h2", ...
  static std::string HostId(size_t i) { return "h" + std::to_string(i + 1); }
  // As subscribers are told, clears among them.
  const ReportRows& reports() const { return reports_; }
  ReportRows TakeReports() { return std::exchange(reports_, {}); }

  // A host that comes; its clocks go with the others'.
  StillSwitch& AddHost() {
    hosts_.emplace_back();
    return StartHost(hosts_.size() - 1);
  }
  // The process of host i dies; another one comes in its place, with nothing.
  void StopHost(size_t i) {
    hosts_[i].reset();
    Pump();
  }
  StillSwitch& StartHost(size_t i) {
    hosts_[i] = std::make_unique<StillSwitch>(options_.threads_per_host, loop_.base());
    hosts_[i]->monotonic = clock_.monotonic;
    Configure(hosts_[i].get(), i);
    return *hosts_[i];
  }
  bool has_host(size_t i) const { return hosts_[i] != nullptr; }
  // The session of host i ends and another one begins, while the monitor goes on.
  void RenewSession(size_t i) {
    ++sessions_renewed_;
    Configure(hosts_[i].get(), i);
  }
  // The controller dies, with what it has not stored, and another comes at the same port.
  void StopManager() { manager_.reset(); }
  void StartManager() {
    EventManagerParts parts;
    parts.base = loop_.base();
    parts.store = &store_;
    parts.reports = &hub_;
    parts.clock = &clock_;
    manager_ = std::make_unique<EventManager>(parts, options_.manager);
    const auto port = manager_->Listen({false, "127.0.0.1", port_}, nullptr);
    if (!port.ok()) throw std::runtime_error(port.message());
    port_ = *port;
    manager_->Start();
    Pump();
  }

  // Runs until all hosts that are there have sessions.
  ::testing::AssertionResult ConnectAll() {
    const auto missing = std::count(hosts_.begin(), hosts_.end(), nullptr);
    const size_t there = hosts_.size() - static_cast<size_t>(missing);
    return RunUntil([=] { return manager_->connected_hosts() == there; });
  }
  // Adds events, in YAML, and runs until all hosts that should count do.
  ::testing::AssertionResult Install(const std::string& yaml) {
    std::optional<Result<std::vector<EventRecord>>> answer;
    manager_->Put(
        yaml, DocumentFormat::kYaml, "test.yaml", EventManager::IfThere::kReplace, Caller(),
        [&answer](Result<std::vector<EventRecord>> records) { answer = std::move(records); });
    if (!RunUntil([&] { return answer.has_value(); })) {
      return ::testing::AssertionFailure() << "no answer to Put()";
    }
    if (!answer->ok()) return ::testing::AssertionFailure() << answer->message();
    return Settle();
  }
  ::testing::AssertionResult Remove(const std::string& name) {
    bool is_done = false;
    manager_->Remove({name}, Caller(),
                     [&is_done](const Result<std::vector<EventRecord>>&) { is_done = true; });
    if (!RunUntil([&] { return is_done; })) return ::testing::AssertionFailure();
    return Settle();
  }
  // Runs until every event counts on every host it is placed on.
  ::testing::AssertionResult Settle() {
    return RunUntil([this] {
      for (const EventView& event : manager_->Events(Caller())) {
        if (event.wanted == 0 || event.applied < event.wanted) return false;
      }
      return manager_->is_settled();
    });
  }

  // Lets time pass in steps of 100 us for all.
  void Run(Nanos duration) {
    for (const Nanos end = clock_.monotonic + duration; clock_.monotonic < end;) Step();
  }
  void RunMs(int64_t ms) { Run(ms * kNanosPerMilli); }
  // Up to that instant of Unix time, exactly.
  void RunTo(Nanos until, Nanos step = kStep) {
    while (now() < until) Step(std::min(step, until - now()));
  }
  void RunToBoundary(Nanos length = 10 * kNanosPerMilli) {
    const Nanos past = clock_.UnixNow() % length;
    if (past != 0) Run(length - past);
  }
  // At most a simulated minute.
  ::testing::AssertionResult RunUntil(const std::function<bool()>& done) {
    for (int i = 0; i < 600000 && !done(); ++i) Step();
    if (done()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "a minute has passed" << Problems();
  }

  // What the hosts' links say is wrong.
  std::string Problems() {
    std::string text;
    for (size_t i = 0; i < hosts_.size(); ++i) {
      if (!has_host(i)) continue;
      const LinkStatus link = hosts_[i]->plugin.agent().Snapshot().link;
      text += "; " + HostId(i) + (link.is_connected ? " connected " : " not connected ") +
              link.last_error + " " + hosts_[i]->fake.TakeLogText();
    }
    return text;
  }

  // What is on its way arrives, and what that makes, too.
  void Pump(int rounds = 6) { loop_.RunReady(rounds); }

 private:
  void Configure(StillSwitch* host, size_t i) {
    ConfigPairs config = options_.config;
    config.emplace_back("trumpet-enable", "true");
    config.emplace_back("trumpet-memory-mb", "4");
    config.emplace_back("trumpet-controller", "tcp:127.0.0.1:" + std::to_string(port_));
    config.emplace_back("trumpet-host-id", HostId(i));
    // Not used without TLS, but another key is another session.
    config.emplace_back("trumpet-private-key", "/key-" + std::to_string(sessions_renewed_));
    host->plugin.SetConfig(config);
  }

  static constexpr Nanos kStep = 100 * kNanosPerMicro;

  void Step(Nanos by = kStep) {
    clock_.Advance(by);
    for (auto& host : hosts_) {
      if (host != nullptr) host->RunOneStep(by);
    }
    Pump();
    if (manager_ != nullptr && clock_.monotonic >= next_tick_) {
      next_tick_ = clock_.monotonic + kNanosPerMilli;
      manager_->Tick();
    }
  }

  void OnReports(const ReportRows& rows) override {
    reports_.insert(reports_.end(), rows.begin(), rows.end());
  }

  AgentNetworkOptions options_;
  Loop loop_;
  FakeWireClock clock_;
  MemoryEventStore store_;
  ReportHub hub_;
  uint16_t port_ = 0;
  Nanos next_tick_ = 0;
  std::unique_ptr<EventManager> manager_;
  std::vector<std::unique_ptr<StillSwitch>> hosts_;
  ReportRows reports_;
  int sessions_renewed_ = 0;
};

}  // namespace trumpet::testing

#endif  // TRUMPET_TESTS_NETWORK_AGENT_NETWORK_TEST_H
