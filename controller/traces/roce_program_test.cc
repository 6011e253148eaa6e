// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/roce_program.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "controller/traces/app_program.h"
#include "controller/traces/program_kit_test.h"
#include "lib/packet/random_roce.h"

namespace trumpet {
namespace {

using Json = nlohmann::json;
using test_frames::BaseHeader;
using test_frames::Bytes;
using test_frames::PfcFrame;
using test_frames::RoceFrame;
using test_frames::Zeros;
using trace_network::kBegin;
using trace_network::Network;

constexpr Nanos kGap = 10 * kNanosPerMicro;

Bytes Data(uint32_t psn) {
  BaseHeader header;
  header.opcode = 4;
  header.queue_pair = 0x18;
  header.sequence = psn;
  return RoceFrame(header, Zeros(64), false, 2);
}

Bytes Nak(uint8_t syndrome, uint32_t psn) {
  BaseHeader header;
  header.opcode = 0x11;
  header.queue_pair = 0x19;
  header.sequence = psn;
  const Bytes frame = RoceFrame(header, {syndrome, 0, 0, 1});
  Bytes ip(frame.begin() + 14, frame.end() - kIcrcBytes);
  for (size_t i = 12; i < 16; ++i) std::swap(ip[i], ip[i + 4]);  // the way back
  return test_frames::Ethernet(0x0800, test_frames::WithIcrc(ip));
}

// 300 packets over leaf1 (1), spine1 (2) and leaf2 (4); the packet 100 is lost behind the spine, is
// named by a NAK, and all from there on are sent again.
Network WithALoss() {
  Network network;
  Nanos time = kBegin;
  const auto cross = [&](uint32_t psn, bool is_lost) {
    network.Copy(1, time, Data(psn));
    network.Copy(2, time + kGap, Data(psn));
    if (!is_lost) network.Copy(4, time + 2 * kGap, Data(psn));
    time += kNanosPerMicro;
  };
  for (uint32_t psn = 0; psn < 120; ++psn) cross(psn, psn == 100);
  network.Copy(4, time + 5 * kGap, Nak(0x60, 100));
  network.Copy(2, time + 6 * kGap, Nak(0x60, 100));
  network.Copy(1, time + 7 * kGap, Nak(0x60, 100));
  time += 10 * kGap;
  for (uint32_t psn = 100; psn < 300; ++psn) cross(psn, false);
  return network;
}

class RoceProgram : public ProgramTest {
 protected:
  RoceProgram() : ProgramTest(RunRoceProgram) {}
  std::string Topology() { return "--topology=" + Write("net.yaml", std::string(kTopology)); }
};

TEST_F(RoceProgram, SaysWherePacketsOfCopiesWereLost) {
  const std::string capture = Write("copies.pcap", WithALoss().Capture());
  const std::vector<Json> lines = Run({Topology(), "--queue-pairs", capture});
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0]["verdict"], "loss");
  EXPECT_EQ(lines[0]["behind"], "spine1");
  EXPECT_EQ(lines[0]["before"], "leaf2");
  EXPECT_EQ(lines[0]["packets"], 1);
  EXPECT_EQ(lines[0]["evidence"][0]["psn"], 100);
  EXPECT_EQ(lines[0]["some"][0]["queue_pair"], 0x18);
  EXPECT_EQ(lines[1]["verdict"], "queue_pair");
  EXPECT_EQ(lines[1]["packets"], 320);
  const Json sums = lines[3]["sums"];
  EXPECT_EQ(sums["frames"]["all"], 3 * 321 - 1);
  EXPECT_EQ(sums["frames"]["copies"], 3 * 321 - 1);
  EXPECT_EQ(sums["packets"], 321);
  EXPECT_EQ(sums["naks"], 1);
}

TEST_F(RoceProgram, TakesPacketsOfOnePlaceToo) {
  std::vector<trace_network::TimedBytes> frames;
  for (uint32_t psn = 0; psn < 50; ++psn) frames.push_back({kBegin + psn * kGap, Data(psn)});
  const std::string path = Write("one.pcap", Network::CaptureOf(frames));
  for (const std::string& words : {path, "--hop=leaf1=" + path}) {
    const std::vector<Json> lines = Run({words});
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0]["verdict"], "nothing");
    EXPECT_EQ(lines[0]["packets"], 50);
    EXPECT_EQ(lines[1]["sums"]["frames"]["plain"], 50);
  }
}

TEST_F(RoceProgram, SaysThatChecksumsAreWrong) {
  Bytes frame = Data(7);
  frame[60] ^= 1;
  const std::string path = Write("one.pcap", Network::CaptureOf({{kBegin, frame}}));
  EXPECT_EQ(Run({path})[0]["verdict"], "corrupt");
}

TEST_F(RoceProgram, NamesThePortOfAStorm) {
  Network network;
  for (Nanos i = 0; i < 2000; ++i) {
    network.Copy(1, kBegin + i * 250 * kNanosPerMicro, PfcFrame(8, {0, 0, 0, 65535}, 9));
  }
  const Json storm = Run({Topology(), Write("copies.pcap", network.Capture())})[0];
  EXPECT_EQ(storm["verdict"], "storm");
  EXPECT_EQ(storm["switch"], "leaf1");
  EXPECT_EQ(storm["port"], 5);
  EXPECT_EQ(storm["priority"], 3);
  EXPECT_EQ(storm["from"], "02:00:00:00:00:09");
  EXPECT_EQ(storm["stops"], 2000);
  // Ten times as fast, the same frames stop it for a tenth of the time.
  const Json paused = Run({Topology(), "--speed=1000", Write("copies.pcap", network.Capture())})[0];
  EXPECT_EQ(paused["verdict"], "paused");
}

TEST_F(RoceProgram, SaysInOneLineWhatIsWrong) {
  const struct {
    std::vector<std::string> words;
    std::string error;
  } cases[] = {
      {{}, "no capture is given"},
      {{"--speed=0", "x"}, "--speed: '0' is not a number from 1 to 10000"},
      {{"--storm-time=0s", "x"}, "--storm-time is 0"},
      {{"--hop=x"}, "--hop: 'x' is not NAME=CAPTURE"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(Error(one.words), "trumpet-analyzer: " + one.error + "\n");
  }
}

// Stored are the NAK, and the packet that was lost: the topology says that leaf2 ought to have it.
class RoceApp : public ProgramTest {
 protected:
  RoceApp() : ProgramTest(RunAppProgram) {}
};

TEST_F(RoceApp, TellsWhatStoredControlPacketsSay) {
  Network network;
  network.Copy(4, kBegin, Nak(0x60, 100));
  network.Copy(1, kBegin + kGap, Nak(0x60, 100));
  network.Copy(1, kBegin + 2 * kGap, Nak(0x2e, 100));
  for (Nanos i = 0; i < 2000; ++i) {
    network.Copy(1, kBegin + i * 250 * kNanosPerMicro, PfcFrame(8, {0, 0, 0, 65535}, 9));
  }
  Analyze(network);
  const std::vector<Json> found = Run({"roce", store_});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0]["verdict"], "storm");
  EXPECT_EQ(found[0]["stops"], 2000);
  EXPECT_EQ(found[1]["verdict"], "loss");
  EXPECT_EQ(found[1]["packets"], 1);
  EXPECT_EQ(found[1]["host"], "10.0.0.2");
  EXPECT_EQ(found[2]["verdict"], "not_ready");
}

}  // namespace
}  // namespace trumpet
