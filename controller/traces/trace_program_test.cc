// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/trace_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "controller/store/sqlite_trace_store.h"
#include "controller/traces/program_kit_test.h"

namespace trumpet {
namespace {

using Json = nlohmann::json;
using trace_network::kBegin;
using trace_network::Network;
using trace_network::Packet;
using trace_network::TimedBytes;

class TraceProgram : public ProgramTest {
 protected:
  TraceProgram() : ProgramTest(RunTraceProgram) {}
};

TEST_F(TraceProgram, NamesTheSwitchBehindWhichAPacketWasLost) {
  const std::string capture = Write("copies.pcap", trace_network::WithADrop().Capture());
  const std::string topology = Write("net.yaml", kTopology);
  const std::vector<Json> lines = Run({"--topology", topology, capture});
  ASSERT_EQ(lines.size(), 2u);
  const Json& trace = lines[0];
  EXPECT_EQ(trace["verdict"], "dropped");
  EXPECT_GT(trace["confidence"], 0.9);
  EXPECT_EQ(trace["last_switch"], "spine1");
  EXPECT_EQ(trace["evidence"]["expected_next"], Json({"leaf2"}));
  EXPECT_EQ(trace["packet"]["src"], "10.0.1.1");
  EXPECT_EQ(trace["packet"]["dst_port"], 80);
  EXPECT_EQ(trace["marks"], Json({"connection"}));
  ASSERT_EQ(trace["path"].size(), 2u);
  EXPECT_EQ(trace["path"][0]["switch"], "leaf1");
  EXPECT_EQ(trace["path"][0]["tag"], 5);
  EXPECT_EQ(trace["path"][1]["ttl"], 63);
  const Json& sums = lines[1]["sums"];
  EXPECT_EQ(sums["packets"]["verdicts"]["delivered"], 199);
  EXPECT_EQ(sums["copies"]["sent"], 599);
  EXPECT_EQ(sums["copies"]["received_percent"], 100.0);
  // Without a topology the other packets of the flow show where it ought to have gone.
  EXPECT_EQ(Run({"--switch=spine1=2", "--switch=leaf2=4", capture})[0]["evidence"],
            trace["evidence"]);
}

TEST_F(TraceProgram, SaysTheSameOfTheSameCaptures) {
  const std::string capture = Write("copies.pcap", trace_network::WithADrop().Capture());
  Run({"--all", capture});
  const std::string once = out_.str();
  Run({"--all", capture});
  EXPECT_EQ(out_.str(), once);
  EXPECT_EQ(std::count(once.begin(), once.end(), '\n'), 201);
}

TEST_F(TraceProgram, TakesACaptureOfEachSwitch) {
  std::vector<TimedBytes> at[3];
  for (uint32_t i = 0; i < 50; ++i) {
    for (unsigned hop = 0; hop < 3; ++hop) {
      if (i == 30 && hop == 2) continue;  // lost
      const Nanos time = kBegin + i * kNanosPerMilli + hop * 1000;
      at[hop].push_back({time, Packet(1, i, static_cast<uint8_t>(64 - hop))});
    }
  }
  std::vector<std::string> words;
  const std::string names[] = {"west", "middle", "east"};
  for (unsigned hop = 0; hop < 3; ++hop) {
    const std::string path = Write(names[hop] + ".pcap", Network::CaptureOf(at[hop]));
    words.push_back("--hop=" + names[hop] + "=" + path);
  }
  const std::vector<Json> lines = Run(words);
  // A capture has no numbers: one packet alone might be a copy that is missing.
  EXPECT_EQ(lines.back()["sums"]["packets"]["verdicts"]["delivered"], 49);
  EXPECT_EQ(lines.back()["sums"]["packets"]["verdicts"]["copies_lost"], 1);
  EXPECT_EQ(lines.back()["sums"]["copies"]["in_traces"], 149);
  words.push_back("--all");
  const std::vector<Json> all = Run(words);
  ASSERT_EQ(all.size(), 51u);
  EXPECT_EQ(all[0]["path"][2]["switch"], "east");
}

TEST_F(TraceProgram, KeepsWhatIsAbnormalAndWhatLinksCarried) {
  const std::string capture = Write("copies.pcap", trace_network::WithADrop().Capture());
  const std::string topology = Write("net.yaml", kTopology);
  const std::string store = folder_ + "/store";
  for (int round = 1; round <= 2; ++round) {  // twice is once
    Run({"--topology", topology, "--store", store, capture});
    SqliteTraceStoreOptions options;
    options.folder = store;
    auto opened = SqliteTraceStore::Open(options, kBegin + kNanosPerSecond);
    ASSERT_TRUE(opened.ok()) << opened.message();
    const auto found = (*opened)->Find({});
    ASSERT_TRUE(found.ok());
    ASSERT_EQ(found->size(), 1u);
    EXPECT_EQ(found->front().last_switch, 2);
    EXPECT_EQ(found->front().hops.size(), 2u);
    EXPECT_EQ(found->front().packet.substr(0, 14),
              std::string("\2\0\0\0\0\2\2\0\0\0\0\1\x08\0", 14));
    const auto links = (*opened)->FindCounters(1, 2, kBegin, kBegin + kNanosPerSecond);
    ASSERT_TRUE(links.ok());
    ASSERT_EQ(links->size(), 1u);
    EXPECT_EQ((*links)[0].values[0], 100u) << "the second time they are known";
  }
}

TEST_F(TraceProgram, SaysInOneLineWhatIsWrong) {
  const std::string capture = Write("copies.pcap", trace_network::WithADrop().Capture());
  const std::string bad = Write("bad.yaml", std::string("hosts: 1\n"));
  const struct {
    std::vector<std::string> words;
    std::string error;
  } cases[] = {
      {{}, "no capture is given"},
      {{"--nonsense", capture}, "--nonsense: unknown option"},
      {{"--all=1", capture}, "--all takes no value"},
      {{capture, "--store"}, "--store needs a value"},
      {{"--wait=2", capture}, "--wait: '2' is not a time such as 500ms or 2s"},
      {{"--debug-dscp=64", capture}, "--debug-dscp: '64' is not a number from 0 to 63"},
      {{"--max-traces=0", capture}, "--max-traces: '0' is not a number from 1 to 16777216"},
      {{"--switch=a", capture}, "--switch: 'a' is not NAME=NUMBER"},
      {{"--switch=a=1024", capture}, "--switch: a: '1024' is not a number from 0 to 1023"},
      {{"--switch=a=1", "--switch=b=1", capture}, "--switch: b: number 1 is that of a"},
      {{"--hop=x", capture}, "--hop: 'x' is not NAME=CAPTURE"},
      {{"-"}, "- can be read only once: give a --topology"},
      {{"/nowhere/x.pcap"}, "/nowhere/x.pcap: cannot be read: No such file or directory"},
      {{"--topology=/nowhere/x", capture}, "/nowhere/x: cannot be read: No such file or directory"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(Error(one.words), "trumpet-analyzer: " + one.error + "\n");
  }
  EXPECT_EQ(Error({"--topology", bad, capture}).find("trumpet-analyzer: " + bad + ":1:8: "), 0u);
  EXPECT_EQ(Error({"--store=/proc/nowhere", capture}).find("trumpet-analyzer: /proc/nowhere: "),
            0u);
}

}  // namespace
}  // namespace trumpet
