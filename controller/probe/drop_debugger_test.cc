// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Over a sender that has a lossy network of its own instead of switches.

#include "controller/probe/drop_debugger.h"

#include <event2/event.h>
#include <gtest/gtest.h>

#include <deque>

#include "controller/probe/drop_simulation_test.h"
#include "lib/lang/probe/probe_language.h"

namespace trumpet {
namespace {

using Refusal = ProbeStart::Refusal;

class StandingClock final : public WireClock {
 public:
  Nanos MonotonicNow() const override { return 1; }
  Nanos UnixNow() const override { return 1'700'000'000 * kNanosPerSecond; }
};

class DropDebuggerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    parts_.base = base_.get();
    parts_.clock = &clock_;
    parts_.sender.start = [this](const ProbeRequest& request, std::vector<ProbePacket> packets,
                                 const std::string& caller, const std::string& tenant) {
      return Send(request, std::move(packets), caller, tenant);
    };
    parts_.sender.find = [this](uint64_t id) -> const ProbeView* {
      if (is_forgetful_) return nullptr;
      ProbeView& probe = probes_[id - 1];
      if (!holds_back_) probe.state = ProbeState::kDone;
      return &probe;
    };
    parts_.sender.stop = [this](uint64_t id) { probes_[id - 1].state = ProbeState::kDone; };
    parts_.sender.debug_dscp = [] { return uint8_t{32}; };
    parts_.block_of = [this](const FieldValue&) { return block_; };
    parts_.seed = 5;
    parts_.log = [](const char*, const std::string&) {};
    debugger_ = std::make_unique<DropDebugger>(parts_);
  }

  // What analyzers would have told of it in the end.
  ProbeStart Send(const ProbeRequest& request, std::vector<ProbePacket> packets,
                  const std::string& caller, const std::string& tenant) {
    if (!refusal_.empty()) return {0, Refusal::kNotNow, refusal_};
    ProbeView& probe = probes_.emplace_back();
    probe.id = probes_.size();
    probe.caller = caller;
    probe.tenant = tenant;
    probe.request = request;
    probe.notes = {"a note"};
    if (cuts_) packets.resize(packets.size() / 2);
    for (size_t i = 0; i < packets.size(); ++i) {
      sent_.push_back(packets[i]);
      probe.sent.push_back(static_cast<Nanos>(i));
      const DropOutcome outcome = network_.Send(0, packets[i]);
      if (outcome.fate == ProbeFate::kUnknown || i == untraced_) continue;
      ProbeTrace trace;
      trace.packet = i;
      trace.id = "trace" + std::to_string(sent_.size());
      trace.verdict = outcome.fate == ProbeFate::kPassed ? "delivered" : "dropped";
      trace.confidence = 0.99;
      trace.last_switch = outcome.behind;
      trace.expected_next = outcome.towards;
      for (const std::string& name : outcome.path) trace.path.push_back({name, 64, 0});
      probe.traces.push_back(std::move(trace));
    }
    return {probe.id, Refusal::kNone, ""};
  }

  static DropSearchRequest Request() {
    DropSearchRequest request;
    request.switch_name = "leaf1";
    request.port = "3";
    request.packet = *ParseProbePacket(
        "udp srcIP=10.0.1.7 dstIP=10.0.2.7 dstPort=443 dstMAC=02:00:00:00:00:02", "t");
    return request;
  }
  const DropSearchView* Begin(const DropSearchRequest& request) {
    const ProbeStart start = debugger_->Start(request, "alice", "tenant1");
    EXPECT_EQ(start.refusal, Refusal::kNone) << start.why;
    return debugger_->Find(start.id);
  }
  void RunUntilEnded() {
    while (debugger_->running_count() > 0) event_base_loop(base_.get(), EVLOOP_ONCE);
  }
  void RunOnce() { event_base_loop(base_.get(), EVLOOP_ONCE); }

  OwnedLoop base_{event_base_new()};
  StandingClock clock_;
  testing::LossyNetwork network_{1};
  std::deque<ProbeView> probes_;
  std::vector<ProbePacket> sent_;
  std::optional<Prefix> block_;
  std::string refusal_;
  bool holds_back_ = false;
  bool is_forgetful_ = false;
  bool cuts_ = false;
  size_t untraced_ = SIZE_MAX;
  DropDebugger::Parts parts_;
  std::unique_ptr<DropDebugger> debugger_;
};

TEST_F(DropDebuggerTest, GoesOnRoundByRoundAndSaysWhatDecidesWithItsEvidence) {
  network_.vanishes = [](const ProbePacket& packet, uint32_t, uint64_t) {
    return packet.protocol != kProtocolIcmp && packet.dst_port == 443;
  };
  const DropSearchView* const search = Begin(Request());
  EXPECT_EQ(search->state, DropSearchState::kRunning);
  RunUntilEnded();
  EXPECT_EQ(search->state, DropSearchState::kDone);
  EXPECT_EQ(search->findings.verdict, "pattern");
  EXPECT_EQ(search->findings.persistence, "persistent");
  ASSERT_EQ(search->findings.places.size(), 1u);
  EXPECT_EQ(search->findings.places[0].behind, "leaf1");
  EXPECT_EQ(search->findings.places[0].passed_over, (std::vector<std::string>{"spine1"}));
  EXPECT_EQ(search->probes, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(search->sent, sent_.size());
  EXPECT_EQ(search->notes, (std::vector<std::string>{"a note"}));
  EXPECT_EQ(search->kinds[0].tally.lost, 48u);
  EXPECT_EQ(search->kinds[0].lost.size(), DropDebugger::kTracesShown);
  EXPECT_EQ(search->kinds[0].lost[0], "trace1");
  for (const DropKindView& kind : search->kinds) {
    if (kind.field != DropField::kDstPort) continue;
    EXPECT_EQ(kind.tally.lost, 0u) << kind.value;
    EXPECT_EQ(kind.passed.size(), 3u) << kind.value;
  }
  // As it was asked for.
  EXPECT_EQ(probes_[0].request.rate, 50u) << "half of what may be sent";
  EXPECT_EQ(probes_[0].caller, "alice");
  EXPECT_EQ(probes_[0].tenant, "tenant1");
  EXPECT_EQ(debugger_->counters().rounds, 2u);
}

TEST_F(DropDebuggerTest, TriesAddressesOfTheHostWithinBoundsOnly) {
  network_.vanishes = [](const ProbePacket&, uint32_t, uint64_t) { return true; };
  const auto tried = [&](const DropSearchRequest& request) {
    sent_.clear();
    Begin(request);
    RunUntilEnded();
    Uint128 least = ~Uint128{0};
    Uint128 most = 0;
    for (const ProbePacket& packet : sent_) least = std::min(least, packet.dst.value);
    for (const ProbePacket& packet : sent_) most = std::max(most, packet.dst.value);
    return FormatValue({ValueKind::kIpv4, least}) + "-" + FormatValue({ValueKind::kIpv4, most});
  };
  EXPECT_EQ(tried(Request()), "10.0.2.7-10.0.2.7") << "nobody knows what the host has";
  block_ = *ParsePrefix("10.0.0.0/16");
  DropSearchRequest request = Request();
  EXPECT_EQ(tried(request), "10.0.0.7-10.0.130.7");
  request.bounds = {*ParsePrefix("10.9.0.0/16"), *ParsePrefix("10.0.2.0/24")};
  EXPECT_EQ(tried(request), "10.0.2.3-10.0.2.135");
  request.dst_within = *ParsePrefix("10.0.2.0/29");
  EXPECT_EQ(tried(request), "10.0.2.3-10.0.2.7");
  request.dst_within = *ParsePrefix("10.0.3.0/24");
  const ProbeStart refused = debugger_->Start(request, "alice", "");
  EXPECT_EQ(refused.refusal, Refusal::kWrong);
  EXPECT_EQ(refused.why, "10.0.2.7 is not in 10.0.3.0/24");
}

TEST_F(DropDebuggerTest, IsStoppedWithWhatItKnowsAndSendsNoMore) {
  holds_back_ = true;
  const DropSearchView* const search = Begin(Request());
  RunOnce();
  EXPECT_EQ(search->state, DropSearchState::kRunning);
  EXPECT_TRUE(debugger_->Stop(search->id));
  EXPECT_EQ(search->state, DropSearchState::kStopped);
  EXPECT_EQ(search->findings.verdict, "nothing");
  EXPECT_EQ(probes_.back().state, ProbeState::kDone);
  EXPECT_FALSE(debugger_->Stop(search->id));
  EXPECT_FALSE(debugger_->Stop(search->id + 1));
  RunOnce();
  EXPECT_EQ(probes_.size(), 1u);
}

TEST_F(DropDebuggerTest, WhatHappensToItsProbesIsSaid) {
  refusal_ = "switch 'leaf1' is not connected";
  const ProbeStart refused = debugger_->Start(Request(), "alice", "");
  EXPECT_EQ(refused.refusal, Refusal::kNotNow);
  EXPECT_EQ(refused.why, refusal_);
  EXPECT_TRUE(debugger_->List().empty());

  refusal_.clear();
  network_.vanishes = [](const ProbePacket&, uint32_t, uint64_t) { return true; };
  const DropSearchView* search = Begin(Request());
  refusal_ = "gone";
  RunUntilEnded();
  EXPECT_EQ(search->notes.back(), "it could not go on: gone");
  EXPECT_EQ(search->findings.verdict, "everything");

  refusal_.clear();
  cuts_ = true;  // the switch goes away in the middle
  search = Begin(Request());
  RunUntilEnded();
  EXPECT_EQ(search->sent, 20u);
  EXPECT_EQ(search->probes.size(), 1u);

  cuts_ = false;
  untraced_ = 7;
  network_.vanishes = [](const ProbePacket&, uint32_t, uint64_t) { return false; };
  search = Begin(Request());
  RunUntilEnded();
  EXPECT_EQ(search->kinds[0].tally.sent, 40u);
  EXPECT_EQ(search->findings.known, 39u);

  is_forgetful_ = true;
  search = Begin(Request());
  RunUntilEnded();
  EXPECT_EQ(search->notes.back(), "the last round is forgotten");
  EXPECT_EQ(search->findings.verdict, "not_known");
}

TEST_F(DropDebuggerTest, SoManyAtOnceAndTheLastOnesAreRemembered) {
  holds_back_ = true;
  for (size_t i = 0; i < DropDebugger::kMaxRunning; ++i) Begin(Request());
  const ProbeStart refused = debugger_->Start(Request(), "alice", "");
  EXPECT_EQ(refused.refusal, Refusal::kTooMany);
  holds_back_ = false;
  const uint64_t first = debugger_->List().back()->id;
  RunUntilEnded();
  uint64_t last = 0;
  for (size_t i = 0; i < DropDebugger::kKept; ++i) {
    last = Begin(Request())->id;
    debugger_->Stop(last);
  }
  EXPECT_EQ(debugger_->List().size(), DropDebugger::kKept);
  EXPECT_EQ(debugger_->List().front()->id, last);
  EXPECT_EQ(debugger_->Find(first), nullptr);
}

}  // namespace
}  // namespace trumpet
