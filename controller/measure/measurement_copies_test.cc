// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Where copies of measurements go, what becomes of them, and what tasks of ctrl answer.

#include "controller/measure/measurement_kit_test.h"

namespace trumpet {
namespace {

constexpr char kCollects[] =
    "endpoint A, B;\n"
    "pkts >> duplicate(found);\n"
    "found >> collect(B);\n"
    "ctrl >> duplicate(asked);\n"
    "asked >> collect(A);\n";

class MeasurementCopiesTest : public MeasurementManagerTest {
 protected:
  void PutBound(const EndpointAddresses& endpoints) {
    MeasurementPlaces places;
    places.endpoints = endpoints;
    outcome_.reset();
    measurements_->Put({"hh", kCollects, {}, {}, 0, places}, Caller(), Note());
  }
  void InstallBound() {
    PutBound({{"B", "udp:10.0.0.9:4729"}});
    for (const size_t agent : {0, 1}) name_ = TakeOn(agent).program;
    ASSERT_EQ(Outcome(), "ok");
  }
  void Tell(size_t agent, Nanos since, const ProgramCopies& copies) {
    Agent(agent).Send(ProgramCounts{name_, since, copies});
  }
  bool Totals(const ProgramCopies& wanted) {
    return RunUntil([&] { return measurements_->Find("hh")->copies == wanted; });
  }
  Status Ask(const std::string& host = "") {
    answer_.reset();
    return measurements_->Ask("hh", host, {{kIpv4Dst, 0x0a000001}, {kPktRequest, 7}},
                              [this](const RequestAnswer& answer) { answer_ = answer; });
  }
  CellsRequest TakeRequest(size_t agent) {
    const CellsRequest request = Next<CellsRequest>(agent);
    EXPECT_TRUE(request.is_request);
    EXPECT_EQ(request.fields, (std::vector<MeasureFieldId>{kIpv4Dst, kPktRequest}));
    EXPECT_EQ(request.key, (std::vector<uint64_t>{0x0a000001, 7}));
    return request;
  }
  static CellsAnswer AnswerOf(const CellsRequest& request, MeasureIndex endpoint = 0) {
    CellsAnswer answer;
    answer.number = request.number;
    answer.copies.push_back({1700, endpoint, uint64_t{1} << kPktHhVolume, {480}});
    return answer;
  }

  ProgramName name_;
  std::optional<RequestAnswer> answer_;
};

TEST_F(MeasurementCopiesTest, TellsAllHostsWhereCopiesGoAndNumbersThem) {
  Join(0);
  Join(1);
  PutBound({{"B", "udp:10.0.0.9:4729"}});
  for (const size_t agent : {0, 1}) {
    const ProgramOn on = TakeOn(agent);
    EXPECT_EQ(on.place.endpoints, (EndpointAddresses{{"B", "udp:10.0.0.9:4729"}}));
    EXPECT_EQ(on.place.switch_id, agent + 1) << "copies name their switch";
  }
  EXPECT_EQ(Outcome(), "ok");
  EXPECT_EQ(measurements_->Find("hh")->definition.places.endpoints.size(), 1u);
}

TEST_F(MeasurementCopiesTest, KeepsThemOverARestart) {
  Join(0);
  Join(1);
  InstallBound();
  kept_.Stop();
  Open();
  Agent(1).Send(ProgramList{});
  EXPECT_EQ(TakeOn(1).place.endpoints, (EndpointAddresses{{"B", "udp:10.0.0.9:4729"}}));
}

TEST_F(MeasurementCopiesTest, RefusesEndpointsThatTheProgramHasNot) {
  Join(0);
  PutBound({{"C", "udp:10.0.0.9:4729"}});
  EXPECT_EQ(Outcome(), "endpoints: the program has no endpoint 'C'; it has A, B");
  EXPECT_FALSE(outcome_->is_conflict);
}

TEST_F(MeasurementCopiesTest, SaysWhichAgentIsTooOld) {
  Join(0);
  Agent(1).is_old = true;
  Join(1);
  PutBound({{"B", "udp:10.0.0.9:4729"}});
  Next<ProgramOn>(0);
  EXPECT_EQ(Outcome(),
            "the measurement is installed nowhere: host h1: the agent of host h1 is too old for "
            "endpoints and requests of measurement programs");
  PutBound({});
  for (const size_t agent : {0, 1}) {
    Next<ProgramOff>(agent);
    TakeOn(agent);
  }
  EXPECT_EQ(Outcome(), "ok") << "without addresses it is not needed";
}

TEST_F(MeasurementCopiesTest, ShowsThatAHostWhichComesLaterIsTooOld) {
  Join(0);
  PutBound({{"B", "udp:10.0.0.9:4729"}});
  TakeOn(0);
  ASSERT_EQ(Outcome(), "ok");
  Agent(1).is_old = true;
  Join(1);
  ASSERT_TRUE(RunUntil([&] { return StateOn(1) == MeasurementOnHost::kRefused; }));
  EXPECT_EQ(measurements_->Find("hh")->hosts[1].error,
            "its agent is too old for endpoints of measurement programs");
  EXPECT_TRUE(Agent(1).slice_orders.empty());
}

TEST_F(MeasurementCopiesTest, AddsUpWhatHostsTellAndForgetsNothing) {
  Join(0);
  Join(1);
  InstallBound();
  Tell(0, 1, {5, 1, 0, {{}, {3, 1, 0}}});
  Tell(1, 9, {2, 0, 0, {{}, {0, 0, 2}}});
  EXPECT_TRUE(Totals({7, 1, 0, {{}, {3, 1, 2}}}));
  const auto view = measurements_->Find("hh");
  EXPECT_EQ(view->hosts[0].copies, (ProgramCopies{5, 1, 0, {{}, {3, 1, 0}}}));
  Agent(1).Kill();
  ASSERT_TRUE(RunUntil([&] { return StateOn(1) == MeasurementOnHost::kAway; }));
  Tell(0, 2, {1, 0, 0, {{}, {1, 0, 0}}});
  EXPECT_TRUE(Totals({8, 1, 0, {{}, {4, 1, 2}}}));
  name_.id += 1;
  Tell(0, 3, {99, 0, 99, {}});
  loop_.RunReady(20);
  EXPECT_TRUE(Totals({8, 1, 0, {{}, {4, 1, 2}}})) << "of another program";
}

TEST_F(MeasurementCopiesTest, TakesWhatHostsTellBeforeTheStoreDoes) {
  Join(0);
  Join(1);
  InstallBound();
  measurements_->StandBy();
  Tell(0, 1, {5, 0, 5, {}});
  Tell(0, 1, {6, 0, 6, {}});
  Tell(1, 1, {1, 0, 1, {}});
  loop_.RunReady(20);
  measurements_->Start();
  ASSERT_TRUE(RunUntil([&] { return measurements_->Find("hh").has_value(); }));
  EXPECT_TRUE(Totals({7, 0, 7, {}}));
}

TEST_F(MeasurementCopiesTest, AsksAllHostsAndNamesWhoIsSilent) {
  Join(0);
  Join(1);
  InstallBound();
  ASSERT_TRUE(Ask().ok());
  EXPECT_FALSE(answer_.has_value());
  Agent(0).Send(AnswerOf(TakeRequest(0)));
  CellsAnswer refusal;
  refusal.number = TakeRequest(1).number;
  refusal.error = "the switch has no packet thread yet";
  Agent(1).Send(refusal);
  ASSERT_TRUE(RunUntil([&] { return answer_.has_value(); }));
  ASSERT_EQ(answer_->hosts.size(), 1u);
  EXPECT_EQ(answer_->hosts[0].host, "h0");
  ASSERT_EQ(answer_->hosts[0].copies.size(), 1u);
  EXPECT_EQ(answer_->hosts[0].copies[0].values, (std::vector<uint64_t>{480}));
  ASSERT_EQ(answer_->silent.size(), 1u);
  EXPECT_EQ(answer_->silent[0].host, "h1");
  EXPECT_EQ(answer_->silent[0].why, "the switch has no packet thread yet");
}

TEST_F(MeasurementCopiesTest, AsksOneHostAndTakesNoAnswerOfAnother) {
  Join(0);
  Join(1);
  InstallBound();
  EXPECT_EQ(Ask("h9").message(), "measurement 'hh' is not on a host 'h9'; it is on h0, h1");
  ASSERT_TRUE(Ask("h1").ok());
  const CellsRequest request = TakeRequest(1);
  Agent(0).Send(AnswerOf(request));
  loop_.RunReady(20);
  EXPECT_FALSE(answer_.has_value());
  EXPECT_TRUE(Agent(0).slice_orders.empty());
  Agent(1).Send(AnswerOf(request));
  ASSERT_TRUE(RunUntil([&] { return answer_.has_value(); }));
  EXPECT_EQ(answer_->hosts[0].host, "h1");
}

TEST_F(MeasurementCopiesTest, LeavesOutHostsThatGoOrSpeakOfSomethingElse) {
  Join(0);
  Join(1);
  InstallBound();
  ASSERT_TRUE(Ask().ok());
  Agent(0).Send(AnswerOf(TakeRequest(0), /*endpoint=*/2));
  TakeRequest(1);
  Agent(1).Kill();
  ASSERT_TRUE(RunUntil([&] { return answer_.has_value(); }));
  EXPECT_TRUE(answer_->hosts.empty());
  ASSERT_EQ(answer_->silent.size(), 2u);
  for (const SilentHost& host : answer_->silent) {
    EXPECT_EQ(host.why, host.host == "h0" ? "it answers for another program" : "it has gone");
  }
}

TEST_F(MeasurementCopiesTest, BoundsRequestsUnderWay) {
  Join(0);
  PutBound({});
  TakeOn(0);
  ASSERT_EQ(Outcome(), "ok");
  for (size_t i = 0; i < ProgramAsker::kMaxRequests; ++i) ASSERT_TRUE(Ask().ok()) << i;
  EXPECT_EQ(Ask().message(), "too many requests are under way; try again");
}

}  // namespace
}  // namespace trumpet
