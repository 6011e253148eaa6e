// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Events that read measurement programs, offline: both run over the same packets.

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/replay/replay_kit_test.h"

namespace trumpet {
namespace {

using namespace replay_kit;

// Counts packets of the ports 80 and 81, which come in turn.
constexpr char kPorts[] =
    "flow = Key(udp.dst);\n"
    "total = Counter(width=32);\n"
    "ports = HashMap(key=flow, size=64, type=Counter(width=32));\n"
    "large = HashMap(key=flow, size=65536, type=Counter(width=32));\n"
    "keys = Sketch(alg=\"hyperloglog\", key=flow, nhash=1, size=64);\n"
    "rows = Sketch(alg=\"count-min\", key=flow, nhash=2, size=64);\n"
    "param FROM = 0;\n"
    "pkts >> match(udp.dst >= FROM) >> total.set(total + 1) >> ports.set(ports + 1)\n"
    "  >> large.set(large + 1) >> keys.update() >> rows.add(1);\n";

class MeasuredReplay : public ::testing::Test {
 protected:
  // Events, one a line, as text in front of the intervals they report: "many 200ms 12/10".
  std::string Told(const std::string& events, const std::string& program, const Bytes& capture,
                   const std::vector<std::string>& more = {}) {
    const TemporaryFile event_file(TextBytes(events));
    const TemporaryFile program_file(TextBytes(program));
    const TemporaryFile capture_file(capture);
    std::vector<std::string> arguments = {"--events", event_file.path(), "--program",
                                          "hh=" + program_file.path(), capture_file.path()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    outcome_ = Replayed(arguments);
    std::string place = outcome_.err;
    for (const std::string* path : {&event_file.path(), &program_file.path()}) {
      for (size_t at; (at = place.find(*path)) != std::string::npos;) {
        place.replace(at, path->size(), path == &event_file.path() ? "e" : "p");
      }
    }
    if (outcome_.status != kExitOk) return outcome_.out + place;
    return Summary(outcome_.out);
  }

  static std::string Summary(const std::string& lines) {
    std::istringstream stream(lines);
    std::string text;
    for (std::string line; std::getline(stream, line);) {
      const auto report = nlohmann::json::parse(line);
      EXPECT_EQ(report["complete"], true) << line;
      const int64_t end = report["end_ns"].get<int64_t>() - int64_t{kStart} * 1000000000;
      text += report["event"].get<std::string>() + " " + std::to_string(end / 1000000) + "ms " +
              report["value"].dump() + "/" + report["threshold"].dump() + "\n";
    }
    return text;
  }

  Outcome outcome_;
};

std::string Event(const std::string& name, const std::string& predicate,
                  const std::string& interval = "100ms", const std::string& more = "") {
  return "- {name: " + name + ", event: '*, " + predicate + ", " + interval + "'" + more + "}\n";
}

TEST_F(MeasuredReplay, PrintsReportsLikeThoseOfPackets) {
  EXPECT_EQ(Told(Event("many", "measure(\"hh\").total >= 11", "100ms", ", severity: bad"), kPorts,
                 Traffic(12, 10000000)),
            "many 200ms 12/11\n");
  EXPECT_EQ(outcome_.out,
            "{\"event\":\"many\",\"bucket\":{},\"start_ns\":1700000000100000000,"
            "\"end_ns\":1700000000200000000,\"value\":12,\"threshold\":11,\"complete\":true,"
            "\"severity\":\"bad\"}\n");
  EXPECT_EQ(outcome_.err, "");
}

TEST_F(MeasuredReplay, HasMeasuredAtTheEndOfAnIntervalWhatCameBefore) {
  // The packet of 100 ms is one of the second interval, and that of 200 ms makes a third one.
  EXPECT_EQ(Told(Event("all", "measure(\"hh\").total >= 0"), kPorts, Traffic(5, 50000000)),
            "all 100ms 2/0\nall 200ms 4/0\nall 300ms 5/0\n");
}

TEST_F(MeasuredReplay, DecidesFromTheIntervalOfTheFirstPacketToThatOfTheLast) {
  EXPECT_EQ(Told(Event("all", "measure(\"hh\").total >= 0"), kPorts,
                 Traffic(2, 300000000, 150000000)),  // at 150 and 450 ms
            "all 200ms 1/0\nall 300ms 1/0\nall 400ms 1/0\nall 500ms 2/0\n");
  EXPECT_EQ(Told(Event("all", "measure(\"hh\").total >= 0"), kPorts, PcapHeader()), "");
}

TEST_F(MeasuredReplay, ReadsEveryKindOfState) {
  EXPECT_EQ(
      Told(Event("one", "measure(\"hh\").ports = 1") + Event("two", "measure(\"hh\").ports = 2") +
               Event("keys", "measure(\"hh\").keys < 1.5 and measure(\"hh\").keys > 0.5") +
               Event("ratio", "measure(\"hh\").total / measure(\"hh\").ports > 150%"),
           kPorts, Traffic(5, 60000000, 50000000)),  // at 50, 110, 170, 230, 290 ms
      "one 100ms 1/1\nkeys 100ms 1/1\ntwo 200ms 2/2\ntwo 300ms 2/2\nratio 300ms 2.5/1.5\n");
}

TEST_F(MeasuredReplay, ReadsWhatStatesHoldOfAKey) {
  EXPECT_EQ(Told(Event("rows", "measure(\"hh\").rows(\"80\") > measure(\"hh\").rows(\"0x51\")") +
                     Event("map", "measure(\"hh\").ports(\" 81 \") >= 2") +
                     Event("large", "measure(\"hh\").large(\"80\") + 0 = 3") +
                     Event("none", "measure(\"hh\").rows(\"82\") > 0"),
                 kPorts, Traffic(5, 50000000)),
            "map 200ms 2/2\nrows 300ms 3/2\nmap 300ms 2/2\nlarge 300ms 3/3\n");
}

TEST_F(MeasuredReplay, ReadsKeysOfMapsThatEvict) {
  const std::string program =
      "flow = Key(udp.dst);\n"
      "last = HashMap(key=flow, size=1, type=Counter(width=32), collide=\"evict\");\n"
      "pkts >> last.set(last + 1);\n";
  EXPECT_EQ(Told(Event("a", "measure(\"hh\").last(\"80\") >= 0") +
                     Event("b", "measure(\"hh\").last(\"81\") >= 0"),
                 program, Traffic(3, 100000000)),
            "a 100ms 1/0\nb 100ms 0/0\na 200ms 0/0\nb 200ms 1/0\na 300ms 1/0\nb 300ms 0/0\n");
}

TEST_F(MeasuredReplay, KeepsTheOrderOfAllReports) {
  EXPECT_EQ(Told(Event("a", "sum(packets) > 0") + Event("b", "measure(\"hh\").total > 0") +
                     Event("c", "sum(packets) > 0", "50ms") +
                     Event("d", "measure(\"hh\").total > 0", "300ms") +
                     Event("f", "sum(packets) > 0", "200ms"),
                 kPorts, Traffic(5, 50000000)),  // at 0, 50, 100, 150, 200 ms
            "c 50ms 1/0\na 100ms 2/0\nb 100ms 2/0\nc 100ms 1/0\nd 100ms 2/0\n"
            "c 150ms 1/0\na 200ms 2/0\nb 200ms 4/0\nc 200ms 1/0\nf 200ms 4/0\n"
            "c 250ms 1/0\na 300ms 1/0\nb 300ms 5/0\nd 400ms 5/0\nf 400ms 1/0\n");
}

TEST_F(MeasuredReplay, WaitsForAsManyIntervalsAsTheEventSays) {
  EXPECT_EQ(Told(Event("long", "measure(\"hh\").total < 4", "100ms", ", for: 3"), kPorts,
                 Traffic(4, 200000000)),  // at 0, 200, 400, 600 ms
            "long 300ms 2/4\nlong 400ms 2/4\nlong 500ms 3/4\nlong 600ms 3/4\n");
}

TEST_F(MeasuredReplay, TellsAllReportsWhateverSubscribersWouldBeTold) {
  EXPECT_EQ(Told(Event("all", "measure(\"hh\").total >= 0", "100ms", ", report_rate: 1"), kPorts,
                 Traffic(3, 100000000)),
            "all 100ms 1/0\nall 200ms 2/0\nall 300ms 3/0\n");
}

TEST_F(MeasuredReplay, TakesNoTimeForYearsInWhichNothingIsTrue) {
  Bytes capture = PcapHeader();
  for (const uint32_t second : {0u, kStart - 1, kStart}) {
    const Bytes packet = PcapPacket(second, 0, UdpFrame(80, 10));
    capture.insert(capture.end(), packet.begin(), packet.end());
  }
  EXPECT_EQ(Told(Event("three", "measure(\"hh\").total > 2") +
                     Event("other", "measure(\"hh\").total > 2", "300ms"),
                 kPorts, capture, {"--stats"}),
            "three 100ms 3/2\nother 100ms 3/2\n");
  EXPECT_NE(outcome_.err.find("intervals decided            6\n"), std::string::npos)
      << outcome_.err;
}

TEST_F(MeasuredReplay, SaysWhereAStateIsThatCannotBeRead) {
  const std::pair<const char*, const char*> rows[] = {
      {"measure(\"none\").total > 0",
       "e:1:24: there is no measurement 'none'; --program none=FILE.mafia says what it is\n"},
      {"1 > measure(\"hh\").none",
       "e:1:28: measurement 'hh' has no state 'none'; it has 'total', 'ports', 'large', 'keys', "
       "'rows'\n"},
      {"measure(\"hh\").rows > 0",
       "e:1:24: 'rows' is a count-min, which tells of one key at a time: 'rows(\"KEY\")', KEY with "
       "values of udp.dst\n"},
      {"measure(\"hh\").rows(\"80,1\") > 0",
       "e:1:24: the key is '80,1'; it takes values of udp.dst\n"},
      {"measure(\"hh\").rows(\"65536\") > 0",
       "e:1:24: udp.dst is '65536'; it takes a number of 16 bits\n"},
      {"measure(\"hh\").total(\"80\") > 0",
       "e:1:24: 'total' is a counter, which holds nothing of one key\n"},
      {"measure(\"hh\").large > 0",
       "e:1:24: 'large' has 65536 cells; an interval of 125ms is the least to read them in\n"},
  };
  for (const auto& [predicate, message] : rows) {
    EXPECT_EQ(Told(Event("e", predicate), kPorts, Traffic(2, 1000)), message);
    EXPECT_EQ(outcome_.status, kExitInput);
  }
}

TEST_F(MeasuredReplay, NamesAProgramAfterItsFile) {
  const TemporaryFile program(TextBytes(kPorts));
  const TemporaryFile capture(Traffic(2, 1000));
  const std::string stem = program.path().substr(program.path().find_last_of('/') + 1);
  const TemporaryFile events(TextBytes(Event("all", "measure(\"" + stem + "\").total > 0")));
  const Outcome outcome =
      Replayed({"--events", events.path(), "--program", program.path(), capture.path()});
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(Summary(outcome.out), "all 100ms 2/0\n");
}

TEST_F(MeasuredReplay, RunsSeveralProgramsEachWithItsParams) {
  const TemporaryFile second(TextBytes(kPorts));
  EXPECT_EQ(Told(Event("less", "measure(\"two.x\").total < measure(\"hh\").total"), kPorts,
                 Traffic(5, 1000), {"--program=two.x=" + second.path(), "--param=two.x.FROM=81"}),
            "less 100ms 2/5\n");
  EXPECT_EQ(Told(Event("all", "measure(\"hh\").total > 0"), kPorts, Traffic(5, 1000),
                 {"--param=FROM=81"}),
            "all 100ms 2/0\n");
}

TEST_F(MeasuredReplay, MergesSwitchesAsAControllerMergesHosts) {
  const std::string program =
      "k = Key(udp.dst, switch.id);\n"
      "role every { n = Counter(width=32); m = HashMap(key=k, size=512, type=Counter(width=32));\n"
      "  pkts >> n.set(n + 1) >> m.set(m + 1); }\n"
      "role last_hop { late = Timestamp(); turn = Counter(width=8);\n"
      "  pkts >> timestamp(late);\n"
      "  pkts >> match(turn < 9) >> turn.set(turn + 1); }\n";
  EXPECT_EQ(Told(Event("all", "measure(\"hh\").n > 0") + Event("cells", "measure(\"hh\").m > 0") +
                     Event("late", "measure(\"hh\").late % 1000000000 > 0") +
                     Event("key", "measure(\"hh\").m(\"81,2\") > 1"),
                 program, Traffic(4, 50000000)),
            "all 100ms 6/0\ncells 100ms 6/0\nlate 100ms 50010000/0\n"
            "all 200ms 12/0\ncells 200ms 6/0\nlate 200ms 150010000/0\nkey 200ms 2/1\n");
  EXPECT_EQ(Told(Event("turn", "measure(\"hh\").turn > 0"), program, Traffic(2, 1000)),
            "e:1:27: 'turn' does not merge over hosts; events read it of a measurement of "
            "one host\n");
}

TEST_F(MeasuredReplay, InstallsAndRemovesEventsByASchedule) {
  const TemporaryFile schedule(
      TextBytes("1700000000150000000 install late\n"
                "1700000000200000000 remove early\n"
                "1700000000350000000 remove late\n"
                "1700000000450000000 install late\n"));
  EXPECT_EQ(Told(Event("early", "measure(\"hh\").total >= 0") +
                     Event("late", "measure(\"hh\").total >= 0", "100ms", ", for: 2"),
                 kPorts, Traffic(13, 50000000), {"--schedule", schedule.path()}),
            "early 100ms 2/0\nearly 200ms 4/0\n"  // late: from 100 ms, and from 400 ms
            "late 300ms 6/0\nlate 600ms 12/0\nlate 700ms 13/0\n");
}

TEST_F(MeasuredReplay, GivesEachPacketItsMetadata) {
  const std::string program =
      "paths = Counter(width=32); asked = Counter(width=32);\n"
      "pkts >> paths.set(paths + pkt.output_port - 20);\nctrl >> asked.set(asked + 1);\n";
  const std::string head = "path,qlen1,qlen2,qlen3,in_port,is_ctrl\n";
  const TemporaryFile meta(TextBytes(head + "1,0,0,0,1,0\n0,0,0,0,1,1\n\n1,0,0,0,1,0\n\r\n"));
  EXPECT_EQ(Told(Event("paths", "measure(\"hh\").paths > measure(\"hh\").asked"), program,
                 Traffic(3, 1000), {"--meta", meta.path()}),
            "paths 100ms 2/1\n");
  EXPECT_EQ(Told(Event("x", "measure(\"hh\").paths > 0"), program, Traffic(4, 1000),
                 {"--meta", meta.path()}),
            meta.path() + ": describes 3 packets, but the capture has 4\n");
  const TemporaryFile marked(TextBytes("\xef\xbb\xbf" + head + "1,0,0,0,1,0\n"));  // a BOM
  EXPECT_EQ(Told(Event("paths", "measure(\"hh\").paths > 0"), program, Traffic(1, 1000),
                 {"--meta", marked.path()}),
            "paths 100ms 1/0\n");
  const Bytes first = Traffic(2, 1000, 5000);
  Bytes disordered = Traffic(1, 1000, 9000);
  disordered.insert(disordered.end(), first.begin() + 24, first.end());
  const std::string error =
      Told(Event("x", "measure(\"hh\").paths > 0"), program, disordered, {"--meta", meta.path()});
  EXPECT_NE(error.find(": packet 2 is before the one above it; --meta with --events takes packets "
                       "in the order of time\n"),
            std::string::npos)
      << error;
}

TEST_F(MeasuredReplay, SaysWhatIsWrongWithTheProgram) {
  EXPECT_EQ(
      Told(Event("x", "measure(\"hh\").n > 0"), "n = Counter(\n", Traffic(2, 1000)).substr(0, 4),
      "p:2:");
  EXPECT_EQ(outcome_.status, kExitInput);
}

TEST_F(MeasuredReplay, CountsTheSameOnManyThreadsAsOnOne) {
  const std::string events =
      Event("a", "sum(packets) > 3") + Event("b", "measure(\"hh\").total > 9");
  const std::string one = Told(events, kPorts, Traffic(100, 7777777));
  EXPECT_GT(one.size(), 100u);
  EXPECT_EQ(Told(events, kPorts, Traffic(100, 7777777), {"--threads=3", "--split=packet"}), one);
}

TEST_F(MeasuredReplay, EndsWhereItCannotWrite) {
  const TemporaryFile events(TextBytes(Event("all", "measure(\"hh\").total >= 0")));
  const TemporaryFile program(TextBytes(kPorts));
  Bytes bytes = PcapHeader();
  for (const uint32_t second : {0u, kStart}) {
    const Bytes packet = PcapPacket(second, 0, UdpFrame(80, 10));
    bytes.insert(bytes.end(), packet.begin(), packet.end());
  }
  const TemporaryFile capture(
      bytes);  // what is true for 53 years is told 17 thousand million times
  std::FILE* full = std::fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  Output err;
  EXPECT_EQ(
      RunReplay({"--events", events.path(), "--program", "hh=" + program.path(), capture.path()},
                full, err.file()),
      kExitInput);
  std::fclose(full);
  EXPECT_EQ(err.Close(), "cannot write reports: No space left on device\n");
}

}  // namespace
}  // namespace trumpet
