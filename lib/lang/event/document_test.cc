// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// YAML and JSON: whole files as input, their events or their errors as output.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "lib/lang/event/event_language.h"
#include "lib/lang/event/table_test.h"

namespace trumpet::event_lang {
namespace {

std::string YamlError(const std::string& text) {
  const auto events = ParseEventsYaml(text, "e.yaml");
  return events.ok() ? "no error" : events.message();
}

std::string JsonError(const std::string& text) {
  const auto events = ParseEventsJson(text, "e.json");
  return events.ok() ? "no error" : events.message();
}

TEST(Yaml, ReadsAllThreeKindsOfItems) {
  const auto events = ParseEventsYaml(R"(
events:
  - name: heavy
    filter: dstIP=10.0.128.0/24
    predicate: sum(volume) > 125KB
    flow_granularity: 5-tuple
    time_interval: 10ms
    scope: host
    observe: destination
    for: 3
    severity: warning
    max_buckets: 100
    deadline: 20ms
    report_rate: 50
  - name: line
    event: port:80, sum(bytes)>5, 10ms
  - "*, sum(is_lost) > 10%, 5-tuple, 1s"
)",
                                      "e.yaml");
  ASSERT_TRUE(events.ok()) << events.message();
  ASSERT_EQ(events->size(), 3u);
  const EventSpec& heavy = (*events)[0];
  EXPECT_EQ(heavy.name, "heavy");
  EXPECT_EQ(PrintEventLine(heavy), "dstIP=10.0.128.0/24, sum(volume) > 125000, 5-tuple, 10ms");
  EXPECT_EQ(heavy.scope, Scope::kHost);
  EXPECT_EQ(heavy.observe, Observe::kDestination);
  EXPECT_EQ(heavy.for_count, 3u);
  EXPECT_EQ(heavy.severity, "warning");
  EXPECT_EQ(heavy.max_buckets, 100u);
  EXPECT_EQ(heavy.deadline_ms, 20u);
  EXPECT_EQ(heavy.report_rate, 50u);
  EXPECT_EQ((*events)[1].name, "line");
  EXPECT_EQ(PrintEventLine((*events)[1]), "dstPort=80, sum(bytes) > 5, 10ms");
  EXPECT_EQ((*events)[2].name, "event-3");
}

TEST(Yaml, GivesDefaults) {
  const auto events = ParseEventsYaml("- '*, 1, 1ms'", "e.yaml");
  ASSERT_TRUE(events.ok()) << events.message();
  const EventSpec& event = (*events)[0];
  EXPECT_EQ(event.name, "event-1");
  EXPECT_EQ(event.scope, Scope::kNetwork);
  EXPECT_EQ(event.observe, Observe::kSource);
  EXPECT_EQ(event.for_count, 1u);
  EXPECT_EQ(event.max_buckets, 0u);  // the host decides
  EXPECT_EQ(event.deadline_ms, 0u);  // one interval
  EXPECT_EQ(event.report_rate, 0u);  // no limit
  EXPECT_EQ(event.severity, "");
  EXPECT_TRUE(event.granularity.is_none());
}

TEST(Yaml, TakesAnEmptyGranularityAsNone) {
  for (const char* value : {"", " none", " ''", " null", " ~"}) {
    const auto events =
        ParseEventsYaml("- filter: '*'\n  predicate: 1\n  time_interval: 1ms\n  flow_granularity:" +
                            std::string(value) + "\n",
                        "e.yaml");
    ASSERT_TRUE(events.ok()) << events.message();
    EXPECT_TRUE((*events)[0].granularity.is_none());
  }
}

TEST(Yaml, TakesAnEmptyListOfEvents) {
  const auto events = ParseEventsYaml("events: []\n", "e.yaml");
  ASSERT_TRUE(events.ok()) << events.message();
  EXPECT_TRUE(events->empty());
}

TEST(Yaml, ReadsPastAByteOrderMarkAndCarriageReturns) {
  EXPECT_EQ(YamlError("\xef\xbb\xbf"
                      "events:\r\n  - '*, 1, 1ms'\r\n"),
            "no error");
  EXPECT_EQ(YamlError("\xef\xbb\xbf"
                      "events:\r\n  - '*, x, 1ms'\r\n"),
            "e.yaml:2:9: 'x' is not a packet variable");
}

TEST(Yaml, PointsIntoTheFile) {
  EXPECT_EQ(YamlError("events:\n"
                      "  - name: a\n"
                      "    filter: '*'\n"
                      "    predicate: sum(bytez) > 3\n"
                      "    time_interval: 10ms\n"),
            "e.yaml:4:20: 'bytez' is not a packet variable; did you mean 'bytes'?");
}

TEST(Yaml, PointsIntoQuotesAndFoldedLines) {
  EXPECT_EQ(YamlError("- \"*, sum(by\\x74ez) > 3, 1ms\""),
            "e.yaml:1:11: 'bytez' is not a packet variable; did you mean 'bytes'?");
  EXPECT_EQ(YamlError("- '*,\n\n   1, oops, 1ms'"), "e.yaml:3:7: 'oops' is not a packet field");
  EXPECT_EQ(YamlError("- event: >\n    *, 1,\n    oops,\n    1ms\n"),
            "e.yaml:3:5: 'oops' is not a packet field");
  EXPECT_EQ(YamlError("- {filter: \"*\", predicate: 1 +, time_interval: 1ms}"),
            "e.yaml:1:31: expected a number, a variable or an aggregate, not the end of the "
            "predicate");
}

TEST(Yaml, NamesOneErrorForEachWrongEvent) {
  EXPECT_EQ(YamlError("- '*, 1, 1ms'\n- '*, x, 1ms'\n- '*, 1, 1'\n"),
            "e.yaml:2:7: 'x' is not a packet variable\n"
            "e.yaml:3:10: '1' is not a time interval; write it with ns, us, ms or s, as in 10ms");
}

TEST(Yaml, StopsNamingErrorsAfterTwenty) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += "- x\n";
  const std::string errors = YamlError(text);
  EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 20);
  EXPECT_NE(errors.find("e.yaml: 10 more errors"), std::string::npos);
}

TEST(Yaml, RefusesUnknownRepeatedAndMissingKeys) {
  EXPECT_EQ(YamlError("- naem: x\n"),
            "e.yaml:1:3: 'naem' is not a key of an event; did you mean 'name'?");
  EXPECT_EQ(YamlError("- filter: '*'\n  filter: '*'\n"),
            "e.yaml:2:3: 'filter' stands twice in this event");
  EXPECT_EQ(YamlError("- filter: '*'\n  time_interval: 1ms\n"),
            "e.yaml:1:3: this event has no 'predicate'");
  EXPECT_EQ(YamlError("- event: '*, 1, 1ms'\n  filter: '*'\n"),
            "e.yaml:2:11: 'filter' cannot stand beside 'event'");
  EXPECT_EQ(YamlError("event:\n  - x\n"),
            "e.yaml:1:1: 'event' is not a key here; only 'events' is; did you mean 'events'?");
  EXPECT_EQ(YamlError("events: []\nevents: []\n"), "e.yaml:2:1: 'events' stands twice");
}

TEST(Yaml, ChecksOptions) {
  const auto option = [](const std::string& text) {
    return YamlError("- event: '*, 1, 1ms'\n  " + text + "\n");
  };
  EXPECT_EQ(option("for: 0"),
            "e.yaml:2:8: 'for' is '0'; it takes a whole number from 1 to 4294967295");
  EXPECT_EQ(option("for: 4294967296"),
            "e.yaml:2:8: 'for' is '4294967296'; it takes a whole number from 1 to 4294967295");
  EXPECT_EQ(option("for: 1.5"),
            "e.yaml:2:8: 'for' is '1.5'; it takes a whole number from 1 to 4294967295");
  EXPECT_EQ(option("for: [1]"),
            "e.yaml:2:8: 'for' is a list; it takes a whole number from 1 to 4294967295");
  EXPECT_EQ(option("max_buckets: -1"),
            "e.yaml:2:16: 'max_buckets' is '-1'; it takes a whole number from 1 to 16777216");
  EXPECT_EQ(option("report_rate: 0"),
            "e.yaml:2:16: 'report_rate' is '0'; it takes a whole number from 1 to 1000000");
  EXPECT_EQ(option("deadline: 1500us"),
            "e.yaml:2:13: 'deadline' is '1500us'; it takes whole milliseconds from 1ms to one day "
            "(86400s)");
  EXPECT_EQ(option("deadline: [1ms]"),
            "e.yaml:2:13: 'deadline' is a list; it takes whole milliseconds from 1ms to one day "
            "(86400s)");
  EXPECT_EQ(option("scope: hosts"),
            "e.yaml:2:10: 'scope' is 'hosts'; it takes network or host; did you mean 'host'?");
  EXPECT_EQ(option("observe: sink"),
            "e.yaml:2:12: 'observe' is 'sink'; it takes source, destination or all");
  EXPECT_EQ(option("name: ''"), "e.yaml:2:9: 'name' must be a text, not empty");
  EXPECT_EQ(option("name: {a: b}"), "e.yaml:2:9: 'name' must be a text, not empty");
  EXPECT_EQ(option("name: \"a\\nb\""), "e.yaml:2:9: 'name' holds a control character");
  EXPECT_EQ(option("severity: " + std::string(256, 'x')),
            "e.yaml:2:13: 'severity' is longer than 255 bytes");
}

TEST(Yaml, PointsToEmptyValues) {
  const std::string empty = "'filter' is empty; it must be a text";
  const std::string rest = "  predicate: 1\n  time_interval: 1ms\n";
  EXPECT_EQ(YamlError("- filter:\n" + rest), "e.yaml:1:10: " + empty);
  EXPECT_EQ(YamlError("- filter:  # : none\n\n  # \"still\" none\n" + rest),
            "e.yaml:1:10: " + empty);
  EXPECT_EQ(YamlError("-\n" + rest + "  filter: \r\n  nullable: x\n"),
            "e.yaml:5:3: 'nullable' is not a key of an event");
  EXPECT_EQ(YamlError("-\n" + rest + "  filter: \r\n  # end"), "e.yaml:4:10: " + empty);
  EXPECT_EQ(YamlError("-\n" + rest + "  filter: ~\n"), "e.yaml:4:11: " + empty);
  EXPECT_EQ(YamlError("- {name: \"a # b\", filter: , predicate: 1, time_interval: 1ms}"),
            "e.yaml:1:26: " + empty);
  EXPECT_EQ(YamlError("- event:\n- '*, x, 1ms'\n"),
            "e.yaml:1:9: 'event' is empty; it must be a line of text\n"
            "e.yaml:2:7: 'x' is not a packet variable");
  EXPECT_EQ(YamlError("- event: '*, 1, 1ms'\n  name:\n"),
            "e.yaml:2:8: 'name' is empty; it must be a text, not empty");
  EXPECT_EQ(YamlError("- event: '*, 1, 1ms'\n  for:\n  name: a\n"),
            "e.yaml:2:7: 'for' is empty; it takes a whole number from 1 to 4294967295");
  EXPECT_EQ(YamlError("-\n- x: 1\n"),
            "e.yaml:1:2: an event is a map of keys or a line of text\n"
            "e.yaml:2:3: 'x' is not a key of an event");
  EXPECT_EQ(YamlError("events:\n"), "e.yaml:1:8: 'events' is empty; it must be a list");
  EXPECT_EQ(YamlError("- filter: 1\n  : 2\n"), "e.yaml:2:3: '' is not a key of an event");
  EXPECT_EQ(YamlError("~"),
            "e.yaml:1:1: expected a map with the key 'events', or a list of events");
}

TEST(Yaml, WantsUniqueNames) {
  EXPECT_EQ(YamlError("- {name: a, event: '*, 1, 1ms'}\n- {name: a, event: '*, 1, 1ms'}\n"),
            "e.yaml:2:10: the name 'a' is taken by event 1 of the file");
  EXPECT_EQ(YamlError("- {name: event-2, event: '*, 1, 1ms'}\n- '*, 1, 1ms'\n"),
            "e.yaml:2:3: the name 'event-2' is taken by event 1 of the file");
}

TEST(Yaml, RefusesWhatIsNotAListOfEvents) {
  const std::string expected = ": expected a map with the key 'events', or a list of events";
  EXPECT_EQ(YamlError("hello"), "e.yaml:1:1" + expected);
  EXPECT_EQ(YamlError("{}"), "e.yaml:1:1" + expected);
  EXPECT_EQ(YamlError("events: 3"), "e.yaml:1:9: 'events' must be a list");
  EXPECT_EQ(YamlError("- [a]"), "e.yaml:1:3: an event is a map of keys or a line of text");
  EXPECT_EQ(YamlError(""), "e.yaml:1:1: the file is empty");
  EXPECT_EQ(YamlError("# nothing\n"), "e.yaml:1:1: the file is empty");
  EXPECT_EQ(YamlError("[]\n---\n[]\n"), "e.yaml:2:1: the file holds more than one YAML document");
}

TEST(Yaml, RefusesAnchorsAliasesAndTags) {
  EXPECT_EQ(YamlError("- &a x\n- *a\n"), "e.yaml:1:3: YAML anchors are not accepted here");
  EXPECT_EQ(YamlError("- !!str x\n"), "e.yaml:1:3: YAML tags are not accepted here");
  EXPECT_EQ(YamlError("- filter: *\n"),
            "e.yaml:1:12: not valid YAML: alias not found after * (quote a text that begins with "
            "'*')");
  EXPECT_NE(YamlError("- *abc\n").find("quote a text that begins with '*'"), std::string::npos);
}

TEST(Yaml, ExplainsBadSyntaxWithItsPlace) {
  for (const char* quote : {"'", "\""}) {
    for (const char* end : {"", "\n", "  \n\n"}) {
      EXPECT_NE(YamlError("- " + std::string(quote) + "*, 1, 1ms" + end).find("not valid YAML"),
                std::string::npos)
          << quote << end;
    }
  }
  EXPECT_NE(YamlError("a: b: c\n").find("e.yaml:1:"), std::string::npos);
}

TEST(Yaml, RefusesHostileFiles) {
  EXPECT_EQ(YamlError(std::string(1024 * 1024 + 1, ' ')),
            "e.yaml:1:1: the file is longer than the 1048576 bytes that are allowed");
  EXPECT_EQ(YamlError("a\n  \xff"), "e.yaml:2:3: the file is not UTF-8 here");
  EXPECT_EQ(YamlError(std::string("a\0b", 3)), "e.yaml:1:2: the file holds a zero byte here");
  EXPECT_NE(YamlError(std::string(1000000, '[')).find("nested too deep"), std::string::npos);
  std::string block;
  for (int i = 0; i < 1000; ++i) block += std::string(static_cast<size_t>(i), ' ') + "a:\n";
  EXPECT_NE(YamlError(block).find("nested too deep"), std::string::npos);
}

TEST(Yaml, PrintsWhatItReadsBack) {
  const auto events = ParseEventsYaml(R"(
- name: 'quotes " and \ and é'
  event: "port:80, sum(is_lost) > 10%, (srcIP/24 and dstIP), 1500ms"
  severity: ": # x"
  scope: host
  observe: all
  for: 7
  max_buckets: 3
  deadline: 2500ms
  report_rate: 1000000
- "*, 1, 1ms"
)",
                                      "e.yaml");
  ASSERT_TRUE(events.ok()) << events.message();
  const std::string printed = PrintEventsYaml(*events);
  const auto again = ParseEventsYaml(printed, "printed");
  ASSERT_TRUE(again.ok()) << again.message() << "\n" << printed;
  ASSERT_EQ(again->size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(SameParts((*events)[i], (*again)[i])) << printed;
    EXPECT_EQ((*events)[i].name, (*again)[i].name);
    EXPECT_EQ((*events)[i].severity, (*again)[i].severity);
    EXPECT_EQ((*events)[i].scope, (*again)[i].scope);
    EXPECT_EQ((*events)[i].observe, (*again)[i].observe);
    EXPECT_EQ((*events)[i].for_count, (*again)[i].for_count);
    EXPECT_EQ((*events)[i].max_buckets, (*again)[i].max_buckets);
    EXPECT_EQ((*events)[i].deadline_ms, (*again)[i].deadline_ms);
    EXPECT_EQ((*events)[i].report_rate, (*again)[i].report_rate);
    const auto from_json = ParseEventsJson("[" + PrintEventJson((*events)[i]) + "]", "json");
    ASSERT_TRUE(from_json.ok()) << from_json.message();
    EXPECT_EQ(PrintEventsYaml(*from_json), PrintEventsYaml({(*events)[i]}));
  }
  EXPECT_EQ(PrintEventsYaml(*again), printed);
}

TEST(Json, PrintsOneEventAsItsFilesHaveIt) {
  const auto events = ParseEventsYaml(
      "- {name: 'a \"b\"', event: 'port:80, sum(bytes)>1KB, 20ms', deadline: 1s}", "e");
  ASSERT_TRUE(events.ok()) << events.message();
  EXPECT_EQ(PrintEventJson((*events)[0]),
            R"({"name": "a \"b\"", "filter": "dstPort=80", "predicate": "sum(bytes) > 1000", )"
            R"("flow_granularity": "none", "time_interval": "20ms", "for": 1, "scope": "network", )"
            R"("observe": "source", "deadline": "1s"})");
}

TEST(Yaml, PrintsNoEventsAsAnEmptyList) { EXPECT_EQ(PrintEventsYaml({}), "events: []\n"); }

TEST(Json, ReadsTheSameKeys) {
  const auto events = ParseEventsJson(
      R"({"events": [{"name": "heavy", "filter": "port:80", "predicate": "sum(bytes) > 1KB",
          "flow_granularity": "5-tuple", "time_interval": "10ms", "for": 2, "scope": "host"},
          {"event": "*, 1, 1ms", "flow_granularity_": null}]})",
      "e.json");
  EXPECT_EQ(events.message(),
            "e.json:3:34: 'flow_granularity_' is not a key of an event; did you mean "
            "'flow_granularity'?");
  const auto good = ParseEventsJson(
      R"([{"filter": "port:80", "predicate": "1", "flow_granularity": null,
           "time_interval": "10ms", "for": 2}, "*, 1, 1ms"])",
      "e.json");
  ASSERT_TRUE(good.ok()) << good.message();
  EXPECT_EQ((*good)[0].for_count, 2u);
  EXPECT_EQ((*good)[1].name, "event-2");
}

TEST(Json, PointsIntoTheFile) {
  EXPECT_EQ(JsonError("{\"events\":[\n {\"event\": \"*, \\u0031 + \\\"x\\\", 1ms\"}]}"),
            "e.json:2:25: expected a number, a variable or an aggregate, not '\"x\"'");
  EXPECT_EQ(JsonError("[{\"event\": \"*, 1, 1ms\", \"for\":  -5}]"),
            "e.json:1:33: 'for' is '-5'; it takes a whole number from 1 to 4294967295");
  EXPECT_EQ(JsonError("[{\"event\": \"*, 1, 1ms\", \"for\": true}]"),
            "e.json:1:32: 'for' is 'true'; it takes a whole number from 1 to 4294967295");
  EXPECT_EQ(JsonError("[\"*, 1, 1ms\", 5]"),
            "e.json:1:15: an event is a map of keys or a line of text");
}

TEST(Files, AreJsonByTheirName) {
  const std::string text = R"([{"name": "\ud83d\ude00", "event": "*, sum(bytes)>0, 1ms"}])";
  const auto json = ParseEventsFile(text, "e.json");
  ASSERT_TRUE(json.ok()) << json.message();
  EXPECT_EQ((*json)[0].name, "\U0001f600");
  EXPECT_FALSE(ParseEventsFile(text, "e.yaml").ok()) << "YAML has no pairs of surrogates";
  const std::string yaml = R"([{name: "a\Lb", event: "*, sum(bytes)>0, 1ms"}])";
  const auto lines = ParseEventsFile(yaml, ".json");
  ASSERT_TRUE(lines.ok()) << lines.message();
  EXPECT_EQ((*lines)[0].name, "a\u2028b");
  EXPECT_FALSE(ParseEventsFile(yaml, "e.json").ok());
}

TEST(Files, MayBeLongerForWhoSaysSo) {
  const std::string text = "events: []" + std::string(kMaxEventFileBytes, ' ');
  EXPECT_TRUE(ParseEventsFile(text, "e.yaml", nullptr, 2 * kMaxEventFileBytes).ok());
  EXPECT_EQ(ParseEventsFile(text, "e.yaml").message(),
            "e.yaml:1:1: the file is longer than the 1048576 bytes that are allowed");
}

TEST(Json, ExplainsBadSyntaxWithItsPlace) {
  EXPECT_EQ(JsonError("{\"events\": [}"), "e.json:1:13: not valid JSON here");
  EXPECT_EQ(JsonError("{\"events\": []} x"), "e.json:1:16: not valid JSON here");
  EXPECT_EQ(JsonError("[1e999]"), "e.json:1:6: not valid JSON here");
  EXPECT_EQ(JsonError("").substr(0, 12), "e.json:1:1: ");
  EXPECT_EQ(JsonError("{\"a\":1, \"a\":2}"), "e.json:1:2: 'a' is not a key here; only 'events' is");
}

TEST(Json, RefusesHostileFiles) {
  EXPECT_EQ(JsonError(std::string(1024 * 1024 + 1, ' ')),
            "e.json:1:1: the file is longer than the 1048576 bytes that are allowed");
  EXPECT_EQ(JsonError("[\"\xff\"]"), "e.json:1:3: the file is not UTF-8 here");
  EXPECT_NE(JsonError(std::string(1000000, '[')).find("nested too deep"), std::string::npos);
}

}  // namespace
}  // namespace trumpet::event_lang
