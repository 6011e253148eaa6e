// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/tem/measured_desk.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/tem/event_manager_kit_test.h"
#include "lib/base/random_runs_test.h"
#include "lib/lang/event/event_language.h"

namespace trumpet {
namespace {

constexpr Nanos kTenth = 100 * kNanosPerMilli;

// Reads that the test answers.
class ScriptedSource final : public MeasuredSource {
 public:
  std::string ProblemOf(const MeasuredState& state, uint32_t interval_ms) const override {
    if (state.state == "slow" && interval_ms < 1000) return "too fast";
    return state.measurement == "hh" ? "" : "there is no measurement '" + state.measurement + "'";
  }
  Result<uint64_t> Read(const MeasuredState& state, Done done) override {
    if (!ProblemOf(state, UINT32_MAX).empty()) return Status::Error("no such");
    ++begun[state.state];
    open[++last_] = {state.state, std::move(done)};
    most_open = std::max(most_open, open.size());
    return last_;
  }
  MeasuredReading SoFar(uint64_t number) const override {
    EXPECT_EQ(open.count(number), 1u);
    return so_far;
  }
  void End(uint64_t number) override { EXPECT_EQ(open.erase(number), 1u); }

  // Answers the oldest read.
  void Answer(int64_t value, std::vector<std::string> silent = {}) {
    ASSERT_FALSE(open.empty());
    const auto first = open.begin();
    const Done done = first->second.second;
    open.erase(first);
    done({Number::Integer(value), {"h1"}, std::move(silent)});
  }

  std::map<std::string, int> begun;  // reads so far, by state
  std::map<uint64_t, std::pair<std::string, Done>> open;
  size_t most_open = 0;
  MeasuredReading so_far;

 private:
  uint64_t last_ = 0;
};

class MeasuredDeskTest : public ::testing::Test {
 protected:
  MeasuredDeskTest()
      : desk_(loop_.base(), clock_, /*arms_timers=*/false,
              [this](const std::vector<NetworkReport>& reports) {
                for (const NetworkReport& one : reports) told_.push_back(one);
              }) {
    clock_.unix_base -= clock_.UnixNow() % (60 * kNanosPerSecond);
    desk_.SetSource(&source_);
  }
  void Add(uint32_t id, const std::string& predicate, const std::string& options = "for: 1",
           const std::string& interval = "100ms") {
    const auto events = ParseEventsYaml("- {filter: '*', time_interval: " + interval +
                                            ", predicate: '" + predicate + "', " + options + "}",
                                        "e");
    ASSERT_TRUE(events.ok()) << events.message();
    EventSpec spec = (*events)[0];
    spec.id = id;
    spec.name = "e" + std::to_string(id);
    desk_.Add(spec);
  }
  void Pass(Nanos time) {
    clock_.Advance(time);
    desk_.Tick();
  }
  // "e1 e2-clear", and forgets it.
  std::string Told() {
    std::string names;
    for (const NetworkReport& one : told_) {
      names += (names.empty() ? "" : " ") + one.report.event + (one.is_clear ? "-clear" : "");
    }
    told_.clear();
    return names;
  }

  Loop loop_;
  FakeWireClock clock_;
  ScriptedSource source_;
  std::vector<NetworkReport> told_;
  MeasuredDesk desk_;
};

TEST_F(MeasuredDeskTest, ReadsAtTheEndOfAnIntervalAndTellsWhenTheAnswerIsThere) {
  Add(1, "measure(\"hh\").flows > 10");
  Pass(kTenth - 1);
  EXPECT_TRUE(source_.open.empty());
  Pass(1);
  ASSERT_EQ(source_.open.size(), 1u);
  EXPECT_EQ(Told(), "");
  source_.Answer(11);
  desk_.Tick();
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_EQ(told_[0].report.end_ns, clock_.UnixNow());
  EXPECT_EQ(told_[0].host_count, 1u);
  EXPECT_TRUE(told_[0].report.is_complete());
  desk_.Tick();
  EXPECT_TRUE(source_.open.empty());
}

TEST_F(MeasuredDeskTest, ReadsAStateOnceForAllEventsOfAnInstant) {
  Add(1, "measure(\"hh\").flows > 10");
  Add(2, "measure(\"hh\").flows > 20");
  Add(3, "measure(\"hh\").flows > measure(\"hh\").keys");
  Pass(kTenth);
  EXPECT_EQ(source_.open.size(), 2u);
  source_.Answer(15);
  desk_.Tick();
  EXPECT_EQ(Told(), "e1") << "the third waits for another state";
  source_.Answer(1);
  desk_.Tick();
  EXPECT_EQ(Told(), "e3");
  EXPECT_EQ(desk_.reads(), 2u);
}

TEST_F(MeasuredDeskTest, TellsAtTheDeadlineWithoutHostsThatAreSilent) {
  Add(1, "measure(\"hh\").flows > 10", "deadline: 30ms");
  Add(2, "measure(\"hh\").flows > 10", "deadline: 60ms");
  source_.so_far = {Number::Integer(11), {"h1"}, {"h2"}};
  Pass(kTenth);
  Pass(29 * kNanosPerMilli);
  EXPECT_EQ(Told(), "");
  Pass(kNanosPerMilli);
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_EQ(told_[0].silent_hosts, std::vector<std::string>{"h2"});
  EXPECT_EQ(told_[0].report.incomplete_reasons, kHostSilent);
  EXPECT_EQ(told_[0].host_count, 2u);
  EXPECT_EQ(Told(), "e1");
  EXPECT_EQ(source_.open.size(), 1u) << "somebody still waits";
  Pass(30 * kNanosPerMilli);
  EXPECT_EQ(Told(), "e2");
  EXPECT_TRUE(source_.open.empty()) << "nobody does";
}

TEST_F(MeasuredDeskTest, WaitsForMeasurementsThatAreNotThere) {
  Add(1, "measure(\"hx\").flows > 10");
  const EventSpec spec = desk_.Find(1)->spec();
  EXPECT_EQ(desk_.ProblemOf(spec), "waiting: there is no measurement 'hx'");
  Pass(kTenth);
  EXPECT_EQ(Told(), "");
  EXPECT_EQ(desk_.counters().intervals_incomplete, 1u);
  desk_.SetSource(nullptr);
  EXPECT_EQ(desk_.ProblemOf(spec), "waiting: this controller runs no measurements");
  Pass(kTenth);
  Pass(kTenth);
  EXPECT_EQ(desk_.counters().intervals_incomplete, 2u) << "at the deadline";
}

TEST_F(MeasuredDeskTest, EndsReadsWithTheSourceAndWithTheEvent) {
  Add(1, "measure(\"hh\").flows > 10");
  Pass(kTenth);
  source_.Answer(11);
  desk_.Tick();
  Pass(kTenth);
  EXPECT_EQ(source_.open.size(), 1u);
  EXPECT_EQ(Told(), "e1");
  desk_.Remove(1);
  desk_.Tick();
  EXPECT_EQ(Told(), "e1-clear");
  EXPECT_TRUE(source_.open.empty());
  EXPECT_EQ(desk_.counters().reports, 1u);
  Add(2, "measure(\"hh\").flows > 10");
  Pass(kTenth);
  EXPECT_EQ(source_.open.size(), 1u);
  desk_.SetSource(nullptr);
  EXPECT_TRUE(source_.open.empty());
  desk_.Tick();
  EXPECT_EQ(Told(), "");
}

TEST_F(MeasuredDeskTest, ReadsFewAtATime) {
  for (uint32_t id = 1; id <= 20; ++id) {
    Add(id, "measure(\"hh\").s" + std::to_string(id) + " > 10");
  }
  Pass(kTenth);
  for (int i = 0; i < 20; ++i) {
    EXPECT_LE(source_.open.size(), MeasuredDesk::kMaxReads);
    source_.Answer(11);
    desk_.Tick();
  }
  EXPECT_EQ(told_.size(), 20u);
  EXPECT_EQ(source_.most_open, MeasuredDesk::kMaxReads);
}

// Events come and go, hosts answer late or never: every interval that ended while an event was
// there has at most one verdict, in order and by its deadline, from reads of that instant.
TEST_F(MeasuredDeskTest, DecidesEachIntervalOnceAndInTime) {
  std::mt19937_64 random(testing::FirstSeed());
  std::map<uint32_t, Nanos> last_end;
  std::map<uint32_t, Nanos> added;
  uint32_t last_id = 0;
  const uint64_t steps = testing::LastSeed(20000);
  source_.so_far = {Number::Integer(20), {"h1"}, {"h2"}};
  for (uint64_t step = 0; step < steps; ++step) {
    if (random() % 50 == 0 && added.size() < 6) {
      const bool is_slow = random() % 2 == 0;
      Add(++last_id, "measure(\"hh\").s" + std::to_string(random() % 3) + " > 10",
          random() % 2 == 0 ? "deadline: 20ms" : "for: 1", is_slow ? "300ms" : "100ms");
      added[last_id] = clock_.UnixNow();
    }
    if (random() % 100 == 0 && !added.empty()) {
      desk_.Remove(added.begin()->first);
      added.erase(added.begin());
    }
    if (random() % 2 == 0 && !source_.open.empty()) source_.Answer(20);
    Pass(static_cast<Nanos>(random() % 15) * kNanosPerMilli);
    for (const NetworkReport& one : told_) {
      if (one.is_clear) continue;
      const Report& report = one.report;
      const MeasuredEvent* const event = desk_.Find(report.event_id);
      ASSERT_NE(event, nullptr);
      ASSERT_GT(report.end_ns, last_end[report.event_id]) << "step " << step;
      last_end[report.event_id] = report.end_ns;
      ASSERT_GT(report.end_ns, added[report.event_id]);
      // The step before was in time.
      ASSERT_LE(clock_.UnixNow(), report.end_ns + event->deadline_ns() + 15 * kNanosPerMilli);
    }
    told_.clear();
  }
  for (const auto& [id, since] : added) {
    const Nanos interval = desk_.Find(id)->spec().interval_ns();
    const Nanos due = CellOf(clock_.UnixNow() - interval, interval) * interval;
    EXPECT_TRUE(due <= since || last_end[id] >= due) << id;
  }
  EXPECT_GT(desk_.counters().reports, steps / 100);
}

// --- in the event manager ----------------------------------------------------------------------

class MeasuredEventsTest : public EventManagerHostsTest {
 protected:
  MeasuredEventsTest() { manager_->SetMeasuredSource(&source_); }
  ~MeasuredEventsTest() override { manager_->SetMeasuredSource(nullptr); }

  std::string Refused(const std::string& yaml, const Caller& caller = Caller()) {
    const auto checks = manager_->Check(yaml, DocumentFormat::kYaml, "e.yaml", caller);
    return checks.ok() ? "" : checks.message();
  }
  ScriptedSource source_;
};

constexpr char kEvent[] = "- {name: many, event: '*, measure(\"hh\").flows > 10, 100ms'}";

TEST_F(MeasuredEventsTest, AreCheckedAgainstWhatIsInstalled) {
  EXPECT_EQ(Refused(kEvent), "");
  EXPECT_EQ(Refused("- {name: many, event: '*, measure(\"hx\").flows > 10, 100ms'}"),
            "e.yaml:1:27: there is no measurement 'hx'");
  EXPECT_EQ(Refused("- {name: many, event: '*, 1 < measure(\"hh\").slow, 100ms'}"),
            "e.yaml:1:31: too fast");
  EXPECT_EQ(Refused("- {name: many, event: '*, 1 < measure(\"hh\").slow, 1s'}"), "");
  Caller tenant;
  tenant.tenant = tenant.name = "blue";
  EXPECT_EQ(Refused(kEvent, tenant),
            "e.yaml: event 'many' is not for tenants: measurements see the packets of all");
  const auto checks = manager_->Check(kEvent, DocumentFormat::kYaml, "e.yaml", Caller());
  ASSERT_TRUE(checks.ok());
  EXPECT_EQ((*checks)[0].mode, "controller");
  EXPECT_EQ((*checks)[0].reads, std::vector<std::string>{"measure(\"hh\").flows"});
}

TEST_F(MeasuredEventsTest, GoToNoHostAndAreToldAsOthers) {
  Connect(0);
  Put(kEvent);
  Settle();
  EXPECT_EQ(Agent(0).Names(), "");
  EXPECT_EQ(View("many").mode, "controller");
  EXPECT_EQ(View("many").wanted, 0u);
  EXPECT_EQ(View("many").problem, "");
  EXPECT_EQ(manager_->ReadersOf("hh"), std::vector<std::string>{"many"});
  EXPECT_TRUE(manager_->ReadersOf("hx").empty());
  clock_.Advance(kTenth);
  ASSERT_TRUE(RunUntil([&] { return !source_.open.empty(); }));
  source_.Answer(11);
  ASSERT_TRUE(RunUntil([&] { return !told_.rows.empty(); }));
  EXPECT_EQ(told_.rows[0]->event, "many");
  EXPECT_EQ(View("many").counters.reports, 1u);
  EXPECT_EQ(manager_->network_counters().reports, 1u);
  Connect(1);
  Settle();
  EXPECT_EQ(Agent(1).Names(), "");
  HostReport report;  // of what no host decides
  report.report.event_id = View("many").record.id;
  report.report.start_ns = clock_.UnixNow();
  report.report.end_ns = report.report.detected_ns = report.report.start_ns + kTenth;
  report.report.value = report.report.threshold = Number::Integer(5);
  Agent(1).Send(report);
  loop_.RunReady();
  EXPECT_EQ(told_.rows.size(), 1u);
  Enable("many", false);
  ASSERT_TRUE(RunUntil([&] { return told_.rows.size() == 2; }));
  EXPECT_TRUE(told_.rows[1]->is_clear);
  Remove("many");
  EXPECT_TRUE(manager_->ReadersOf("hh").empty());
}

TEST_F(MeasuredEventsTest, AreClearedByTheNextControllerWhenTheyHaveEnded) {
  Put(kEvent);
  clock_.Advance(kTenth);
  ASSERT_TRUE(RunUntil([&] { return !source_.open.empty(); }));
  source_.Answer(11);
  ASSERT_TRUE(RunUntil([&] { return !told_.rows.empty(); }));
  manager_->SetMeasuredSource(nullptr);
  store_.Stop();
  Begin();
  manager_->SetMeasuredSource(&source_);
  loop_.RunReady();
  clock_.Advance(kTenth);
  ASSERT_TRUE(RunUntil([&] { return !source_.open.empty(); }));
  source_.Answer(1);
  ASSERT_TRUE(RunUntil([&] { return told_.rows.size() == 2; }));
  EXPECT_TRUE(told_.rows[1]->is_clear);
}

}  // namespace
}  // namespace trumpet
