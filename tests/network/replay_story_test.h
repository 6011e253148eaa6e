// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Story: what befalls a network of agents while network_replay runs it: events come, change and go,
// hosts are late, die, are switched off, get no time, lose their session; the controller begins
// anew.
//
// A line of the file for each act, in order of time:
//
//   NS put FILE              of the directory; events of the same names are replaced
//   NS remove|enable|disable EVENT
//   NS kill|start HOST       its process; `start` makes another one
//   NS off|on HOST           trumpet/disable, trumpet/enable
//   NS stall|resume HOST     its agent gets no time, its threads are never idle
//   NS renew HOST            its session ends and another one begins
//   NS restart               the controller's process
//
// Before each act, and at the end, Note() prints an object for each event that runs: since when, in
// which mode, and from which instant on each host counts it; NoteSessions() one for each session.

#ifndef TRUMPET_TESTS_NETWORK_REPLAY_STORY_TEST_H
#define TRUMPET_TESTS_NETWORK_REPLAY_STORY_TEST_H

#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/network/agent_network_test.h"

namespace trumpet::testing {

struct StoryAct {
  Nanos at = 0;
  std::string what;
  std::string whom;

  size_t host() const { return std::stoul(whom); }
};

class Story {
 public:
  // `start_host` makes one with its ports; `start_controller` gives a new one its topology.
  using StartHost = std::function<void(size_t)>;
  using StartController = std::function<void()>;

  Story(AgentNetwork* network, std::string directory, StartHost start_host,
        StartController start_controller)
      : network_(network),
        directory_(std::move(directory)),
        start_host_(std::move(start_host)),
        start_controller_(std::move(start_controller)) {
    std::istringstream lines(Read("story.txt"));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      StoryAct act;
      words >> act.at >> act.what >> act.whom;
      acts_.push_back(std::move(act));
    }
  }

  bool is_empty() const { return acts_.empty(); }

  // Up to that instant, with all that happens until then.
  void RunTo(Nanos until) {
    for (; next_ < acts_.size() && acts_[next_].at <= until; ++next_) {
      network_->RunTo(acts_[next_].at);
      Note();
      NoteSessions();
      Do(acts_[next_]);
      network_->Pump();
    }
    network_->RunTo(until);
  }

  void Note() {
    EventManager& manager = network_->manager();
    for (const EventView& event : manager.Events(Caller())) {
      if (event.mode.empty()) continue;
      std::cout << "{\"life\":\"" << event.spec.severity << "\",\"name\":\"" << event.spec.name
                << "\",\"begin\":" << event.changed_ns << ",\"at\":" << network_->now()
                << ",\"mode\":\"" << event.mode << "\",\"polls\":" << event.counters.polls
                << ",\"spared\":" << event.counters.polls_spared << ",\"hosts\":{";
      const char* comma = "";
      for (const EventOnHost& host : manager.HostsOf(event.record.name)) {
        const bool is_applied = host.state == HostApplication::kApplied;
        std::cout << comma << "\"" << host.host << "\":" << (is_applied ? host.applied_ns : 0);
        comma = ",";
      }
      std::cout << "}}\n";
    }
  }
  void NoteSessions() {
    for (const HostView& host : network_->manager().Hosts()) {
      if (!host.is_connected) continue;
      std::cout << "{\"session\":\"" << host.id << "\",\"since\":" << host.connected_since_ns
                << "}\n";
    }
  }

 private:
  std::string Read(const std::string& name) const {
    std::ifstream file(directory_ + "/" + name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  void Do(const StoryAct& act) {
    EventManager& manager = network_->manager();
    const auto done = [](const Result<std::vector<EventRecord>>& records) {
      if (!records.ok()) throw std::runtime_error(records.message());
    };
    if (act.what == "put") {
      manager.Put(Read(act.whom), DocumentFormat::kYaml, act.whom, EventManager::IfThere::kReplace,
                  Caller(), done);
    } else if (act.what == "remove") {
      manager.Remove({act.whom}, Caller(), done);
    } else if (act.what == "enable" || act.what == "disable") {
      manager.SetEnabled(act.whom, act.what == "enable", Caller(), done);
    } else if (act.what == "kill") {
      network_->StopHost(act.host());
    } else if (act.what == "start") {
      start_host_(act.host());
    } else if (act.what == "off" || act.what == "on") {
      network_->host(act.host()).Command(act.what == "on" ? "trumpet/enable" : "trumpet/disable");
    } else if (act.what == "stall" || act.what == "resume") {
      network_->host(act.host()).is_stalled = act.what == "stall";
    } else if (act.what == "renew") {
      network_->RenewSession(act.host());
    } else if (act.what == "restart") {
      network_->StopManager();
      network_->StartManager();
      start_controller_();
    } else {
      throw std::runtime_error("no such act: " + act.what);
    }
  }

  AgentNetwork* const network_;
  const std::string directory_;
  const StartHost start_host_;
  const StartController start_controller_;
  std::vector<StoryAct> acts_;
  size_t next_ = 0;
};

}  // namespace trumpet::testing

#endif  // TRUMPET_TESTS_NETWORK_REPLAY_STORY_TEST_H
