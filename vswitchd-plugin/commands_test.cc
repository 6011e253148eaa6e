// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/commands.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "vswitchd-plugin/fake_switch_test.h"

namespace trumpet {
namespace {

using nlohmann::json;
using testing::StillSwitch;

const ConfigPairs kOn{{"trumpet-enable", "true"}, {"trumpet-memory-mb", "4"}};
constexpr char kHeavy[] = "dstIP=10.0.128.0/24, sum(volume)>125KB, 5-tuple, 10ms";

TEST(Commands, AreMadeKnownToTheSwitchWithTheirUsage) {
  StillSwitch bench(0);
  bench.plugin.RegisterCommands();
  ASSERT_EQ(bench.fake.commands.size(), 20u);
  EXPECT_EQ(bench.fake.commands[0].name, "trumpet/status");
  for (const auto& command : bench.fake.commands) {
    EXPECT_EQ(command.usage.rfind("[json]", 0), 0u) << command.name;
  }
}

TEST(Commands, AnswerAWrongArgumentWithOneLineAndChangeNothing) {
  StillSwitch bench(1);
  bench.plugin.SetConfig(kOn);
  bench.Install({kHeavy});
  bench.RunMs(20);
  const struct {
    const char* name;
    std::vector<std::string> arguments;
    const char* error;
  } kRows[] = {
      {"trumpet/status", {"yaml"}, "unexpected argument 'yaml'"},
      {"trumpet/event-list", {"e1"}, "unexpected argument 'e1'"},
      {"trumpet/event-add",
       {"json"},
       "trumpet/event-add takes [json] [name=NAME] [for=N] "
       "[scope=host|network] [observe=source|destination|all] "
       "[severity=LABEL] EVENT|@FILE"},
      {"trumpet/event-add",
       {"nam=x", kHeavy},
       "'nam=x' is not an option; before the event may stand name=, for=, scope=, observe= and "
       "severity= (quote an event with spaces)"},
      {"trumpet/event-add", {"name=", kHeavy}, "'name' must be a text, not empty"},
      {"trumpet/event-add", {"for=0", kHeavy}, "for is '0'; it takes 1 to 4294967295 intervals"},
      {"trumpet/event-add", {"for=2x", kHeavy}, "for is '2x'; it takes 1 to 4294967295 intervals"},
      {"trumpet/event-add", {"scope=rack", kHeavy}, "scope is 'rack'; it takes host or network"},
      {"trumpet/event-add",
       {"observe=both", kHeavy},
       "observe is 'both'; it takes source, destination or all"},
      {"trumpet/event-add",
       {"name=e1", kHeavy},
       "event 'e1' is installed already; delete it first or choose another name"},
      {"trumpet/event-add",
       {"@events.yaml"},
       "reading events from 'events.yaml': the path must be absolute"},
      {"trumpet/event-add",
       {"@/nowhere/events.yaml"},
       "reading events from '/nowhere/events.yaml': No such file or directory"},
      {"trumpet/event-add",
       {"@/dev/null"},
       "reading events from '/dev/null': it is not a regular file"},
      {"trumpet/event-add",
       {"name=x", "events: []"},
       "'name=x' goes with a one-line event only; a file says it beside each event"},
      {"trumpet/event-del", {"e2"}, "no event 'e2' is installed; did you mean 'e1'?"},
      {"trumpet/event-del", {"e1", "e2"}, "unexpected argument 'e2'"},
      {"trumpet/event-show", {"7"}, "no event '7' is installed"},
      {"trumpet/reports", {"--last", "0"}, "--last is '0'; it takes 1 to 1000"},
      {"trumpet/reports", {"--last"}, "--last is ''; it takes 1 to 1000"},
      {"trumpet/reports", {"--last", "ten"}, "--last is 'ten'; it takes 1 to 1000"},
      {"trumpet/reports", {"e1", "e2"}, "unexpected argument 'e2'"},
      {"trumpet/reports", {"nobody"}, "no event 'nobody' is installed"},
      {"trumpet/disable", {"now"}, "unexpected argument 'now'"},
      {"trumpet/dance", {}, "there is no command 'trumpet/dance'"},
  };
  const std::string before = bench.Command("trumpet/event-list", {"json"});
  for (const auto& row : kRows) {
    EXPECT_EQ(bench.Command(row.name, row.arguments), "error: " + std::string(row.error))
        << row.name;
    EXPECT_EQ(bench.Command("trumpet/event-list", {"json"}), before);
    EXPECT_TRUE(bench.fake.is_attached());
  }
}

TEST(Commands, PointAtThePlaceOfAnErrorInAnEvent) {
  StillSwitch bench(0);
  const std::string line = bench.Command("trumpet/event-add", {"*, sum(bytez) > 1, 10ms"});
  EXPECT_EQ(line.rfind("error: event:1:8: 'bytez' is not a packet variable", 0), 0u) << line;
  const std::string yaml =
      bench.Command("trumpet/event-add", {"events:\n  - '*, sum(bytes) > 1, 10ms'\n  - 7\n"});
  EXPECT_EQ(yaml.rfind("error: event:3:", 0), 0u) << yaml;
  EXPECT_EQ(bench.Command("trumpet/event-list"), "no event is installed\n");
}

TEST(Commands, InstallAndDeleteEvents) {
  StillSwitch bench(1);
  bench.plugin.SetConfig(kOn);
  EXPECT_EQ(bench.Command("trumpet/event-add", {kHeavy}), "event event-1 (id 1) installed\n");
  EXPECT_EQ(bench.Command("trumpet/event-add", {"json", "name=x", kHeavy}),
            "{\"installed\":[{\"id\":2,\"name\":\"x\"}]}\n");
  EXPECT_EQ(bench.Command("trumpet/event-del", {"2"}), "event x (id 2) deleted\n");
  EXPECT_EQ(bench.Command("trumpet/event-add", {"name=x", kHeavy}), "event x (id 3) installed\n");
  EXPECT_EQ(bench.Command("trumpet/event-del", {"json", "--all"}),
            "{\"deleted\":[{\"id\":1,\"name\":\"event-1\"},{\"id\":3,\"name\":\"x\"}]}\n");
  EXPECT_EQ(bench.Command("trumpet/event-del", {"--all"}), "no event is installed\n");
}

TEST(Commands, TellWhoeverInstallsAnEventThatTheMonitorIsOff) {
  StillSwitch bench(1);
  EXPECT_EQ(bench.Command("trumpet/event-add", {kHeavy}),
            "event event-1 (id 1) installed\nthe monitor is off: see trumpet/enable\n");
}

TEST(Commands, ShowWhenAnEventBecameActiveAndWhere) {
  StillSwitch bench(2);
  bench.plugin.SetConfig(kOn);
  bench.Install({kHeavy});
  EXPECT_NE(bench.Command("trumpet/event-show", {"e1"}).find("being installed"), std::string::npos);
  bench.RunMs(100);
  const std::string text = bench.Command("trumpet/event-show", {"e1"});
  EXPECT_NE(text.find("active since 2023-11-14T22:13:21."), std::string::npos) << text;
  EXPECT_NE(text.find("applied on 2 of 2 threads"), std::string::npos) << text;
  const json event = json::parse(bench.Command("trumpet/event-show", {"json", "1"}));
  EXPECT_EQ(event["name"], "e1");
  EXPECT_EQ(event["predicate"], "sum(volume) > 125000");
  EXPECT_EQ(event["applied_on"], 2);
}

TEST(Commands, ShowReportsOldestFirstAndOnlyThoseAskedFor) {
  StillSwitch bench(1);
  bench.plugin.SetConfig(kOn);
  bench.Install({"*, sum(packets) >= 1, 10ms", "*, sum(packets) >= 2, 10ms"});
  bench.RunMs(20);
  for (int packets = 1; packets <= 3; ++packets) {
    bench.RunToBoundary();
    bench.Receive(bench.threads[0], packets);
    bench.RunMs(20);
  }
  const json all = json::parse(bench.Command("trumpet/reports", {"json"}));
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[0]["value"], 1);
  EXPECT_EQ(all[4]["event"], "e2");
  const json last = json::parse(bench.Command("trumpet/reports", {"json", "--last", "1", "e2"}));
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0]["value"], 3);
  EXPECT_EQ(bench.Command("trumpet/reports", {"2", "--last", "1"}),
            "interval end              length  event  bucket  value  threshold  complete  "
            "severity\n"
            "2023-11-14T22:13:21.070Z   10 ms  e2     {}          3          2  yes       -\n");
}

TEST(Commands, KeepReportsOfDeletedEvents) {
  StillSwitch bench(1);
  bench.plugin.SetConfig(kOn);
  bench.Install({"*, sum(packets) >= 0, 10ms"});
  bench.RunMs(40);
  bench.Command("trumpet/event-del", {"e1"});
  EXPECT_GT(json::parse(bench.Command("trumpet/reports", {"json", "e1"})).size(), 0u);
}

TEST(Commands, TellTheStateOfTheMonitor) {
  StillSwitch bench(1);
  bench.plugin.SetConfig({});
  bench.plugin.UpdatePort(7, "eth7", "dpdk", true);
  const auto state = [&] {
    return json::parse(bench.Command("trumpet/status", {"json"}))["state"];
  };
  EXPECT_EQ(state(), "off: trumpet-enable is false");
  bench.plugin.SetConfig(kOn);
  bench.RunMs(1);
  EXPECT_EQ(state(), "waiting: no event is installed");
  bench.Install({kHeavy});
  bench.RunMs(100);
  EXPECT_EQ(state(), "running");
  const std::string text = bench.Command("trumpet/status");
  for (const char* part :
       {"state:       running\n", "events:      1 installed, epoch 10 ms",
        "memory:      4 MiB per packet thread, 4 MiB taken\n", "wall clock:  in step",
        "Open vSwitch 3.1.0-fake", "  pmd-c0     0  yes", "7  eth7  dpdk  yes\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
  EXPECT_EQ(bench.Command("trumpet/disable"), "disabled; all hooks are detached\n");
  EXPECT_EQ(state(), "off: by trumpet/disable");
  EXPECT_EQ(bench.Command("trumpet/enable", {"json"}), "{\"enabled\":true}\n");
}

TEST(Commands, ShowHowLongTheStepsOfEachThreadTook) {
  StillSwitch bench(1);
  bench.clock.per_look = 100;
  bench.plugin.SetConfig(kOn);
  bench.Install({"*, sum(packets) >= 1, 10ms"});
  bench.RunMs(20);
  bench.Command("trumpet/perf-show");
  bench.RunToBoundary();
  bench.Receive(bench.threads[0], 5);
  bench.clock.per_look = 3000;
  bench.RunMs(10);
  const json perf = json::parse(bench.Command("trumpet/perf-show", {"json"}));
  const json& steps = perf["threads"][0]["steps"];
  EXPECT_EQ(steps["count"], 1);
  EXPECT_GE(steps["max_ns"], 3000);
  EXPECT_EQ(steps["p50_ns"], steps["max_ns"]);
  EXPECT_NE(bench.Command("trumpet/perf-show").find("p99.9 us"), std::string::npos);
}

TEST(Commands, ShowFlowTablesAndTheMonitorsShareOfTime) {
  StillSwitch bench(1);
  bench.plugin.SetConfig(kOn);
  bench.Install({"*, sum(packets) >= 1, 10ms"});
  bench.RunMs(20);
  bench.Receive(bench.threads[0], 5);
  const json tables = json::parse(bench.Command("trumpet/flow-table-show", {"json"}));
  EXPECT_EQ(tables[0]["flows"], 1);
  EXPECT_NE(bench.Command("trumpet/flow-table-show").find("pmd-c0"), std::string::npos);
  const json perf = json::parse(bench.Command("trumpet/perf-show", {"json"}));
  EXPECT_EQ(perf["threads"][0]["packets"], 5);
  EXPECT_EQ(perf["is_since_start"], true);
  EXPECT_GT(perf["threads"][0]["share_of_all"], 0.0);
  EXPECT_EQ(perf["threads"][0]["steps"]["limit_ns"], 7000);
  EXPECT_NE(bench.Command("trumpet/perf-show").find("since the last call"), std::string::npos);
}

}  // namespace
}  // namespace trumpet
