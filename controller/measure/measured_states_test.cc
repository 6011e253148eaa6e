// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/measure/measured_states.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "controller/measure/measurement_manager.h"
#include "controller/tem/event_manager_kit_test.h"

namespace trumpet {
namespace {

constexpr char kProgram[] =
    "flow = Key(ipv4.src);\n"
    "total = Counter(width=32);\n"
    "hosts = Sketch(alg=\"hyperloglog\", key=flow, nhash=1, size=64);\n"
    "sizes = HashMap(key=flow, size=512, type=Counter(width=64));\n"
    "large = HashMap(key=flow, size=65536, type=Counter(width=64));\n"
    "huge = HashMap(key=flow, size=131072, type=Counter(width=64));\n"
    "seen = BloomFilter(alg=\"membership\", key=flow, nhash=3, size=1024);\n"
    "rows = Sketch(alg=\"count-min\", key=flow, nhash=2, size=64, width=32);\n"
    "turn = Counter(width=32);\n"
    "pkts >> total.set(total + 1) >> hosts.update() >> sizes.set(sizes + 1) >> seen.insert()\n"
    "  >> large.set(large + 1) >> huge.set(huge + 1) >> rows.set(rows + 1) >> match(turn < 9)\n"
    "  >> turn.set(turn + 1);\n";

class MeasuredStatesTest : public EventManagerHostsTest {
 protected:
  MeasuredStatesTest() : kept_(loop_.base(), 77) {
    MeasurementParts parts;
    parts.base = loop_.base();
    parts.clock = &clock_;
    parts.store = &kept_;
    parts.hosts = manager_.get();
    parts.draw_seed = [] { return uint64_t{1234}; };
    parts.log = [](const char*, const std::string&) {};
    measurements_ = std::make_unique<MeasurementManager>(parts);
    measurements_->Start();
    EXPECT_TRUE(RunUntil([&] { return measurements_->is_store_ready(); }));
    for (const size_t agent : {0, 1}) {
      Connect(agent);
      Agent(agent).Send(ProgramList{});
    }
    loop_.RunReady(20);
  }
  ~MeasuredStatesTest() override { measurements_.reset(); }

  void Install(const std::string& name, const std::vector<std::string>& hosts = {}) {
    bool is_done = false;
    measurements_->Put({name, kProgram, {}, hosts, 0}, Caller(),
                       [&](const MeasurementManager::Outcome& outcome) {
                         EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
                         is_done = true;
                       });
    for (const size_t agent : {0, 1}) {
      if (!hosts.empty() && hosts[0] != "h" + std::to_string(agent)) continue;
      const ProgramOn on = Next<ProgramOn>(agent);
      Agent(agent).Send(ProgramAck{on.program, true, ""});
    }
    ASSERT_TRUE(RunUntil([&] { return is_done; }));
  }
  std::string Problem(const std::string& event) {
    const auto checks =
        manager_->Check("- {name: e, event: '*, " + event + "'}", DocumentFormat::kYaml, "e", {});
    return checks.ok() ? "" : checks.message();
  }
  // Answers the next read of the agent with cells of these values, at the front.
  void Answer(size_t agent, std::vector<uint64_t> cells) {
    const CellsRequest request = Next<CellsRequest>(agent);
    const uint32_t count = request.max_cells;
    cells.resize(count);
    Agent(agent).Send(CellsAnswer{request.number, std::move(cells), count, ""});
  }
  // The value of what the event compares with 0, of these cells of each host.
  Number ValueOf(const std::string& state, const std::vector<uint64_t>& first,
                 const std::vector<uint64_t>& second) {
    Put("- {name: one, event: '*, measure(\"hh\")." + state + " >= 0, 100ms'}");
    clock_.Advance(100 * kNanosPerMilli);
    manager_->Tick();
    Answer(0, first);
    Answer(1, second);
    const size_t before = told_.rows.size();
    EXPECT_TRUE(RunUntil([&] { return told_.rows.size() > before; }));
    const std::string line = told_.rows.back()->json;
    const size_t at = line.find("\"value\":") + 8;
    EXPECT_NE(line.find("\"complete\":true"), std::string::npos) << line;
    Remove("one");
    loop_.RunReady(5);
    return Number::Real(std::stod(line.substr(at)));
  }

  MemoryEventStore kept_;
  std::unique_ptr<MeasurementManager> measurements_;
};

TEST_F(MeasuredStatesTest, SaysWhatThereIsInstead) {
  EXPECT_EQ(Problem("measure(\"hh\").total > 1, 1s"), "e:1:24: there is no measurement 'hh'");
  Install("hh");
  EXPECT_EQ(Problem("measure(\"hh\").total > 1, 1s"), "");
  EXPECT_EQ(Problem("measure(\"hx\").total > 1, 1s"),
            "e:1:24: there is no measurement 'hx'; there are 'hh'");
  EXPECT_EQ(Problem("measure(\"hh\").totals > 1, 1s"),
            "e:1:24: measurement 'hh' has no state 'totals'; it has 'total', 'hosts', 'sizes', "
            "'large', 'huge', 'seen', 'rows', 'turn'");
}

TEST_F(MeasuredStatesTest, SaysWhatCannotBeANumber) {
  Install("hh");
  EXPECT_EQ(Problem("1 < measure(\"hh\").rows, 1s"),
            "e:1:28: 'rows' is a count-min, which tells of one key at a time: 'rows(\"KEY\")', KEY "
            "with values of ipv4.src");
  EXPECT_EQ(Problem("1 < measure(\"hh\").rows(\"10.0.0.256\"), 1s"),
            "e:1:28: ipv4.src is '10.0.0.256'; it takes a number of 32 bits");
  EXPECT_EQ(Problem("1 < measure(\"hh\").hosts(\"10.0.0.1\"), 1s"),
            "e:1:28: 'hosts' is a hyperloglog, which holds nothing of one key");
  EXPECT_EQ(
      Problem("measure(\"hh\").turn > 1, 1s"),
      "e:1:24: 'turn' does not merge over hosts; events read it of a measurement of one host");
  Install("one", {"h1"});
  EXPECT_EQ(Problem("measure(\"one\").turn > 1, 1s"), "");
}

TEST_F(MeasuredStatesTest, BoundsWhatIsRead) {
  Install("hh");
  EXPECT_EQ(Problem("measure(\"hh\").huge > 1, 60s"),
            "e:1:24: 'huge' has 131072 cells; events read states of at most 65536");
  EXPECT_EQ(Problem("measure(\"hh\").large > 1, 124ms"),
            "e:1:24: 'large' has 65536 cells; an interval of 125ms is the least to read them in");
  EXPECT_EQ(Problem("measure(\"hh\").large > 1, 125ms"), "");
}

TEST_F(MeasuredStatesTest, TellsANumberOfEachKind) {
  Install("hh");
  EXPECT_EQ(ValueOf("total", {7}, {5}).AsDouble(), 12);
  EXPECT_EQ(ValueOf("sizes", {7, 0, 1}, {5, 1, 0}).AsDouble(), 3) << "slots in use anywhere";
  // 64 registers of which 4 are used: linear counting.
  EXPECT_NEAR(ValueOf("hosts", {1, 2, 1}, {1, 0, 0, 3}).AsDouble(), 64 * std::log(64.0 / 60), 1e-9);
  EXPECT_NEAR(ValueOf("seen", {1, 1, 1}, {1, 0, 0, 1, 1, 1}).AsDouble(),
              1024 / 3.0 * std::log(1024.0 / 1018), 1e-9);
  EXPECT_EQ(ValueOf("seen", {}, {}).AsDouble(), 0);
}

// One read for both events, as they name the same key; the third one has another.
TEST_F(MeasuredStatesTest, ReadsCellsOfAKeyOfAllHosts) {
  Install("hh");
  Put("- {name: one, event: '*, measure(\"hh\").rows(\"10.0.0.1\") > 11, 100ms'}\n"
      "- {name: two, event: '*, measure(\"hh\").rows(\" 10.0.0.1 \") > 12, 100ms'}\n"
      "- {name: huge, event: '*, measure(\"hh\").huge(\"0x0a000002\") > 2, 100ms'}");
  clock_.Advance(100 * kNanosPerMilli);
  manager_->Tick();
  const std::vector<std::vector<uint64_t>> rows = {{7, 9}, {5, 4}};
  for (const size_t agent : {0, 1}) {
    for (int i = 0; i < 2; ++i) {
      const CellsRequest request = Next<CellsRequest>(agent);
      const bool is_huge = request.key == std::vector<uint64_t>{0x0a000002};
      EXPECT_EQ(request.key, std::vector<uint64_t>{is_huge ? 0x0a000002u : 0x0a000001u});
      const auto cells = is_huge ? std::vector<uint64_t>{agent + 1} : rows[agent];
      Agent(agent).Send(
          CellsAnswer{request.number, cells, static_cast<uint32_t>(cells.size()), ""});
    }
  }
  ASSERT_TRUE(RunUntil([&] { return told_.rows.size() == 2; }));
  std::string told;
  for (const auto& row : told_.rows) told += row->json + "\n";
  EXPECT_NE(told.find("\"event\":\"one\""), std::string::npos) << told;
  EXPECT_NE(told.find("\"value\":12,\"threshold\":11,\"complete\":true"), std::string::npos)
      << told;
  EXPECT_NE(told.find("\"value\":3,\"threshold\":2,\"complete\":true"), std::string::npos) << told;
  EXPECT_EQ(told.find("\"event\":\"two\""), std::string::npos) << told;
}

TEST_F(MeasuredStatesTest, NamesHostsThatAreSilentAtTheDeadline) {
  Install("hh");
  Put("- {name: one, event: '*, measure(\"hh\").total > 5, 100ms', deadline: 50ms}");
  clock_.Advance(100 * kNanosPerMilli);
  manager_->Tick();
  Answer(0, {7});
  Next<CellsRequest>(1);
  loop_.RunReady(20);
  EXPECT_TRUE(told_.rows.empty());
  clock_.Advance(50 * kNanosPerMilli);
  ASSERT_TRUE(RunUntil([&] { return told_.rows.size() == 1; }));
  const std::string line = told_.rows[0]->json;
  EXPECT_NE(line.find("\"value\":7,\"threshold\":5,\"complete\":false"), std::string::npos) << line;
  EXPECT_NE(line.find("\"host_count\":2"), std::string::npos) << line;
  EXPECT_NE(line.find("\"silent\":[\"h1\"]"), std::string::npos) << line;
}

TEST_F(MeasuredStatesTest, KeepsMeasurementsThatEventsRead) {
  Install("hh");
  Put("- {name: one, event: '*, measure(\"hh\").total > 5, 100ms'}");
  std::string why;
  const auto remove = [&] {
    why.clear();
    measurements_->Remove("hh", [&](const MeasurementManager::Outcome& outcome) {
      why = outcome.status.ok() ? "ok" : outcome.status.message();
    });
  };
  remove();
  ASSERT_TRUE(RunUntil([&] { return !why.empty(); }));
  EXPECT_EQ(why, "event 'one' reads measurement 'hh'; remove the event first");
  EXPECT_TRUE(measurements_->Find("hh"));
  Remove("one");
  remove();
  for (const size_t agent : {0, 1}) {
    const ProgramOff off = Next<ProgramOff>(agent);
    Agent(agent).Send(ProgramAck{off.program, false, ""});
  }
  ASSERT_TRUE(RunUntil([&] { return !why.empty(); }));
  EXPECT_EQ(why, "ok");
}

}  // namespace
}  // namespace trumpet
