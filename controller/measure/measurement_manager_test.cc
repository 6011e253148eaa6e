// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/measure/measurement_manager.h"

#include "controller/measure/measurement_kit_test.h"

namespace trumpet {
namespace {

CellQuestion KeysQuestion() {
  CellQuestion keys{1, MeasureMerge::kShared, 100, {}};
  keys.wants_keys = true;
  return keys;
}

TEST_F(MeasurementManagerTest, InstallsOnAllHostsAndSaysSoWhenAllRunIt) {
  Join(0);
  Join(1);
  Put();
  const ProgramOn first = TakeOn(0);
  loop_.RunReady(20);
  EXPECT_FALSE(outcome_);
  EXPECT_FALSE(measurements_->Find("hh")->record.is_enabled);
  const ProgramOn second = TakeOn(1);
  EXPECT_EQ(Outcome(), "ok");
  EXPECT_TRUE(outcome_->is_new);
  EXPECT_EQ(first.program.name, "hh");
  EXPECT_EQ(first.program.id, second.program.id);
  EXPECT_EQ(first.seed, second.seed);
  EXPECT_EQ(first.source.variables.size(), 2u);
  EXPECT_TRUE(measurements_->Find("hh")->record.is_enabled);
  EXPECT_EQ(StateOn(0), MeasurementOnHost::kRunning);
  EXPECT_EQ(StateOn(1), MeasurementOnHost::kRunning);
}

TEST_F(MeasurementManagerTest, TakesItOffEverywhereWhenOneHostRefuses) {
  Join(0);
  Join(1);
  Put();
  const ProgramOn on = TakeOn(0);
  loop_.RunReady(20);
  Next<ProgramOn>(1);
  Agent(1).Send(ProgramAck{on.program, false, "the budget is 1"});
  EXPECT_EQ(Outcome(), "the measurement is installed nowhere: host h1: the budget is 1");
  EXPECT_TRUE(outcome_->is_conflict);
  EXPECT_EQ(Next<ProgramOff>(0).program.id, on.program.id);
  EXPECT_FALSE(measurements_->Find("hh"));
}

// A switch that does not run it would not take out what another has tagged.
TEST_F(MeasurementManagerTest, LetsPacketsCarryTagsOnceAllHostsRunIt) {
  constexpr char kTags[] = "role first_hop { pkts >> tag(ipv4.tos, 1); }\n";
  Join(0);
  Join(1);
  Put(kTags);
  const ProgramOn on = TakeOn(0);
  EXPECT_TRUE(on.place.holds_tags);
  loop_.RunReady(20);
  EXPECT_TRUE(Agent(0).slice_orders.empty());
  EXPECT_TRUE(TakeOn(1).place.holds_tags);
  EXPECT_EQ(Outcome(), "ok");
  for (const size_t agent : {0, 1}) {
    const ProgramOn again = TakeOn(agent);
    EXPECT_EQ(again.program.id, on.program.id);
    EXPECT_FALSE(again.place.holds_tags);
  }
  Join(2);
  EXPECT_FALSE(TakeOn(2).place.holds_tags);
  Agent(1).Kill();
  ASSERT_TRUE(RunUntil([&] { return StateOn(1) == MeasurementOnHost::kAway; }));
  Join(1, {on.program});
  EXPECT_FALSE(TakeOn(1).place.holds_tags) << "it may not have heard of it";
  loop_.RunReady(20);
  EXPECT_TRUE(Agent(1).slice_orders.empty());
  kept_.Stop();
  Open();
  Agent(0).Send(ProgramList{{on.program}});
  EXPECT_FALSE(TakeOn(0).place.holds_tags) << "nor from the controller before";
}

TEST_F(MeasurementManagerTest, TakesItOffWhenAHostGoesMeanwhile) {
  Join(0);
  Join(1);
  Put();
  TakeOn(0);
  Next<ProgramOn>(1);
  Agent(1).Kill();
  EXPECT_EQ(Outcome(), "the measurement is installed nowhere: host h1: has gone");
  Next<ProgramOff>(0);
}

TEST_F(MeasurementManagerTest, InstallsOnTheHostsThatAreNamedOnly) {
  Join(0);
  Join(1);
  Put(kText, {"name-of-h1"});
  TakeOn(1);
  EXPECT_EQ(Outcome(), "ok");
  EXPECT_TRUE(Agent(0).slice_orders.empty());
  EXPECT_EQ(measurements_->Find("hh")->hosts.size(), 1u);
}

TEST_F(MeasurementManagerTest, RefusesWhatCannotBe) {
  Put();
  EXPECT_EQ(Outcome(), "no host that takes measurement programs is connected");
  Join(0);
  Put(kText, {"h9"});
  EXPECT_EQ(Outcome(), "host h9 is not connected, or takes no measurement programs");
  Put("pkts >> nothing.set(1);");
  EXPECT_EQ(Outcome().substr(0, 12), "hh:1:9: E1: ");
  EXPECT_FALSE(outcome_->is_conflict);
  Put();
  TakeOn(0);
  EXPECT_EQ(Outcome(), "ok");
  Put();
  EXPECT_EQ(Outcome(), "ok");
  EXPECT_FALSE(outcome_->is_new);
  Put("total = Counter(width=32);\npkts >> total.set(1);\n");
  EXPECT_EQ(Outcome(),
            "measurement 'hh' is another one; remove it first (what it holds is lost then)");
}

TEST_F(MeasurementManagerTest, RemovesItFromAllHosts) {
  Join(0);
  Join(1);
  Install();
  outcome_.reset();
  measurements_->Remove("hh", Note());
  const ProgramOff off = Next<ProgramOff>(0);
  Agent(0).Send(ProgramAck{off.program, false, ""});
  Next<ProgramOff>(1);
  loop_.RunReady(20);
  EXPECT_FALSE(outcome_);
  Agent(1).Send(ProgramAck{off.program, false, ""});
  EXPECT_EQ(Outcome(), "ok");
  EXPECT_FALSE(measurements_->Find("hh"));
  outcome_.reset();
  measurements_->Remove("hh", Note());
  EXPECT_EQ(Outcome(), "there is no measurement named 'hh'");
}

TEST_F(MeasurementManagerTest, TellsHostsThatComeBackWhatDiffersOnly) {
  Join(0);
  Join(1);
  Install();
  const uint32_t id = measurements_->Find("hh")->record.id;
  Agent(0).Restart();
  ASSERT_TRUE(RunUntil([&] { return StateOn(0) == MeasurementOnHost::kAway; }));
  Join(0);
  EXPECT_EQ(TakeOn(0).program.id, id);
  Agent(1).Kill();
  ASSERT_TRUE(RunUntil([&] { return StateOn(1) == MeasurementOnHost::kAway; }));
  Join(1, {{"hh", id}, {"old", 3}});
  const ProgramOff off = Next<ProgramOff>(1);
  EXPECT_EQ(off.program.name, "old");
  loop_.RunReady(20);
  EXPECT_TRUE(Agent(1).slice_orders.empty());
}

TEST_F(MeasurementManagerTest, GoesOnAfterARestart) {
  Join(0);
  Join(1);
  Install();
  const uint32_t id = measurements_->Find("hh")->record.id;
  kept_.Stop();
  Open();
  Agent(0).Send(ProgramList{{{"hh", id}}});
  Agent(1).Send(ProgramList{});
  EXPECT_EQ(TakeOn(1).program.id, id);
  ASSERT_TRUE(RunUntil([&] { return StateOn(1) == MeasurementOnHost::kRunning; }));
  EXPECT_TRUE(Agent(0).slice_orders.empty());
  Agent(0).Kill();  // which told before the store did
  EXPECT_TRUE(RunUntil([&] { return StateOn(0) == MeasurementOnHost::kAway; }));
  EXPECT_EQ(measurements_->Find("hh")->hosts.size(), 2u);
}

TEST_F(MeasurementManagerTest, TakesOffWhatAnotherLeftHalfInstalled) {
  Join(0);
  Join(1);
  Put();
  const ProgramOn on = TakeOn(0);
  loop_.RunReady(20);
  kept_.Stop();
  Open();
  Agent(0).Send(ProgramList{{on.program}});
  EXPECT_EQ(Next<ProgramOff>(0).program.id, on.program.id);
  EXPECT_TRUE(RunUntil([&] { return !measurements_->Find("hh"); }));
}

TEST_F(MeasurementManagerTest, ReadsAllHostsPieceByPieceAndMerges) {
  Join(0);
  Join(1);
  Install();
  std::optional<CellReading> reading;
  const auto status = measurements_->Read(
      "hh", "", {{0, MeasureMerge::kSum, 1, {}}, {1, MeasureMerge::kMax, 20000, {}}},
      [&](const CellReading& told) { reading = told; });
  ASSERT_TRUE(status.ok()) << status.message();
  for (const size_t agent : {0, 1}) {
    const uint64_t share = agent + 1;
    const CellsRequest total = Next<CellsRequest>(agent);
    EXPECT_EQ(total.max_cells, 1u);
    Agent(agent).Send(CellsAnswer{total.number, {10 * share}, 1, ""});
    for (const uint32_t first : {0u, 16384u}) {
      const CellsRequest piece = Next<CellsRequest>(agent);
      EXPECT_EQ(piece.variable, 1u);
      EXPECT_EQ(piece.first, first);
      Agent(agent).Send(CellsAnswer{
          piece.number, std::vector<uint64_t>(piece.max_cells, first + share), 32768, ""});
    }
  }
  ASSERT_TRUE(RunUntil([&] { return reading.has_value(); }));
  EXPECT_EQ(reading->hosts, (std::vector<std::string>{"h0", "h1"}));
  EXPECT_TRUE(reading->silent.empty());
  EXPECT_EQ(reading->cells[0], (std::vector<uint64_t>{30}));
  ASSERT_EQ(reading->cells[1].size(), 20000u);
  EXPECT_EQ(reading->cells[1][0], 2u);
  EXPECT_EQ(reading->cells[1][19999], 16386u);
}

// Zero is the number of questions that are answered, or not asked yet.
TEST_F(MeasurementManagerTest, TakesNoAnswerToNothing) {
  Join(0);
  Join(1);
  Install();
  std::optional<CellReading> reading;
  ASSERT_TRUE(measurements_
                  ->Read("hh", "", {{0, MeasureMerge::kSum, 1, {}}},
                         [&](const CellReading& told) { reading = told; })
                  .ok());
  for (const size_t agent : {0, 1}) {
    const uint64_t number = Next<CellsRequest>(agent).number;
    for (const uint64_t answered : {uint64_t{0}, number, uint64_t{0}}) {
      Agent(agent).Send(CellsAnswer{answered, {5}, 1, ""});
    }
  }
  ASSERT_TRUE(RunUntil([&] { return reading.has_value(); }));
  EXPECT_EQ(reading->hosts, (std::vector<std::string>{"h0", "h1"}));
  EXPECT_EQ(reading->cells[0], (std::vector<uint64_t>{10}));
}

TEST_F(MeasurementManagerTest, ReadsAsManyCellsAsThereMayBeWithTheirKeys) {
  Join(0);
  Join(1);
  Install();
  const CellQuestion keys = KeysQuestion();
  const auto read = [&](uint32_t cells) {
    return measurements_->Read("hh", "", {{1, MeasureMerge::kSum, cells, {}}, keys},
                               [](const CellReading&) {});
  };
  EXPECT_TRUE(read(MeasurementManager::kMaxCellsRead).ok());
  EXPECT_FALSE(read(MeasurementManager::kMaxCellsRead + 1).ok());
}

TEST_F(MeasurementManagerTest, PutsKeysOfAllHostsBehindEachOther) {
  Join(0);
  Join(1);
  Install();
  const CellQuestion keys = KeysQuestion();
  std::optional<CellReading> reading;
  ASSERT_TRUE(measurements_
                  ->Read("hh", "", {{0, MeasureMerge::kSum, 1, {}}, keys},
                         [&](const CellReading& told) { reading = told; })
                  .ok());
  for (const size_t agent : {0, 1}) {
    const CellsRequest total = Next<CellsRequest>(agent);
    EXPECT_FALSE(total.wants_keys);
    Agent(agent).Send(CellsAnswer{total.number, {1}, 1, ""});
    const CellsRequest wanted = Next<CellsRequest>(agent);
    EXPECT_TRUE(wanted.wants_keys);
    EXPECT_EQ(wanted.max_cells, 100u);
    const std::vector<uint64_t> some =
        agent == 0 ? std::vector<uint64_t>{} : std::vector<uint64_t>{7, 8};
    Agent(agent).Send(CellsAnswer{wanted.number, some, 2, ""});
  }
  ASSERT_TRUE(RunUntil([&] { return reading.has_value(); }));
  EXPECT_EQ(reading->cells[0], (std::vector<uint64_t>{2}));
  EXPECT_EQ(reading->cells[1], (std::vector<uint64_t>{7, 8}));
}

TEST_F(MeasurementManagerTest, ReadsOneHostByItsIdOrName) {
  Join(0);
  Join(1);
  Install();
  const auto read = [&](const std::string& host) {
    return measurements_->Read("hh", host, {{0, MeasureMerge::kSum, 1, {}}},
                               [](const CellReading&) {});
  };
  EXPECT_EQ(read("h2").message(), "measurement 'hh' is not on a host 'h2'; it is on h0, h1");
  EXPECT_TRUE(read("h1").ok());
  Next<CellsRequest>(1);
  EXPECT_TRUE(read("name-of-h0").ok());
  Next<CellsRequest>(0);
}

TEST_F(MeasurementManagerTest, SaysWhoIsSilentAndReadsTheOthers) {
  Join(0);
  Join(1);
  Install();
  std::optional<CellReading> reading;
  const auto ask = [&] {
    reading.reset();
    EXPECT_TRUE(measurements_
                    ->Read("hh", "", {{0, MeasureMerge::kSum, 1, {}}},
                           [&](const CellReading& told) { reading = told; })
                    .ok());
    const uint64_t number = Next<CellsRequest>(0).number;
    Agent(0).Send(CellsAnswer{number, {7}, 1, ""});
  };
  ask();
  const uint64_t number = Next<CellsRequest>(1).number;
  Agent(1).Send(CellsAnswer{number, {}, 0, "no packet thread"});
  ASSERT_TRUE(RunUntil([&] { return reading.has_value(); }));
  EXPECT_EQ(reading->cells[0], (std::vector<uint64_t>{7}));
  ASSERT_EQ(reading->silent.size(), 1u);
  EXPECT_EQ(reading->silent[0].why, "no packet thread");
  ask();
  Next<CellsRequest>(1);
  Agent(1).Kill();
  ASSERT_TRUE(RunUntil([&] { return reading.has_value(); }));
  ASSERT_EQ(reading->silent.size(), 1u);
  EXPECT_EQ(reading->silent[0].why, "it has gone");
  ask();  // what it has counted is missing as long as it is waited for
  ASSERT_TRUE(RunUntil([&] { return reading.has_value(); }));
  EXPECT_EQ(reading->hosts, (std::vector<std::string>{"h0"}));
  ASSERT_EQ(reading->silent.size(), 1u);
  EXPECT_EQ(reading->silent[0].host, "h1");
  EXPECT_EQ(reading->silent[0].why, "it is not connected");
}

}  // namespace
}  // namespace trumpet
