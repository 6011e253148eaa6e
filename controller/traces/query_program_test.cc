// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/query_program.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controller/traces/program_kit_test.h"
#include "lib/packet/pcap_reader.h"

namespace trumpet {
namespace {

using Json = nlohmann::json;
using trace_network::kBegin;
using trace_network::Network;

class QueryProgram : public ProgramTest {
 protected:
  QueryProgram() : ProgramTest(RunQueryProgram) {}

  // Ten packets of each of two flows lost behind spine1, five of another behind spine2.
  void SetUp() override {
    Network network;
    for (uint32_t i = 0; i < 300; ++i) {
      const Nanos time = kBegin + i * kNanosPerMilli;
      const auto flow = static_cast<uint16_t>(i % 3);
      const auto spine = static_cast<uint16_t>(flow == 2 ? 3 : 2);
      const bool is_lost = i >= 100 && i < 130 && (flow != 2 || i < 115);
      is_lost ? network.Cross({1, spine}, time, flow, i)
              : network.Cross({1, spine, 4}, time, flow, i);
    }
    Analyze(network);
  }

  size_t Count(std::vector<std::string> words) {
    words.push_back(store_);
    return Run(words).size();
  }
};

TEST_F(QueryProgram, FindsTracesByPacketVerdictSwitchAndTime) {
  EXPECT_EQ(Count({}), 25u);
  EXPECT_EQ(Count({"--verdict=dropped"}), 25u);
  EXPECT_EQ(Count({"--verdict=loop"}), 0u);
  EXPECT_EQ(Count({"--src-port=1002"}), 5u);
  EXPECT_EQ(Count({"--protocol=tcp", "--dst-port=80", "--src=10.0.0.0/16"}), 25u);
  EXPECT_EQ(Count({"--protocol=17"}), 0u);
  EXPECT_EQ(Count({"--dst=10.0.2.2"}), 25u);
  EXPECT_EQ(Count({"--dst=10.0.2.3"}), 0u);
  EXPECT_EQ(Count({"--through=spine2"}), 5u);
  EXPECT_EQ(Count({"--through=3"}), 5u);
  EXPECT_EQ(Count({"--min-hops=3"}), 0u);
  EXPECT_EQ(Count({"--id=0123456789abcdef"}), 0u);
  EXPECT_EQ(Count({"--mark=debug"}), 0u);
  EXPECT_EQ(Count({"--until=2023-11-14T22:13:20Z"}), 0u);
  const std::string middle = std::to_string(kBegin + 115 * kNanosPerMilli);
  EXPECT_EQ(Count({"--until=" + middle}), 15u);
  EXPECT_EQ(Count({"--from", middle}), 10u);
}

TEST_F(QueryProgram, GivesPageAfterPage) {
  std::vector<std::string> words = {store_, "--limit=10"};
  std::vector<Json> all;
  for (int page = 0; page < 3; ++page) {
    std::vector<Json> lines = Run(words);
    ASSERT_FALSE(lines.empty());
    if (page < 2) {
      ASSERT_EQ(lines.size(), 11u);
      words = {store_, "--limit=10", "--after=" + lines.back()["next"].get<std::string>()};
      lines.pop_back();
    }
    all.insert(all.end(), lines.begin(), lines.end());
  }
  EXPECT_EQ(all, Run({store_}));
}

TEST_F(QueryProgram, NamesSwitchesAsTheAnalysisDid) {
  const Json trace = Run({store_, "--limit=1"}).front();
  EXPECT_EQ(trace["path"][1]["switch"], "spine1");
  EXPECT_EQ(trace["evidence"]["expected_next"], Json({"leaf2"}));
}

TEST_F(QueryProgram, WritesACapture) {
  const std::string path = folder_ + "/out.pcapng";
  EXPECT_TRUE(Run({store_, "--src-port=1002", "--pcapng=" + path}).empty());
  auto reader = PcapReader::OpenFile(path);
  ASSERT_TRUE(reader.ok()) << reader.message();
  TimedFrame frame;
  ASSERT_TRUE(*reader->Next(&frame));
  EXPECT_EQ(frame.time, kBegin + 101 * kNanosPerMilli);
  const auto& bytes = frame.frame;
  const auto expected = trace_network::Packet(2, 101, 64);
  EXPECT_EQ(test_frames::Bytes(bytes.data, bytes.data + bytes.captured_length), expected);
  while (*reader->Next(&frame)) {
  }
  EXPECT_EQ(reader->frame_count(), 5u);
}

TEST_F(QueryProgram, SaysThatACaptureIsNotAllAndHowToGoOn) {
  const std::string capture = "--pcapng=" + folder_ + "/out.pcapng";
  const auto packets = [&] {
    auto reader = PcapReader::OpenFile(folder_ + "/out.pcapng");
    EXPECT_TRUE(reader.ok()) << reader.message();
    TimedFrame frame;
    while (*reader->Next(&frame)) {
    }
    return reader->frame_count();
  };
  const auto first = Run({store_, "--limit=20", capture});
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(packets(), 20u);
  const std::string next = first[0]["next"];
  EXPECT_TRUE(Run({store_, "--limit=20", capture, "--after=" + next}).empty());
  EXPECT_EQ(packets(), 5u);
}

TEST_F(QueryProgram, SaysInOneLineWhatIsWrong) {
  const struct {
    std::string word;
    std::string error;
  } cases[] = {
      {"--verdict=lost",
       "--verdict: 'lost' is no verdict; delivered, dropped, copies_lost, loop and not_known are"},
      {"--mark=x", "--mark: 'x' is no mark; connection, protocol, debug and probe are"},
      {"--src=10.0.0.1/8",
       "--src: '10.0.0.1/8' is not a prefix, because it has bits behind its length; did you mean "
       "'10.0.0.0/8'?"},
      {"--protocol=xyz", "--protocol: 'xyz' is no protocol; tcp, udp and 0 to 255 are"},
      {"--dst-port=65536", "--dst-port: '65536' is not a number from 0 to 65535"},
      {"--through=spine9", "--through: there is no switch 'spine9'"},
      {"--limit=0", "--limit: '0' is not a number from 1 to 1000000"},
      {"--from=yesterday",
       "--from: 'yesterday' is no time; 2026-11-21T12:00:00Z and nanoseconds of Unix time are"},
      {"--until=2026-02-31T00:00:00Z",
       "--until: '2026-02-31T00:00:00Z' is no time; 2026-11-21T12:00:00Z and nanoseconds of Unix "
       "time are"},
      {"--after=12", "--after: '12' is no cursor that was given out"},
      {"--after=12-zz", "--after: '12-zz' is no cursor that was given out"},
      {"file", "file: is no option"},
      {"--pcapng=/nowhere/x", "cannot write /nowhere/x: No such file or directory"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(Error({store_, one.word}), "trumpet-analyzer: " + one.error + "\n");
  }
  EXPECT_EQ(Error({}), "trumpet-analyzer: --store=DIRECTORY is missing\n");
  EXPECT_EQ(Error({"--store=/nowhere"}), "trumpet-analyzer: /nowhere: No such file or directory\n");
}

}  // namespace
}  // namespace trumpet
