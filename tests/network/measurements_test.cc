// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Measurement programs on hosts with real agents, from a controller's text to one reading.

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "lib/measure/variable_reading.h"
#include "tests/network/measurement_network_test.h"

namespace trumpet::testing {
namespace {

// Two phases: the sketch counts all flows, the map those that have passed the limit.
constexpr char kHeavyHitters[] =
    "flow = Key(ipv4.dst);\n"
    "total = Counter(width=32);\n"
    "size = Sketch(alg=\"count-min\", key=flow, nhash=4, size=2048, width=64);\n"
    "heavy = HashMap(key=flow, size=4096, type=Counter(width=64));\n"
    "flows = Sketch(alg=\"hyperloglog\", key=flow, nhash=1, size=1024);\n"
    "pkts >> total.set(total + 1) >> size.set(size + 1) >> flows.update()\n"
    "  >> match(size.min() > 20) >> heavy.set(heavy + 1);\n";
constexpr uint32_t kFirstFlow = 0x0a008001;
constexpr int kFlows = 30;

class Measurements : public MeasurementNetwork {
 protected:
  using MeasurementNetwork::Put;
  std::string Put() { return Put(kHeavyHitters); }
  // Of the flows on each host, which differ from host to host.
  int PacketsOf(size_t host, int flow) const { return (flow + static_cast<int>(host)) % kFlows; }
  void SendTo(size_t host) {
    for (int flow = 0; flow < kFlows; ++flow) {
      network_.host(host).Receive(network_.host(host).threads[0], PacketsOf(host, flow),
                                  kFirstFlow + static_cast<uint32_t>(flow));
    }
  }
};

TEST_F(Measurements, ReadsAsOneWhatAllHostsHaveCounted) {
  ASSERT_TRUE(Connect());
  ASSERT_EQ(Put(), "ok");
  uint64_t all = 0;
  for (size_t host = 0; host < 2; ++host) {
    SendTo(host);
    for (int flow = 0; flow < kFlows; ++flow) all += static_cast<uint64_t>(PacketsOf(host, flow));
  }
  EXPECT_EQ(Read("total"), (std::vector<uint64_t>{all}));
  EXPECT_EQ(asked_hosts_, (std::vector<std::string>{"h1", "h2"}));
  for (int flow = 0; flow < kFlows; ++flow) {
    const uint64_t key = kFirstFlow + static_cast<uint32_t>(flow);
    uint64_t packets = 0;
    uint64_t heavy = 0;
    for (size_t host = 0; host < 2; ++host) {
      const auto here = static_cast<uint64_t>(PacketsOf(host, flow));
      packets += here;
      heavy += here > 20 ? here - 20 : 0;
    }
    // 2048 cells a row and 30 flows: four collisions of one flow do not happen with this seed.
    const std::vector<uint64_t> rows = Read("size", {key});
    ASSERT_EQ(rows.size(), 4u);
    EXPECT_EQ(*std::min_element(rows.begin(), rows.end()), packets) << flow;
    EXPECT_EQ(Read("heavy", {key}), (std::vector<uint64_t>{heavy})) << flow;
  }
  const MeasureProgram program = manager_->Find("hh")->program;
  const MeasureReading flows = ReadingOf(program.variables[3], Read("flows"), 0);
  ASSERT_TRUE(flows.keys.has_value());
  EXPECT_LE(flows.keys->low, kFlows);
  EXPECT_GE(flows.keys->high, kFlows);
}

TEST_F(Measurements, TellsEventsWhatAllHostsHoldOfAKey) {
  ASSERT_TRUE(Connect());
  ASSERT_EQ(Put(), "ok");
  // The sixth flow has 5 and 6 packets; the 26th 25 and 26, of which the map counts those
  // beyond 20.
  std::string answer = "none";
  network_.manager().Put(
      "- {name: sketch, event: '*, measure(\"hh\").size(\"10.0.128.6\") >= 11, 100ms'}\n"
      "- {name: map, event: '*, measure(\"hh\").heavy(\"0x0a00801a\") >= 11, 100ms'}\n"
      "- {name: other, event: '*, measure(\"hh\").size(\"10.0.128.31\") > 0, 100ms'}\n",
      DocumentFormat::kYaml, "e", EventManager::IfThere::kReplace, Caller(),
      [&](const Result<std::vector<EventRecord>>& records) {
        answer = records.ok() ? "ok" : records.message();
      });
  ASSERT_TRUE(network_.RunUntil([&] { return answer != "none"; }));
  ASSERT_EQ(answer, "ok");
  for (size_t host = 0; host < 2; ++host) SendTo(host);
  network_.RunMs(350);
  std::map<std::string, int> reports;
  for (const auto& row : network_.reports()) {
    const auto report = nlohmann::json::parse(row->json);
    EXPECT_EQ(report["value"], 11) << row->json;
    EXPECT_EQ(report["complete"], true) << row->json;
    ++reports[report["event"]];
  }
  EXPECT_GE(reports["sketch"], 2);
  EXPECT_GE(reports["map"], 2);
  EXPECT_EQ(reports["other"], 0);
}

TEST_F(Measurements, RunsNowhereIfOneHostRefuses) {
  ASSERT_TRUE(Connect());
  const std::string own = network_.host(1).Command(
      "trumpet/program-add", {"hh", "total = Counter(width=32);\npkts >> total.set(total + 1);\n"});
  ASSERT_EQ(own.find("error"), own.npos) << own;
  EXPECT_EQ(Put(),
            "the measurement is installed nowhere: host h2: a program 'hh' is installed already");
  network_.RunMs(10);
  EXPECT_FALSE(Runs(0));
  EXPECT_FALSE(manager_->Find("hh").has_value());
  network_.host(1).Command("trumpet/program-del", {"hh"});
  EXPECT_EQ(Put(), "ok");
  EXPECT_TRUE(Runs(0));
  EXPECT_TRUE(Runs(1));
}

TEST_F(Measurements, GoesOnOverARestartOfTheController) {
  ASSERT_TRUE(Connect());
  ASSERT_EQ(Put(), "ok");
  SendTo(0);
  const uint64_t before = Read("total").at(0);
  manager_.reset();
  network_.StopManager();
  network_.RunMs(50);
  SendTo(1);
  network_.StartManager();
  Start();
  ASSERT_TRUE(network_.RunUntil(
      [&] { return States() == std::vector<MeasurementOnHost>(2, MeasurementOnHost::kRunning); }));
  EXPECT_EQ(Read("total").at(0), before * 2) << "the same packets, flow by flow in another order";
}

TEST_F(Measurements, ComesToAHostThatComesLater) {
  ASSERT_TRUE(Connect());
  ASSERT_EQ(Put(), "ok");
  network_.AddHost();
  ASSERT_TRUE(network_.RunUntil(
      [&] { return States() == std::vector<MeasurementOnHost>(3, MeasurementOnHost::kRunning); }));
  SendTo(2);
  EXPECT_GT(Read("total").at(0), 0u);
  EXPECT_EQ(asked_hosts_, (std::vector<std::string>{"h1", "h2", "h3"}));
  Remove();
  for (size_t host = 0; host < 3; ++host) EXPECT_FALSE(Runs(host)) << host;
}

TEST_F(Measurements, TellsHostsWhereTheNetworkEndsAndTheirNumbers) {
  ASSERT_TRUE(Connect());
  MeasurementPlaces places;
  places.edges_of.emplace()["h1"] = {"vm*"};
  places.numbers = {{"h2", 1}};
  ASSERT_EQ(Put("role last_hop { n = Counter(width=32); pkts >> n.set(switch.id); }\n", places),
            "ok");
  const auto shown = [&](size_t host) {
    return nlohmann::json::parse(
        network_.host(host).Command("trumpet/program-show", {"json", "hh"}));
  };
  EXPECT_EQ(shown(0)["edges"], nlohmann::json::array({"vm*"}));
  EXPECT_EQ(shown(1)["edges"], nlohmann::json::array());
  EXPECT_EQ(shown(0)["switch"], 2);
  EXPECT_EQ(shown(1)["switch"], 1);
  const auto view = manager_->Find("hh");
  ASSERT_EQ(view->hosts.size(), 2u);
  EXPECT_EQ(view->hosts[0].switch_id, 2);
  EXPECT_EQ(view->hosts[1].switch_id, 1);
}

TEST_F(Measurements, RefusesPlacesOfHostsThatNobodyKnows) {
  ASSERT_TRUE(Connect());
  MeasurementPlaces places;
  places.numbers = {{"h9", 1}};
  EXPECT_EQ(Put(kHeavyHitters, places), "edges and switches: no host h9 is known");
}

TEST_F(Measurements, SaysThatAHostWhichComesLaterHasNoNumber) {
  ASSERT_TRUE(Connect());
  ASSERT_EQ(Put("n = Counter(width=32);\npkts >> n.set(switch.id);\n"), "ok");
  network_.AddHost();
  ASSERT_TRUE(network_.RunUntil([&] {
    const auto states = States();
    return states.size() == 3 && states[2] == MeasurementOnHost::kRefused;
  }));
  EXPECT_EQ(manager_->Find("hh")->hosts[2].error, "the program reads switch.id; say switch=NUMBER");
}

TEST_F(Measurements, TakesAllExamples) {
  const char* const examples[] = {
      "uc01_flow_volume_duration",   "uc02_flow_volume_cm", "uc03_cardinality_pcsa",
      "uc04_cardinality_hll",        "uc05_thresholds",     "uc06_sampling_stochastic",
      "uc07_sampling_deterministic", "uc08_postcards",      "uc09_trajectory",
      "uc10_two_phase_hh",           "uc11_topk_congested", "uc12_path_changes",
      "uc13_path_change_latency"};
  ASSERT_TRUE(Connect());
  MeasurementPlaces places;
  places.is_lab = true;
  const char* const top = std::getenv("top_srcdir");
  for (const char* const name : examples) {
    std::ifstream file(std::string(top == nullptr ? "." : top) + "/docs/measurements/" + name +
                       ".mafia");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    ASSERT_FALSE(text.empty()) << name;
    EXPECT_EQ(Put(text, places), "ok") << name;
    Remove();
  }
}

}  // namespace
}  // namespace trumpet::testing
