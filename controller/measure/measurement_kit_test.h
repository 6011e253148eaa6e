// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// A manager of measurements, with agents that do as the test says.

#ifndef TRUMPET_CONTROLLER_MEASURE_MEASUREMENT_KIT_TEST_H
#define TRUMPET_CONTROLLER_MEASURE_MEASUREMENT_KIT_TEST_H

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/measure/measurement_manager.h"
#include "controller/tem/event_manager_kit_test.h"

namespace trumpet {

inline constexpr char kText[] =
    "flow = Key(ipv4.src);\n"
    "total = Counter(width=32);\n"
    "size = Sketch(alg=\"count-min\", key=flow, nhash=2, size=16384, width=32);\n"
    "pkts >> total.set(total + 1) >> size.set(size + pkt.size);\n";

class MeasurementManagerTest : public EventManagerHostsTest {
 protected:
  MeasurementManagerTest() : kept_(loop_.base(), 77) { Open(); }
  ~MeasurementManagerTest() override { measurements_.reset(); }

  void Open() {
    measurements_.reset();
    MeasurementParts parts;
    parts.base = loop_.base();
    parts.clock = &clock_;
    parts.store = &kept_;
    parts.hosts = manager_.get();
    parts.draw_seed = [] { return uint64_t{1234}; };
    parts.log = [](const char*, const std::string&) {};
    measurements_ = std::make_unique<MeasurementManager>(parts);
    measurements_->Start();
    ASSERT_TRUE(RunUntil([&] { return measurements_->is_store_ready(); }));
  }
  // An agent that takes programs and runs `programs` already.
  void Join(size_t index, std::vector<ProgramName> programs = {}) {
    Connect(index);
    Agent(index).Send(ProgramList{std::move(programs)});
    loop_.RunReady(5);
  }
  void Put(const std::string& text = kText, std::vector<std::string> hosts = {}) {
    outcome_.reset();
    measurements_->Put({"hh", text, {}, std::move(hosts), 0}, Caller(), Note());
    EXPECT_FALSE(outcome_) << "an answer from within the call";
  }
  MeasurementManager::Done Note() {
    return [this](const MeasurementManager::Outcome& outcome) { outcome_ = outcome; };
  }
  std::string Outcome() {
    EXPECT_TRUE(RunUntil([&] { return outcome_.has_value(); }));
    if (!outcome_) return "none";
    return outcome_->status.ok() ? "ok" : outcome_->status.message();
  }
  ProgramOn TakeOn(size_t agent) {
    ProgramOn on = Next<ProgramOn>(agent);
    Agent(agent).Send(ProgramAck{on.program, true, ""});
    return on;
  }
  void Install() {
    Put();
    TakeOn(0);
    TakeOn(1);
    ASSERT_EQ(Outcome(), "ok");
  }
  MeasurementOnHost StateOn(size_t index) {
    const auto view = measurements_->Find("hh");
    if (!view || view->hosts.size() <= index) return MeasurementOnHost::kAway;
    return view->hosts[index].state;
  }

  MemoryEventStore kept_;
  std::unique_ptr<MeasurementManager> measurements_;
  std::optional<MeasurementManager::Outcome> outcome_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_MEASURE_MEASUREMENT_KIT_TEST_H
