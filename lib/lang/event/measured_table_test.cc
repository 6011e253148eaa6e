// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <map>
#include <random>
#include <string>
#include <vector>

#include "lib/base/random_runs_test.h"
#include "lib/lang/event/table_test.h"

namespace trumpet::event_lang {
namespace {

TEST(MeasuredTable, ReadsStatesOfMeasurements) {
  CheckTable(R"table(
*, measure("hh").flows > 10, 100ms
    => *, measure("hh").flows > 10, 100ms
*, measure ( "hh" ) .flows>1KB, 1s
    => *, measure("hh").flows > 1000, 1s
*, measure("a-b_c.d").first_hop.total / measure("hh").total > 10%, none, 1s
    => *, measure("a-b_c.d").first_hop.total / measure("hh").total > 0.1, 1s
*, not (measure("hh").flows > 10 | measure("9").x - -1 < 3 & 1), 1s
    => *, not (measure("hh").flows > 10 or measure("9").x - -1 < 3 and 1), 1s
*, (measure("hh").flows + 2) * 3 % measure("hh").keys = 0, 60s
    => *, (measure("hh").flows + 2) * 3 % measure("hh").keys = 0, 60s
*, measure("hh").and > 10, 1s
    => *, measure("hh").and > 10, 1s
)table");
}

TEST(MeasuredTable, ReadsKeysOfStates) {
  CheckTable(R"table(
*, measure("hh").size("10.0.0.1,10.0.0.2,80,4711,6") > 1MB, 1s
    => *, measure("hh").size("10.0.0.1,10.0.0.2,80,4711,6") > 1000000, 1s
*, measure ( "hh" ) .size ( " 0x0A , 02:00:00:00:00:0a,7 " )>1, 1s
    => *, measure("hh").size("0x0A,02:00:00:00:00:0a,7") > 1, 1s
*, measure("hh").first_hop.size("1") / measure("hh").size("2") % 3 = 1%, 1s
    => *, measure("hh").first_hop.size("1") / measure("hh").size("2") % 3 = 0.01, 1s
*, measure("hh").size("1") > measure("hh").size("2") and measure("hh").size > 1, 1s
    => *, measure("hh").size("1") > measure("hh").size("2") and measure("hh").size > 1, 1s
)table");
}

TEST(MeasuredTable, SaysWhatIsWrongWithKeys) {
  CheckTable(R"table(
*, measure("hh").size() > 1, 1s
    => event:1:23: expected the values of a key in quotes, as in ("10.0.0.1,80"), not ')'
*, measure("hh").size(10.0.0.1) > 1, 1s
    => event:1:27: an address stands in the quotes of a key only, as in measure("hh").size("10.0.0.1")
*, measure("hh").size(10) > 1, 1s
    => event:1:23: expected the values of a key in quotes, as in ("10.0.0.1,80"), not '10'
*, measure("hh").size("") > 1, 1s
    => event:1:24: '' is no value of a key, which is a number or an address
*, measure("hh").size("1,,2") > 1, 1s
    => event:1:26: '' is no value of a key, which is a number or an address
*, measure("hh").size("1, 10.0.0.0/8") > 1, 1s
    => event:1:27: '10.0.0.0/8' is no value of a key, which is a number or an address
*, measure("hh").size("1,2,") > 1, 1s
    => event:1:28: '' is no value of a key, which is a number or an address
*, measure("hh").size("1" > 1), 1s
    => event:1:27: expected ')', not '>'
*, measure("hh").size("1) > 1, 1s
    => event:1:23: '"' is never closed
*, measure("hh").size("1").x > 1, 1s
    => event:1:27: expected an operator, not '.'
)table");
}

TEST(MeasuredTable, SaysWhatIsWrongWithThem) {
  CheckTable(R"table(
*, measure > 1, 1s
    => event:1:4: 'measure' is written as measure("NAME").STATE
*, measured("hh").flows > 1, 1s
    => event:1:4: 'measured' is not an aggregate; did you mean 'measure'?
*, measure(hh).flows > 1, 1s
    => event:1:12: expected the name of a measurement in quotes, as in measure("hh").flows, not 'hh'
*, measure("hh") > 1, 1s
    => event:1:18: expected '.' and a state variable, as in measure("hh").flows, not '>'
*, measure("hh").5 > 1, 1s
    => event:1:17: a number begins with a digit; write 0.5, not .5
*, measure("hh" > 1), 1s
    => event:1:17: expected ')', not '>'
*, measure("") > 1, 1s
    => event:1:12: '' is no name of a measurement, which has letters, digits, '-', '_' and '.'
*, measure("h h").x > 1, 1s
    => event:1:12: 'h h' is no name of a measurement, which has letters, digits, '-', '_' and '.'
*, measure("-h").x > 1, 1s
    => event:1:12: '-h' is no name of a measurement, which has letters, digits, '-', '_' and '.'
*, measure("hh), 1s
    => event:1:12: '"' is never closed
*, 1 > "hh", 1s
    => event:1:8: expected a number, a variable or an aggregate, not '"hh"'
*, "hh, 1s
    => event:1:4: '"' is never closed
)table");
}

TEST(MeasuredTable, AllowsNothingOfPacketsBesideThem) {
  CheckTable(R"table(
vlan=1, measure("hh").flows > 1, 1s
    => event:1:1: an event with measured values is about no packets: its filter is '*'
*, measure("hh").flows > 1, srcIP, 1s
    => event:1:29: an event with measured values is about no packets: it has no granularity
*, measure("hh").flows > 1 and sum(volume) > 1, 1s
    => event:1:32: 'sum' is counted at hosts, and 'measure("hh").flows' is read by the controller; an event has one or the other
*, sum(measure("hh").flows) > 1, 1s
    => event:1:4: 'sum' is counted at hosts, and 'measure("hh").flows' is read by the controller; an event has one or the other
*, measure("hh").flows > 1Mbps, 1s
    => event:1:26: the rate '1Mbps' is one of packets in the interval; measured values are what is held at its end
*, measure("hh").flows > 1, 99ms
    => event:1:29: measured values are read of all hosts: the interval is at least 100ms
)table");
}

std::string YamlError(const std::string& options) {
  const auto events = ParseEventsYaml(
      "- {filter: '*', predicate: measure(\"hh\").flows > 1, time_interval: 1s, " + options + "}",
      "e");
  return events.ok() ? "" : events.message();
}

TEST(MeasuredTable, RefusesOptionsThatAreAboutPackets) {
  EXPECT_EQ(YamlError("for: 3, severity: bad, report_rate: 1, deadline: 1s"), "");
  EXPECT_EQ(YamlError("scope: network, observe: source"), "") << "as it is printed";
  EXPECT_EQ(YamlError("scope: host"),
            "e:1:79: measured values are those of all hosts together; the scope is 'network'");
  EXPECT_EQ(YamlError("observe: all"),
            "e:1:81: 'observe' is about packets; measured values have none");
  EXPECT_EQ(YamlError("max_buckets: 5"),
            "e:1:85: 'max_buckets' is about packets; measured values have none");
  EXPECT_EQ(YamlError("deadline: 1001ms"),
            "e:1:82: an event with measured values waits for hosts for an interval at most");
}

TEST(MeasuredTable, PrintsFilesThatReadBack) {
  const auto events = ParseEventsYaml("- '*, measure(\"hh\").flows > 1, 1s'", "e");
  ASSERT_TRUE(events.ok()) << events.message();
  const auto yaml = ParseEventsYaml(PrintEventsYaml(*events), "yaml");
  ASSERT_TRUE(yaml.ok()) << yaml.message();
  EXPECT_TRUE(SameParts((*events)[0], (*yaml)[0]));
  const auto json = ParseEventsJson("[" + PrintEventJson((*events)[0]) + "]", "json");
  ASSERT_TRUE(json.ok()) << json.message();
  EXPECT_TRUE(SameParts((*events)[0], (*json)[0]));
}

TEST(MeasuredTable, TellsTheStatesOfAnEventEachOnce) {
  const auto event = ParseEventLine(
      "*, measure(\"b\").x > measure(\"a\").y and measure(\"b\").x > measure(\"a\").x, 1s", "e");
  ASSERT_TRUE(event.ok()) << event.message();
  const std::vector<MeasuredState> wanted = {{"a", "x"}, {"a", "y"}, {"b", "x"}};
  EXPECT_EQ(MeasuredStatesOf(event->predicate), wanted);
  const auto keys = ParseEventLine(
      "*, measure(\"a\").y(\"2\") > measure(\"a\").y + measure(\"a\").y(\"1, 3\"), 1s", "e");
  ASSERT_TRUE(keys.ok()) << keys.message();
  const std::vector<MeasuredState> of_keys = {{"a", "y"}, {"a", "y", "1,3"}, {"a", "y", "2"}};
  EXPECT_EQ(MeasuredStatesOf(keys->predicate), of_keys);
}

TEST(MeasuredTable, TellsWhereAStateIsThatCannotBeRead) {
  const MeasuredCheck check = [](const MeasuredState& state, uint32_t interval_ms) {
    return state.state == "x" && interval_ms == 500 ? std::string("no x") : std::string();
  };
  const char line[] = "*, measure(\"a\").y > 1 or 1 < measure(\"a\").x, 500ms";
  EXPECT_EQ(ParseEventLine(line, "e", check).message(), "e:1:30: no x");
  EXPECT_TRUE(ParseEventLine("*, measure(\"a\").x > 1, 1s", "e", check).ok());
  EXPECT_EQ(
      ParseEventsYaml("- name: one\n  event: '" + std::string(line) + "'", "e", check).message(),
      "e:2:40: no x");
  EXPECT_EQ(ParseEventLine(line, "e", RefuseMeasured).message(),
            "e:1:4: measured values are read by the controller, of all hosts: add the event there");
  EXPECT_TRUE(ParseEventLine("*, sum(bytes) > 1, 1s", "e", RefuseMeasured).ok());
}

// Random predicates: canonical forms read back as they are, and both are computed alike.
class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed) {}

  std::string Sum(int depth) {
    switch (depth == 0 ? random_() % 2 : random_() % 6) {
      case 0:
        return std::to_string(random_() % 5);
      case 1:
        return "measure(\"m" + std::to_string(random_() % 2) + "\").s" +
               std::to_string(random_() % 3) + Key();
      case 2:
        return "-" + Inner(depth);
      default: {
        const char* const operators[] = {" + ", " - ", " * ", " / ", "%"};
        return Inner(depth) + operators[random_() % 5] + Inner(depth);
      }
    }
  }
  std::string Truth(int depth) {
    switch (depth == 0 ? 0 : random_() % 4) {
      case 1:
        return "not (" + Truth(depth - 1) + ")";
      case 2:
        return "(" + Truth(depth - 1) + ") and (" + Truth(depth - 1) + ")";
      case 3:
        return "(" + Truth(depth - 1) + ") or (" + Truth(depth - 1) + ")";
      default: {
        const char* const operators[] = {" > ", " >= ", " < ", " <= ", " = ", " != "};
        return Sum(2) + operators[random_() % 6] + Sum(2);
      }
    }
  }

 private:
  std::string Key() {
    if (random_() % 2 == 0) return "";
    std::string key = std::to_string(random_() % 2);
    if (random_() % 2 == 0)
      key += (random_() % 2 == 0 ? "," : " , ") + std::to_string(random_() % 2);
    return "(\"" + key + "\")";
  }
  std::string Inner(int depth) { return "(" + Sum(depth - 1) + ")"; }
  std::mt19937_64 random_;
};

TEST(MeasuredTable, PrintsWhatIsComputedAlike) {
  size_t read = 0;
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(3000); ++seed) {
    const std::string line = "*, " + Writer(seed).Truth(3) + ", 1s";
    const auto event = ParseEventLine(line, "e");
    ASSERT_TRUE(event.ok()) << event.message() << "\n" << line;
    const auto again = ParseEventLine(Canonical(line), "e");
    ASSERT_TRUE(again.ok()) << "seed " << seed;
    read += MeasuredStatesOf(event->predicate).empty() ? 0 : 1;
    std::mt19937_64 random(seed);
    for (int i = 0; i < 5; ++i) {
      std::map<MeasuredState, Number> values;
      for (const MeasuredState& state : MeasuredStatesOf(event->predicate)) {
        if (random() % 4 != 0) values[state] = Number::Integer(static_cast<int64_t>(random() % 6));
      }
      const auto leaf = [&](const Expr& expr) { return values[expr.measured]; };
      EXPECT_TRUE(Evaluate(event->predicate, leaf) == Evaluate(again->predicate, leaf)) << line;
    }
  }
  EXPECT_GT(read, testing::LastSeed(3000) / 2);
}

}  // namespace
}  // namespace trumpet::event_lang
