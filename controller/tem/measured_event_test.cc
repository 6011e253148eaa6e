// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/tem/measured_event.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/random_runs_test.h"
#include "lib/lang/event/event_language.h"

namespace trumpet {
namespace {

constexpr Nanos kLength = 100 * kNanosPerMilli;
constexpr Nanos kBegin = 1000 * kLength;

EventSpec SpecOf(const std::string& predicate, const std::string& options = "for: 1") {
  const auto events =
      ParseEventsYaml("- {name: e, filter: '*', time_interval: 100ms, predicate: '" + predicate +
                          "', " + options + "}",
                      "e");
  EXPECT_TRUE(events.ok()) << events.message();
  return (*events)[0];
}

MeasuredFacts Flows(int64_t value) {
  MeasuredFacts facts;
  facts.values[{"hh", "flows"}] = Number::Integer(value);
  facts.host_count = 2;
  return facts;
}

// Runs an event interval by interval.
class Course {
 public:
  explicit Course(EventSpec spec) : event_(std::move(spec), kBegin) {}

  // "" or what was told: "report", "clear", as it ends interval `number`, counted from 0.
  std::string At(int64_t number, const MeasuredFacts& facts) {
    const Nanos now = kBegin + (number + 1) * kLength;
    EXPECT_LE(event_.NextEnd(), now);
    EXPECT_EQ(event_.BeginInterval(now), now);
    reports.clear();
    event_.Decide(facts, now + 1, &reports);
    if (reports.empty()) return "";
    EXPECT_EQ(reports.size(), 1u);
    EXPECT_EQ(reports[0].report.start_ns, kBegin + number * kLength);
    EXPECT_EQ(reports[0].report.end_ns, now);
    return reports[0].is_clear ? "clear" : "report";
  }
  MeasuredEvent& event() { return event_; }
  std::vector<NetworkReport> reports;

 private:
  MeasuredEvent event_;
};

constexpr char kMany[] = "measure(\"hh\").flows > 10";

TEST(MeasuredEvent, TellsBothSidesOfTheComparisonWhenItHolds) {
  Course course(SpecOf(kMany, "severity: bad"));
  EXPECT_EQ(course.At(0, Flows(10)), "");
  EXPECT_EQ(course.At(1, Flows(11)), "report");
  EXPECT_EQ(ToJsonLine(course.reports[0]),
            "{\"event\":\"e\",\"bucket\":{},\"start_ns\":100100000000,\"end_ns\":100200000000,"
            "\"value\":11,\"threshold\":10,\"complete\":true,\"severity\":\"bad\","
            "\"detected_ns\":100200000001,\"host_count\":2,\"hosts\":[],\"skew_ns\":0}");
  EXPECT_EQ(course.At(2, Flows(12)), "report") << "at every interval";
  EXPECT_EQ(course.At(3, Flows(3)), "clear");
  EXPECT_EQ(course.At(4, Flows(3)), "");
  EXPECT_EQ(course.event().counters().reports, 2u);
  EXPECT_EQ(course.event().counters().clears, 1u);
  EXPECT_EQ(course.event().counters().intervals_decided, 5u);
}

TEST(MeasuredEvent, NamesHostsThatAreMissing) {
  Course course(SpecOf(kMany));
  MeasuredFacts facts = Flows(11);
  facts.is_complete = false;
  facts.silent = {"h2", "h1", "h2"};
  EXPECT_EQ(course.At(0, facts), "report");
  EXPECT_FALSE(course.reports[0].report.is_complete());
  EXPECT_EQ(course.reports[0].silent_hosts, (std::vector<std::string>{"h1", "h2"}));
  for (int i = 0; i < 100; ++i) facts.silent.push_back("host" + std::to_string(i));
  EXPECT_EQ(course.At(1, facts), "report");
  EXPECT_EQ(course.reports[0].silent_hosts.size(), 64u);
  EXPECT_EQ(course.reports[0].silent_omitted, 38u);
  EXPECT_EQ(course.event().counters().intervals_incomplete, 2u);
}

TEST(MeasuredEvent, IsNotTrueWhenNobodyHasAnswered) {
  MeasuredFacts nobody;
  nobody.is_complete = false;
  for (const char* predicate :
       {kMany, "not (measure(\"hh\").flows > 10)", "1 or measure(\"hh\").flows > 10"}) {
    Course course(SpecOf(predicate));
    EXPECT_EQ(course.At(0, nobody), "") << predicate;
  }
  Course course(SpecOf(kMany));
  EXPECT_EQ(course.At(0, Flows(11)), "report");
  EXPECT_EQ(course.At(1, nobody), "clear");
  EXPECT_EQ(course.reports[0].report.incomplete_reasons, kHostSilent);
}

TEST(MeasuredEvent, BreaksARunAtAnIntervalThatNobodyRead) {
  Course course(SpecOf(kMany, "for: 3"));
  EXPECT_EQ(course.At(0, Flows(11)), "");
  EXPECT_EQ(course.At(1, Flows(11)), "");
  EXPECT_EQ(course.At(3, Flows(11)), "");
  EXPECT_EQ(course.At(4, Flows(11)), "");
  EXPECT_EQ(course.At(5, Flows(11)), "report");
  EXPECT_EQ(course.At(7, Flows(11)), "clear");
}

TEST(MeasuredEvent, WithholdsReportsBeyondItsRate) {
  Course course(SpecOf(kMany, "report_rate: 1"));
  EXPECT_EQ(course.At(0, Flows(11)), "report");
  for (int i = 1; i < 10; ++i) EXPECT_EQ(course.At(i, Flows(11)), "") << i;
  EXPECT_EQ(course.At(10, Flows(11)), "report");
  EXPECT_EQ(course.reports[0].suppressed, 9u);
  EXPECT_EQ(course.At(11, Flows(0)), "clear") << "ends are always told";
}

TEST(MeasuredEvent, ClearsWhatWasToldOfWhenItEnds) {
  Course course(SpecOf(kMany));
  course.event().TellEnd(kBegin, &course.reports);
  EXPECT_TRUE(course.reports.empty());
  EXPECT_EQ(course.At(0, Flows(11)), "report");
  course.reports.clear();
  course.event().TellEnd(kBegin + 2 * kLength, &course.reports);
  ASSERT_EQ(course.reports.size(), 1u);
  EXPECT_TRUE(course.reports[0].is_clear);
  EXPECT_EQ(course.reports[0].report.incomplete_reasons, kEventEnded);
  EXPECT_EQ(course.reports[0].report.start_ns, kBegin + kLength);
}

TEST(MeasuredEvent, GoesOnWithARunThatAControllerBeforeHasToldOf) {
  MeasuredFacts nobody;
  nobody.is_complete = false;
  Course course(SpecOf(kMany, "for: 2"));
  course.event().Inherit(kBegin + 5 * kLength);
  EXPECT_EQ(course.At(0, nobody), "") << "hosts are not back";
  EXPECT_EQ(course.At(1, Flows(11)), "") << "it may have gone on";
  EXPECT_EQ(course.At(2, Flows(11)), "report");
  EXPECT_EQ(course.At(3, Flows(1)), "clear");
  EXPECT_TRUE(course.reports[0].report.is_complete());

  Course over(SpecOf(kMany, "for: 2"));
  over.event().Inherit(kBegin + 5 * kLength);
  EXPECT_EQ(over.At(0, Flows(1)), "clear");
  EXPECT_EQ(over.reports[0].report.incomplete_reasons, kMonitorInterrupted);

  Course away(SpecOf(kMany, "for: 2"));
  away.event().Inherit(kBegin + 2 * kLength);
  EXPECT_EQ(away.At(0, nobody), "");
  EXPECT_EQ(away.At(1, nobody), "");
  EXPECT_EQ(away.At(2, nobody), "clear") << "nobody came back in time";
}

// --- against a slow evaluator ------------------------------------------------------------------

using Value = std::optional<double>;
using Values = std::map<std::string, Value>;

// A predicate as text, and what it is for values; every step in doubles, which are exact here.
struct Term {
  std::string text;
  std::function<Value(const Values&)> value;
};

class TermMaker {
 public:
  explicit TermMaker(uint64_t seed) : random_(seed) {}

  Term Sum(int depth) {
    if (depth == 0 || random_() % 3 == 0) return Leaf();
    const Term a = Sum(depth - 1);
    const Term b = Sum(depth - 1);
    const char op = "+-*/"[random_() % 4];
    return {"(" + a.text + ") " + op + " (" + b.text + ")", [=](const Values& values) -> Value {
              const Value x = a.value(values);
              const Value y = b.value(values);
              if (!x || !y || (op == '/' && *y == 0)) return std::nullopt;
              return op == '+' ? *x + *y : op == '-' ? *x - *y : op == '*' ? *x * *y : *x / *y;
            }};
  }
  Term Truth(int depth) {
    if (depth == 0 || random_() % 3 == 0) return Comparison();
    const Term a = Truth(depth - 1);
    if (random_() % 3 == 0) {
      return {"not (" + a.text + ")", [=](const Values& values) -> Value {
                const Value x = a.value(values);
                if (!x) return x;
                return *x == 0 ? 1 : 0;
              }};
    }
    const Term b = Truth(depth - 1);
    const bool is_and = random_() % 2 == 0;
    return {"(" + a.text + ") " + (is_and ? "and" : "or") + " (" + b.text + ")",
            [=](const Values& values) -> Value {
              const Value x = a.value(values);
              const Value y = b.value(values);
              const double decides = is_and ? 0 : 1;
              if ((x && *x == decides) || (y && *y == decides)) return decides;
              return x && y ? Value(1 - decides) : std::nullopt;
            }};
  }

 private:
  Term Leaf() {
    if (random_() % 2 == 0) {
      const auto number = static_cast<double>(random_() % 4);
      return {std::to_string(static_cast<int>(number)),
              [number](const Values&) -> Value { return number; }};
    }
    const std::string state = "s" + std::to_string(random_() % 3);
    return {"measure(\"hh\")." + state, [state](const Values& values) { return values.at(state); }};
  }
  Term Comparison() {
    const Term a = Sum(2);
    const Term b = Sum(2);
    const bool is_less = random_() % 2 == 0;
    return {a.text + (is_less ? " < " : " >= ") + b.text, [=](const Values& values) -> Value {
              const Value x = a.value(values);
              const Value y = b.value(values);
              if (!x || !y) return std::nullopt;
              return (*x < *y) == is_less ? 1 : 0;
            }};
  }
  std::mt19937_64 random_;
};

struct Step {
  bool is_read = false;
  bool is_true = false;
};

// What is told at the last of these intervals, from all of them.
std::string TellSlowly(const std::vector<Step>& steps, size_t for_count, bool* was_reported) {
  size_t run = 0;
  while (run < steps.size() && steps[steps.size() - 1 - run].is_read &&
         steps[steps.size() - 1 - run].is_true) {
    ++run;
  }
  const bool reports = run >= for_count;
  const bool clears = *was_reported && !reports;
  *was_reported = reports;
  return reports ? "report" : clears ? "clear" : "";
}

TEST(MeasuredEvent, TellsWhatASlowEvaluatorTells) {
  size_t reports = 0;
  size_t clears = 0;
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(4000); ++seed) {
    std::mt19937_64 random(seed);
    const Term term = TermMaker(seed).Truth(3);
    if (term.text.find("measure") == std::string::npos) continue;
    const size_t for_count = 1 + random() % 3;
    Course course(SpecOf(term.text, "for: " + std::to_string(for_count)));
    std::vector<Step> steps;
    bool was_reported = false;
    for (int64_t number = 0; number < 20; ++number) {
      steps.emplace_back();
      if (random() % 10 == 0 && number > 0) continue;  // nobody came to read it
      Values values;
      MeasuredFacts facts;
      for (const char* state : {"s0", "s1", "s2"}) {
        values[state] = random() % 8 == 0 ? Value() : Value(static_cast<double>(random() % 4));
        if (values[state]) {
          facts.values[{"hh", state}] = Number::Integer(static_cast<int64_t>(*values[state]));
        }
      }
      const Value truth = term.value(values);
      steps.back() = {true, truth && *truth != 0 && !facts.values.empty()};
      const std::string wanted = TellSlowly(steps, for_count, &was_reported);
      ASSERT_EQ(course.At(number, facts), wanted)
          << "seed " << seed << ", interval " << number << ": " << term.text;
      reports += wanted == "report";
      clears += wanted == "clear";
    }
  }
  EXPECT_GT(reports, testing::LastSeed(4000));
  EXPECT_GT(clears, testing::LastSeed(4000) / 4);
}

}  // namespace
}  // namespace trumpet
