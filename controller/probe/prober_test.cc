// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// With an ovs-vswitchd whose bridge writes what leaves it into files, and a clock that stands.

#include "controller/probe/prober.h"

#include <gtest/gtest.h>

#include <optional>

#include "controller/openflow/switch_kit_test.h"
#include "lib/base/random_runs_test.h"

namespace trumpet {
namespace {

constexpr char kProtocols[] = "OpenFlow13,OpenFlow14,OpenFlow15";
constexpr char kPacket[] = "udp srcIP=10.0.0.1 dstIP=10.0.0.2 dstMAC=02:00:00:00:00:02 dscp=1";
constexpr size_t kPayloadAt = 14 + 20 + 8;

class StandingClock final : public WireClock {
 public:
  Nanos MonotonicNow() const override { return now; }
  Nanos UnixNow() const override { return 1'700'000'000 * kNanosPerSecond + now; }

  Nanos now = 1000 * kNanosPerSecond;
};

class GivenRules final : public TraceRuleBook {
 public:
  void Put(TraceRules, const std::string&, Done) override {}
  void Remove(Done) override {}
  std::optional<TraceRuleSetView> View() const override { return view; }
  bool is_store_ready() const override { return true; }

  // One rule, as it is at one switch.
  void Give(int debug_bit, bool is_marked, TraceRuleState state) {
    view.emplace();
    view->rules.debug_bit = debug_bit;
    view->rules.rules.resize(1);
    view->rules.rules[0].name = "marked";
    view->rules.rules[0].is_marked = is_marked;
    view->at = {{{"br0", {state, ""}}}};
  }

  std::optional<TraceRuleSetView> view;
};

TraceFindings::Found TraceOf(const std::string& frame, const char* verdict, uint64_t id) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char byte : frame) {
    hex += kDigits[static_cast<uint8_t>(byte) >> 4];
    hex += kDigits[static_cast<uint8_t>(byte) & 15];
  }
  TraceFindings::Found found;
  found.analyzer = "an1";
  found.record = {1, id,
                  std::string(R"({"id":"1","verdict":")") + verdict +
                      R"(","confidence":1.0,"last_switch":"br0","path":[{"switch":"br0"}],)" +
                      R"("frame":{"link":"ethernet","hex":")" + hex + R"("}})"};
  return found;
}

class ProberTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ovs_.AddBridge("br0", 1, kProtocols);
    ovs_.Vsctl({"set-controller", "br0", net_.remote()});
    which_ = net_.Wait(1);
    ASSERT_NE(which_, nullptr);
    ovs_.Ofctl({"add-flow", "br0", "in_port=1,actions=output:2"});
    rules_.Give(5, true, TraceRuleState::kActive);
    Open(Prober::kDefaultRate);
  }
  void Open(uint32_t rate) {
    Prober::Parts parts;
    parts.base = net_.base();
    parts.clock = &clock_;
    parts.net = &net_.net();
    parts.traces.is_alone = [this] { return is_alone_; };
    parts.traces.ask = [this](TraceQuestion question, TraceAsker::Answer answer) {
      questions_.push_back(std::move(question));
      answers_.push_back(std::move(answer));
      return uint64_t{questions_.size()};
    };
    parts.rules = &rules_;
    parts.links = [this] { return links_; };
    parts.name_of = [](const std::string& name) { return name == "second" ? "br1" : name; };
    parts.rate = rate;
    parts.seed = 7;
    parts.log = [](const char*, const std::string&) {};
    prober_ = std::make_unique<Prober>(parts);
  }
  ProbeRequest Request(uint32_t count = 3, uint32_t rate = 100) const {
    ProbeRequest request;
    request.switch_name = which_->name();
    request.port = "1";
    request.packet = *ParseProbePacket(kPacket, "t");
    request.count = count;
    request.rate = rate;
    return request;
  }
  const ProbeView* Begin(const ProbeRequest& request) {
    const ProbeStart start = prober_->Start(request, "alice", "");
    EXPECT_EQ(start.refusal, ProbeStart::Refusal::kNone) << start.why;
    return prober_->Find(start.id);
  }
  std::string Refusal(const ProbeRequest& request) {
    const ProbeStart start = prober_->Start(request, "alice", "");
    return std::to_string(static_cast<int>(start.refusal)) + " " + start.why;
  }
  // Time goes by until it is so.
  bool RunUntil(const std::function<bool()>& done) {
    return net_.RunUntil([&] {
      clock_.now += 20 * kNanosPerMilli;
      return done();
    });
  }
  // The question that is open is answered with these.
  void Answer(std::vector<TraceFindings::Found> found, bool has_more = false) {
    TraceFindings findings;
    findings.found = std::move(found);
    findings.has_more = has_more;
    const TraceAsker::Answer answer = answers_.back();
    answer(findings);
  }
  std::vector<std::string> Arrived() const { return ovs_.FramesOf("br0p2"); }

  TestSwitch ovs_;
  TestNet net_{[] {
    OpenflowOptions options;
    options.names = {{1, "br0"}, {2, "br1"}};
    return options;
  }()};
  StandingClock clock_;
  GivenRules rules_;
  OpenflowSwitch* which_ = nullptr;
  std::vector<BounceLink> links_;
  bool is_alone_ = false;
  std::vector<TraceQuestion> questions_;
  std::vector<TraceAsker::Answer> answers_;
  std::unique_ptr<Prober> prober_;
};

TEST_F(ProberTest, PacketsGoThroughTheTablesAsIfTheyCameInAtThePort) {
  const ProbeView* const probe = Begin(Request());
  EXPECT_TRUE(probe->notes.empty()) << probe->notes[0];
  ASSERT_TRUE(RunUntil([&] { return Arrived().size() == 3; }));
  const std::vector<std::string> frames = Arrived();
  for (uint32_t i = 0; i < 3; ++i) {
    const auto mark = ReadProbeMark(reinterpret_cast<const uint8_t*>(frames[i].data()) + kPayloadAt,
                                    frames[i].size() - kPayloadAt);
    ASSERT_TRUE(mark.has_value());
    EXPECT_EQ(mark->probe, probe->id);
    EXPECT_EQ(mark->packet, i);
    EXPECT_EQ(static_cast<uint8_t>(frames[i][15]), (32 | 1) << 2) << "with the debug bit";
  }
  // From the other port no flow takes them, as no flow takes what comes in there.
  ProbeRequest other = Request();
  other.port = "br0p2";
  const ProbeView* const lost = Begin(other);
  ASSERT_TRUE(RunUntil([&] { return lost->sent.size() == 3 && lost->in_port == 2; }));
  Begin(Request(1));
  ASSERT_TRUE(RunUntil([&] { return Arrived().size() >= 4; }));
  EXPECT_EQ(Arrived().size(), 4u);
}

TEST_F(ProberTest, AProbeEndsWhenThereIsATraceOfEachPacket) {
  const ProbeView* const probe = Begin(Request(2));
  ASSERT_TRUE(RunUntil([&] { return questions_.size() == 1 && Arrived().size() == 2; }));
  const std::vector<std::string> frames = Arrived();
  std::string words;
  for (const TraceWord& word : questions_[0].words) words += word.name + "=" + word.value + " ";
  EXPECT_EQ(words.substr(words.find("mark")),
            "mark=probe mark=debug src=10.0.0.1/32 dst=10.0.0.2/32 ");
  EXPECT_EQ(questions_[0].packets, TracePackets::kWhole);
  Answer({TraceOf("not one of them at all, but long enough for that", "loop", 1),
          TraceOf(frames[1], "delivered", 2)});
  EXPECT_EQ(probe->state, ProbeState::kWaiting);
  ASSERT_TRUE(RunUntil([&] { return questions_.size() == 2; }));
  // A page that is followed by another one.
  Answer({TraceOf(frames[1], "delivered", 2)}, true);
  ASSERT_EQ(questions_.size(), 3u);
  EXPECT_EQ(questions_[2].words.back().name, "after");
  EXPECT_EQ(questions_[2].words.back().value, "1-0000000000000002");
  Answer({TraceOf(frames[0], "delivered", 3)});
  ASSERT_TRUE(RunUntil([&] { return probe->state == ProbeState::kDone; }));
  EXPECT_EQ(probe->conclusion.verdict, "delivered");
  ASSERT_EQ(probe->traces.size(), 2u);
  EXPECT_EQ(probe->traces[0].packet, 0u);
  EXPECT_EQ(prober_->running_count(), 0u);
  EXPECT_EQ(prober_->counters().traced, 2u);
}

TEST_F(ProberTest, AProbeEndsThoughAnAnalyzerAlwaysHasMore) {
  const ProbeView* const probe = Begin(Request(2));
  ASSERT_TRUE(RunUntil([&] { return questions_.size() == 1; }));
  const std::string other = "not one of them at all, but long enough for that";
  Answer({TraceOf(other, "loop", 1)}, true);
  ASSERT_EQ(questions_.size(), 2u);
  Answer({TraceOf(other, "loop", 1)}, true);
  EXPECT_EQ(questions_.size(), 2u) << "that page was there before";
  size_t answered = questions_.size();
  ASSERT_TRUE(RunUntil([&] {
    if (questions_.size() > answered) Answer({TraceOf(other, "loop", answered++)}, true);
    return probe->state == ProbeState::kDone;
  }));
  EXPECT_EQ(probe->conclusion.verdict, "no_copies");
}

TEST_F(ProberTest, PacketsOfASeriesAreEachTheirOwn) {
  std::vector<ProbePacket> packets(3, *ParseProbePacket(kPacket, "t"));
  packets[1].dst_port = 9000;
  packets[2].dst.value += 5;  // .7
  const ProbeStart start = prober_->StartSeries(Request(99), packets, "alice", "");
  const ProbeView* const probe = prober_->Find(start.id);
  ASSERT_NE(probe, nullptr) << start.why;
  EXPECT_EQ(probe->request.count, 3u);
  ASSERT_TRUE(RunUntil([&] { return questions_.size() == 1 && Arrived().size() == 3; }));
  const std::vector<std::string> frames = Arrived();
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(frames[i], MakeProbeFrame(packets[i], {probe->id, i}, prober_->debug_dscp()));
  }
  EXPECT_EQ(questions_[0].words.back().value, "10.0.0.0/29") << "all that they go to";
  Answer({TraceOf(frames[2], "delivered", 1), TraceOf(frames[1], "dropped", 2)});
  ASSERT_EQ(probe->traces.size(), 2u);
  EXPECT_EQ(probe->traces[1].packet, 2u);
  EXPECT_EQ(probe->traces[1].verdict, "delivered");
}

TEST_F(ProberTest, AProbeThatIsStoppedSendsNoMoreAndIsDone) {
  const ProbeView* const probe = Begin(Request(100, 10));
  ASSERT_TRUE(RunUntil([&] { return probe->sent.size() >= 2; }));
  prober_->Stop(probe->id);
  EXPECT_EQ(probe->state, ProbeState::kDone);
  EXPECT_EQ(prober_->running_count(), 0u);
  EXPECT_EQ(probe->notes.back(), "it was stopped");
  const ProbeView* const asked = Begin(Request(1));
  ASSERT_TRUE(RunUntil([&] { return questions_.size() == 1; }));
  prober_->Stop(asked->id);
  Answer({TraceOf(Arrived().back(), "delivered", 1)}, true);
  EXPECT_EQ(questions_.size(), 1u) << "nothing is asked any more";
  EXPECT_EQ(asked->conclusion.verdict, "no_copies");
}

// A second bridge behind the first one, to which no flow of that leads.
class ViaProberTest : public ProberTest {
 protected:
  void SetUp() override {
    ProberTest::SetUp();
    ovs_.AddBridge("br1", 2, kProtocols);
    for (const char* name : {"br0", "br1"}) {
      const std::string peer = name[2] == '0' ? "br1" : "br0";
      ovs_.Vsctl({"add-port", name, std::string("to-") + peer, "--", "set", "interface",
                  "to-" + peer, "type=patch", std::string("options:peer=to-") + name,
                  "ofport_request=7"});
    }
    ovs_.Vsctl({"set-controller", "br1", net_.remote()});
    ASSERT_NE(net_.Wait(2), nullptr);
    ovs_.Ofctl({"add-flow", "br1", "in_port=7,dl_dst=02:00:00:00:00:02,actions=output:2"});
    links_ = {{"br0", 7, "br1", 7}, {"br1", 7, "br0", 7}, {"br1", 1, "br9", 1}};
  }
  ProbeRequest Via(std::vector<std::string> via, uint32_t count = 3) const {
    ProbeRequest request = Request(count);
    request.via = std::move(via);
    return request;
  }
  std::string FlowsOfVia() {
    constexpr char kOurs[] = "cookie=0x7472080000000000/0xffffff0000000000";
    return ovs_.Ofctl({"--no-stats", "--no-names", "dump-flows", "br0", kOurs}) +
           ovs_.Ofctl({"--no-stats", "--no-names", "dump-flows", "br1", kOurs});
  }
  // Analyzers have nothing to tell.
  bool EndsUnanswered(const ProbeView* probe) {
    return RunUntil([&] {
      for (const auto& answer : std::exchange(answers_, {})) answer(TraceFindings());
      return probe->state == ProbeState::kDone;
    });
  }
};

TEST_F(ViaProberTest, PacketsPassTheSwitchesThatTheyHaveToAndNoOthersDo) {
  const ProbeView* const probe = Begin(Via({"second"}));
  ASSERT_TRUE(RunUntil([&] { return ovs_.FramesOf("br1p2").size() == 3; }));
  EXPECT_TRUE(Arrived().empty()) << "where the first bridge's own flows send such packets";
  const std::vector<std::string> frames = ovs_.FramesOf("br1p2");
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(frames[i], MakeProbeFrame(probe->request.packet, {probe->id, i}, 32))
        << "with its own address again";
  }
  const std::string flows = FlowsOfVia();
  EXPECT_EQ(std::count(flows.begin(), flows.end(), '\n'), 2) << flows;
  EXPECT_NE(flows.find("hard_timeout="), flows.npos) << flows;
  // Packets of others, and of another probe, go as ever.
  Begin(Request(1));
  ASSERT_TRUE(RunUntil([&] { return Arrived().size() == 1; }));
  ovs_.Receive("br0", 4, "10.0.0.2");
  ASSERT_TRUE(RunUntil([&] { return Arrived().size() == 5; }));
  EXPECT_EQ(ovs_.FramesOf("br1p2").size(), 3u);
  ASSERT_TRUE(EndsUnanswered(probe));
  ASSERT_TRUE(RunUntil([&] { return FlowsOfVia().find("dl_dst") == std::string::npos; }))
      << "its flows are removed";
}

TEST_F(ViaProberTest, ASwitchThatWasAwayAtTheEndLosesItsFlowWhenItComesBack) {
  const ProbeView* const probe = Begin(Via({"br1"}));
  ASSERT_TRUE(RunUntil([&] { return probe->state == ProbeState::kWaiting; }));
  ovs_.Vsctl({"set-controller", "br1", "tcp:127.0.0.1:1"});
  ASSERT_TRUE(net_.RunUntil([&] { return !net_.net().Find(2)->is_ready(); }));
  ASSERT_TRUE(EndsUnanswered(probe));
  EXPECT_NE(FlowsOfVia().find("dl_dst"), std::string::npos);
  ovs_.Vsctl({"set-controller", "br1", net_.remote()});
  ASSERT_NE(net_.Wait(2), nullptr);
  ASSERT_TRUE(RunUntil([&] { return FlowsOfVia().find("dl_dst") == std::string::npos; }));
}

TEST_F(ViaProberTest, CopiesFromElsewhereAreNoted) {
  const ProbeView* const probe = Begin(Via({"br1"}, 2));
  ASSERT_TRUE(RunUntil([&] { return questions_.size() == 1; }));
  const std::vector<std::string> frames = ovs_.FramesOf("br1p2");
  ASSERT_EQ(frames.size(), 2u);
  const auto path = [](TraceFindings::Found found, const char* hops) {
    std::string& text = found.record.text;
    const std::string old = R"([{"switch":"br0"}])";
    text.replace(text.find(old), old.size(), hops);
    const std::string last = R"("last_switch":"br0")";
    text.replace(text.find(last), last.size(), R"("last_switch":"br5")");
    return found;
  };
  Answer({path(TraceOf(frames[0], "delivered", 1), R"([{"switch":"br0"},{"switch":"second"},)"
                                                   R"({"switch":"br5"}])"),
          path(TraceOf(frames[1], "delivered", 2), R"([{"switch":"br0"},{"switch":"br5"}])")});
  ASSERT_TRUE(RunUntil([&] { return probe->state == ProbeState::kDone; }));
  ASSERT_EQ(probe->notes.size(), 1u);
  EXPECT_EQ(probe->notes[0], "1 packets were seen elsewhere before they had passed all of 'via'");
}

TEST_F(ViaProberTest, WaysThatThereAreNotAreRefused) {
  EXPECT_EQ(Refusal(Via({"br7"})),
            "1 no link of switch 'br0' to switch 'br7' has been found by LLDP");
  EXPECT_EQ(Refusal(Via({"br1", "br9"})), "2 switch 'br9' is not connected");
  EXPECT_EQ(Refusal(Via({"br1", "br0"})), "1 'via' would take packets to switch 'br0' twice");
  EXPECT_EQ(FlowsOfVia().find("dl_dst"), std::string::npos);
}

TEST_F(ViaProberTest, NothingIsSentThatItsFlowsDoNotOutlive) {
  const ProbeView* const probe = Begin(Via({"br1"}, 100));
  ASSERT_TRUE(RunUntil([&] { return probe->sent.size() >= 2; }));
  clock_.now += Prober::kViaPatience + 10 * kNanosPerSecond;
  ASSERT_TRUE(net_.RunUntil([&] { return probe->state != ProbeState::kSending; }));
  EXPECT_NE(probe->notes.back().find(" of 100 packets could be sent in time"), std::string::npos)
      << probe->notes.back();
}

TEST_F(ProberTest, AProbeEndsWhenItsWaitIsOverAndTellsWhoWasSilent) {
  const ProbeView* const probe = Begin(Request(1));
  ASSERT_TRUE(RunUntil([&] { return questions_.size() == 1; }));
  TraceFindings findings;
  findings.silent["an2"] = "has gone";
  answers_[0](findings);
  ASSERT_TRUE(RunUntil([&] {
    if (answers_.size() > 1) answers_.back()(findings);
    return probe->state == ProbeState::kDone;
  }));
  EXPECT_EQ(probe->conclusion.verdict, "no_copies");
  EXPECT_EQ(probe->silent.at("an2"), "has gone");
  EXPECT_GE(clock_.UnixNow() - probe->sent[0], 5 * kNanosPerSecond);
}

TEST_F(ProberTest, WhatCannotBeIsRefused) {
  ProbeRequest request = Request();
  request.rate = 101;
  EXPECT_EQ(Refusal(request),
            "1 'rate' is 101; this controller sends 100 packets of probes per second at most");
  request = Request();
  request.switch_name = "br7";
  EXPECT_EQ(Refusal(request), "1 there is no switch 'br7'");
  request = Request();
  request.port = "9";
  EXPECT_EQ(Refusal(request), "1 switch 'br0' has no port '9'");
  is_alone_ = true;
  EXPECT_EQ(Refusal(Request()), "2 no analyzer that makes traces is connected");
  is_alone_ = false;
  for (size_t i = 0; i < Prober::kMaxRunning; ++i) Begin(Request());
  EXPECT_EQ(Refusal(Request()), "3 there are 32 probes under way, as many as this controller runs");
  ovs_.Vsctl({"del-controller", "br0"});
  ASSERT_TRUE(net_.RunUntil([&] { return !which_->is_ready(); }));
  EXPECT_EQ(Refusal(Request()), "2 switch 'br0' is not connected");
  EXPECT_EQ(prober_->counters().refused, 6u);
}

TEST_F(ProberTest, SaysWhyCopiesMayNotCome) {
  const auto note = [&] {
    const ProbeView* const probe = Begin(Request(1));
    return probe->notes.empty() ? "" : probe->notes[0];
  };
  rules_.Give(5, true, TraceRuleState::kTesting);
  EXPECT_EQ(note(), "rule 'marked' is testing");
  rules_.Give(5, false, TraceRuleState::kActive);
  EXPECT_EQ(note(), "no trace rule is for packets with the debug bit");
  rules_.Give(-1, false, TraceRuleState::kActive);
  EXPECT_EQ(note(),
            "the trace rules have no debug_bit: only packets that a rule takes anyway are copied");
  rules_.view.reset();
  EXPECT_EQ(note(), "there are no trace rules, so no switch copies these packets");
}

TEST_F(ProberTest, ASwitchThatGoesAwayEndsTheSending) {
  const ProbeView* const probe = Begin(Request(50));
  ASSERT_TRUE(net_.RunUntil([&] { return probe->sent.size() == 1; }));  // the clock stands
  ovs_.Vsctl({"del-controller", "br0"});
  ASSERT_TRUE(net_.RunUntil([&] { return probe->state != ProbeState::kSending; }));
  EXPECT_EQ(probe->sent.size(), 1u);
  EXPECT_EQ(probe->notes.back(), "switch 'br0' went away after 1 packets");
}

// However time goes by: never more than the rate of all, and a tenth of a second's worth besides.
TEST_F(ProberTest, AllProbesTogetherKeepToTheRate) {
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(5); ++seed) {
    std::mt19937_64 random(seed);
    const uint32_t rate = 20 + static_cast<uint32_t>(random() % 400);
    Open(rate);
    clock_.now += 3600 * kNanosPerSecond;
    const Nanos begin = clock_.now;
    for (int i = 0; i < 8; ++i) Begin(Request(100, rate));
    ASSERT_TRUE(net_.RunUntil([&] {
      const auto most =
          static_cast<uint64_t>((clock_.now - begin + Prober::kBurst) * rate / kNanosPerSecond + 2);
      EXPECT_LE(prober_->counters().packets, most) << "seed " << seed << ", rate " << rate;
      const uint64_t roll = random() % 16;
      clock_.now += static_cast<Nanos>(random() % (roll == 0 ? 2'000'000'000 : 20'000'000));
      return prober_->counters().packets == 800;
    })) << "seed "
        << seed;
    EXPECT_GT(prober_->counters().held, 0u);
  }
}

TEST_F(ProberTest, TheLastOnesAreRemembered) {
  std::vector<uint64_t> ids;
  for (size_t round = 0; round < Prober::kKept / Prober::kMaxRunning + 2; ++round) {
    for (size_t i = 0; i < Prober::kMaxRunning; ++i) ids.push_back(Begin(Request(1))->id);
    ASSERT_TRUE(net_.RunUntil([&] {
      clock_.now += 200 * kNanosPerMilli;
      for (const auto& answer : std::exchange(answers_, {})) answer(TraceFindings());
      return prober_->running_count() == 0;
    }));
  }
  EXPECT_EQ(prober_->List().size(), Prober::kKept);
  EXPECT_EQ(prober_->List().front()->id, ids.back());
  EXPECT_EQ(prober_->Find(ids.front()), nullptr);
  EXPECT_NE(prober_->Find(ids[ids.size() - Prober::kKept]), nullptr);
}

}  // namespace
}  // namespace trumpet
