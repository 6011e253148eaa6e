// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MeasurementNetwork: two hosts with real agents, and the controller's measurements over them; the
// program is named "hh".

#ifndef TRUMPET_TESTS_NETWORK_MEASUREMENT_NETWORK_TEST_H
#define TRUMPET_TESTS_NETWORK_MEASUREMENT_NETWORK_TEST_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/measure/measurement_manager.h"
#include "tests/network/agent_network_test.h"

namespace trumpet::testing {

class MeasurementNetwork : public ::testing::Test {
 protected:
  MeasurementNetwork() : kept_(network_.loop().base(), 77) { Start(); }
  ~MeasurementNetwork() override { manager_.reset(); }

  void Start() {
    MeasurementParts parts;
    parts.base = network_.loop().base();
    parts.clock = &clock_;
    parts.store = &kept_;
    parts.hosts = &network_.manager();
    parts.draw_seed = [] { return uint64_t{1234}; };
    parts.log = [](const char*, const std::string&) {};
    manager_ = std::make_unique<MeasurementManager>(parts);
    manager_->Start();
  }
  // A host takes programs once it has said which ones it has.
  ::testing::AssertionResult Connect() {
    if (const auto connected = network_.ConnectAll(); !connected) return connected;
    network_.RunMs(10);
    return ::testing::AssertionSuccess();
  }
  std::string Put(const std::string& text, const MeasurementPlaces& places = {}) {
    std::string answer = "none";
    manager_->Put({"hh", text, {}, {}, 0, places}, Caller(), [&](const auto& outcome) {
      answer = outcome.status.ok() ? "ok" : outcome.status.message();
    });
    EXPECT_TRUE(network_.RunUntil([&] { return answer != "none"; }));
    return answer;
  }
  void Remove() {
    bool is_removed = false;
    manager_->Remove("hh", [&](const auto& outcome) { is_removed = outcome.status.ok(); });
    EXPECT_TRUE(network_.RunUntil([&] { return is_removed; }));
  }
  std::vector<uint64_t> Read(const std::string& variable, std::vector<uint64_t> key = {}) {
    const MeasureProgram program = manager_->Find("hh")->program;
    MeasureIndex index = 0;
    while (program.variables[index].name != variable) ++index;
    const MeasureVariable& found = program.variables[index];
    const auto count = static_cast<uint32_t>(found.CellCount());
    std::optional<CellReading> reading;
    const auto status =
        manager_->Read("hh", "", {{index, found.merge, key.empty() ? count : 0, std::move(key)}},
                       [&](const CellReading& read) { reading = read; });
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(network_.RunUntil([&] { return reading.has_value(); }));
    if (!reading || reading->cells.empty()) return {};
    for (const SilentHost& host : reading->silent) ADD_FAILURE() << host.host << ": " << host.why;
    asked_hosts_ = reading->hosts;
    return reading->cells[0];
  }
  std::vector<MeasurementOnHost> States() {
    std::vector<MeasurementOnHost> states;
    const auto view = manager_->Find("hh");
    if (!view) return states;
    for (const MeasurementHost& host : view->hosts) states.push_back(host.state);
    return states;
  }
  bool Runs(size_t host) {
    return network_.host(host).Command("trumpet/program-list").find("controller") !=
           std::string::npos;
  }

  AgentNetwork network_{2};
  FakeWireClock clock_;
  MemoryEventStore kept_;
  std::unique_ptr<MeasurementManager> manager_;
  std::vector<std::string> asked_hosts_;
};

}  // namespace trumpet::testing

#endif  // TRUMPET_TESTS_NETWORK_MEASUREMENT_NETWORK_TEST_H
