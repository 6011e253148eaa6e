// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// trumpet-replay as its users see it: arguments in, lines and exit status out.

#include "tests/replay/replay_kit_test.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace trumpet {
namespace {

using namespace replay_kit;

TEST(Replay, PrintsOneLineForEachReport) {
  const TemporaryFile events(
      TextBytes("events:\n"
                "  - name: heavy\n"
                "    filter: dstPort=80\n"
                "    predicate: sum(volume) > 250\n"
                "    flow_granularity: dstPort\n"
                "    time_interval: 10ms\n"
                "    severity: warning\n"));
  const TemporaryFile capture(Traffic(12, 2000000));  // 5 a interval, 3 or 2 of them to port 80
  const Outcome outcome = Replayed({"--events", events.path(), capture.path()});
  EXPECT_EQ(outcome.status, kExitOk);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out,
            "{\"event\":\"heavy\",\"bucket\":{\"dstPort\":80},\"start_ns\":1700000000000000000,"
            "\"end_ns\":1700000000010000000,\"value\":300,\"threshold\":250,\"complete\":true,"
            "\"severity\":\"warning\"}\n");
}

TEST(Replay, DecidesFromTheIntervalOfTheFirstPacketToThatOfTheLast) {
  const TemporaryFile events(TextBytes("events: ['dstPort=99, count(packets) = 0, none, 10ms']\n"));
  const TemporaryFile capture(Traffic(2, 30000000, 15000000));  // at 15 and 45 ms
  const Outcome outcome = Replayed({"--events=" + events.path(), capture.path()});
  std::string starts;
  for (size_t at = outcome.out.find("start_ns\":17000000000"); at != std::string::npos;
       at = outcome.out.find("start_ns\":17000000000", at + 1)) {
    starts += outcome.out.substr(at + 20, 2) + " ";
  }
  EXPECT_EQ(starts, "01 02 03 04 ");
}

TEST(Replay, PrintsTheSameBytesTwice) {
  const TemporaryFile events(TextBytes(
      "events:\n"
      "  - '*, sum(volume) > 0, 5-tuple, 1ms'\n"
      "  - '*, stddev(volume / 3) >= 0 or count(packets) = 0, srcIP/24 and dstPort, 3ms'\n"));
  const TemporaryFile first(Traffic(500, 77777));
  const TemporaryFile second(Traffic(500, 99999, 33));
  const std::vector<std::string> arguments = {"--events", events.path(), first.path(),
                                              second.path()};
  const Outcome once = Replayed(arguments);
  EXPECT_EQ(once.status, kExitOk);
  EXPECT_GT(once.out.size(), 10000u);
  EXPECT_EQ(once.out, Replayed(arguments).out);
}

TEST(Replay, KeepsToTheBucketsThatAnEventAllows) {
  const TemporaryFile events(
      TextBytes("- {event: '*, sum(volume) > 0, dstPort, 10ms', max_buckets: 1}\n"));
  const TemporaryFile capture(Traffic(2, 1000));  // one packet to each of two ports
  const Outcome outcome = Replayed({"--events", events.path(), capture.path()});
  EXPECT_EQ(outcome.status, kExitOk);
  EXPECT_EQ(outcome.err, "trumpet-replay: warning: not complete: buckets given up: 1\n");
  EXPECT_NE(outcome.out.find("\"complete\":false,\"reasons\":[\"bucket-evicted\"]"),
            std::string::npos)
      << outcome.out;
}

TEST(Replay, PrintsNothingForACaptureWithoutPackets) {
  const TemporaryFile events(TextBytes("events: ['*, count(packets) = 0, none, 10ms']\n"));
  const TemporaryFile capture(PcapHeader());
  const Outcome outcome = Replayed({"--events", events.path(), capture.path()});
  EXPECT_EQ(outcome.status, kExitOk);
  EXPECT_EQ(outcome.out + outcome.err, "");
}

TEST(Replay, NamesThePlaceOfAnErrorAndPrintsNothing) {
  const TemporaryFile good(TextBytes("events: ['*, sum(volume) > 0, none, 10ms']\n"));
  const TemporaryFile bad_event(TextBytes("events:\n  - '*, sum(bytez) > 0, none, 10ms'\n"));
  const TemporaryFile bad_yaml(TextBytes("events: [\n"));
  const TemporaryFile capture(Traffic(10, 1000000));
  Bytes cut_bytes = Traffic(10, 1000000);
  cut_bytes.resize(cut_bytes.size() - 5);
  const TemporaryFile cut(cut_bytes);
  const TemporaryFile no_capture(TextBytes("hello, this is no capture\n"));
  struct Row {
    std::string events;
    std::string capture;
    std::string place;
  };
  const Row rows[] = {
      {bad_event.path(), capture.path(), bad_event.path() + ":2:"},
      {bad_yaml.path(), capture.path(), bad_yaml.path() + ":"},
      {good.path() + ".none", capture.path(), good.path() + ".none: "},
      {good.path(), capture.path() + ".none", capture.path() + ".none: "},
      {good.path(), no_capture.path(), no_capture.path() + ": "},
      {good.path(), cut.path(), cut.path() + ": "},
  };
  for (const Row& row : rows) {
    const Outcome outcome = Replayed({"--events", row.events, capture.path(), row.capture});
    EXPECT_EQ(outcome.status, kExitInput) << row.place;
    EXPECT_EQ(outcome.out, "") << row.place;
    EXPECT_EQ(outcome.err.substr(0, row.place.size()), row.place) << outcome.err;
  }
}

TEST(Replay, RefusesAWrongCommandLineWithOneClearMessage) {
  struct Row {
    std::vector<std::string> arguments;
    std::string message;
  };
  const Row rows[] = {
      {{}, "--events FILE.yaml or --program FILE.mafia is missing"},
      {{"a.pcap"}, "--events FILE.yaml or --program FILE.mafia is missing"},
      {{"--events", "e.yaml"}, "no capture is given"},
      {{"--events"}, "--events needs a value"},
      {{"--events="}, "--events: the name of the file is empty"},
      {{"--events=a", "--events=b", "c"}, "--events is given twice"},
      {{"--evens", "e.yaml", "a.pcap"}, "--evens: unknown option"},
      {{"-x"}, "-x: unknown option"},
      {{"--stats=yes"}, "--stats takes no value"},
      {{"--program=p.mafia", "--events=e", "--state", "a"},
       "--state and --events cannot be given together"},
      {{"--program=p.mafia", "a", "b"}, "--program without --events takes one capture"},
      {{"--program=p.mafia", "--program=q.mafia", "a"}, "several programs need --events FILE.yaml"},
      {{"--program=p=a.mafia", "--program=p.mafia", "--events=e", "a"},
       "--program: two are named 'p'; say NAME=FILE.mafia"},
      {{"--program=p=", "--events=e", "a"}, "--program: the name of the file is empty"},
      {{"--program=p", "--meta=m", "--events=e", "a", "b"}, "--meta takes one capture"},
      {{"--program=p.mafia", "--threads=2", "a"}, "--threads needs --events FILE.yaml"},
      {{"--events=e", "--state", "a"}, "--state needs --program FILE.mafia"},
      {{"--hash=crc", "--program=p", "a"}, "--hash is 'crc'; it takes fast or reference"},
      {{"--batch=33", "--program=p", "a"}, "--batch is '33'; it takes 1 to 32"},
      {{"--batch=1", "--events=e", "a"}, "--batch needs --program FILE.mafia"},
      {{"--param=x", "--program=p", "a"},
       "--param is 'x'; it takes NAME=VALUE or PROGRAM.NAME=VALUE"},
      {{"--param=.x=1", "--program=p", "a"},
       "--param is '.x=1'; it takes NAME=VALUE or PROGRAM.NAME=VALUE"},
      {{"--param=q.x=1", "--program=p", "a"}, "--param is 'q.x=1'; there is no program 'q'"},
      {{"--param=x=1", "--program=p", "--program=q", "--events=e", "a"},
       "--param is 'x=1'; of several programs it takes PROGRAM.NAME=VALUE"},
      {{"--flow-timeout=10"}, "--flow-timeout is '10'; it takes 1ms to 3600s, like 10s"},
      {{"--flow-timeout=0s"}, "--flow-timeout is '0s'; it takes 1ms to 3600s, like 10s"},
      {{"--flow-timeout=3601s"}, "--flow-timeout is '3601s'; it takes 1ms to 3600s, like 10s"},
      {{"--flow-timeout=99999999999999999999s"},
       "--flow-timeout is '99999999999999999999s'; it takes 1ms to 3600s, like 10s"},
      {{"--burst-gap", "-1us"}, "--burst-gap is '-1us'; it takes 0ns to 1s, like 10us"},
      {{"--burst-gap=2s"}, "--burst-gap is '2s'; it takes 0ns to 1s, like 10us"},
      {{"--vxlan-port=0"}, "--vxlan-port is '0'; it takes a UDP port, 1 to 65535"},
      {{"--geneve-port=65536"}, "--geneve-port is '65536'; it takes a UDP port, 1 to 65535"},
      {{"--vxlan-port=1", "--vxlan-port=2", "--vxlan-port=3", "--vxlan-port=4"},
       "--vxlan-port may be given at most 3 times"},
      {{"--threads=0"}, "--threads is '0'; it takes 1 to 64"},
      {{"--threads=65"}, "--threads is '65'; it takes 1 to 64"},
      {{"--flows=15"}, "--flows is '15'; it takes 16 to 4194304"},
      {{"--split=odd"}, "--split is 'odd'; it takes flow, direction or packet"},
      {{"--schedule=a", "--schedule=b"}, "--schedule is given twice"},
  };
  for (const Row& row : rows) {
    const Outcome outcome = Replayed(row.arguments);
    EXPECT_EQ(outcome.status, kExitUsage) << row.message;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "trumpet-replay: " + row.message + "\nTry 'trumpet-replay --help'.\n");
  }
}

TEST(Replay, HelpsAndTellsItsVersionWithoutMuchElse) {
  for (const char* flag : {"-h", "--help"}) {
    const Outcome outcome = Replayed({flag});
    EXPECT_EQ(outcome.status, kExitOk);
    EXPECT_NE(outcome.out.find("Usage: trumpet-replay --events FILE.yaml"), std::string::npos);
  }
  for (const char* flag : {"-V", "--version"}) {
    const Outcome outcome = Replayed({flag});
    EXPECT_EQ(outcome.status, kExitOk);
    EXPECT_EQ(outcome.out.substr(0, 15), "trumpet-replay ");
  }
}

TEST(Replay, SumsUpOnStandardErrorWhenAsked) {
  const TemporaryFile events(TextBytes("events: ['*, sum(volume) > 0, 5-tuple, 10ms']\n"));
  const TemporaryFile capture(Traffic(10, 1000000));
  const Outcome plain = Replayed({"--events", events.path(), capture.path()});
  const Outcome stats = Replayed({"--stats", "--events", events.path(), "--", capture.path()});
  EXPECT_EQ(stats.out, plain.out);
  EXPECT_EQ(plain.err, "");
  EXPECT_NE(stats.err.find("packets                      10\n"), std::string::npos) << stats.err;
  EXPECT_NE(stats.err.find("reports                      2\n"), std::string::npos) << stats.err;
}

TEST(Replay, LooksForTunnelsAtThePortsItIsTold) {
  const TemporaryFile events(TextBytes("events: ['tunnelId=7, count(packets) > 0, none, 10ms']\n"));
  Ipv4Header ip;
  ip.protocol = kProtocolUdp;
  const Bytes inner = UdpFrame(80, 10);
  const Bytes vxlan = Join({{8, 0, 0, 0}, Be32(7 << 8), inner});
  const Bytes udp = Join({Be16(1), Be16(8472), Be16(8 + vxlan.size()), Be16(0), vxlan});
  const TemporaryFile capture(
      Join({PcapHeader(), PcapPacket(kStart, 0, Ethernet(0x0800, Ipv4(ip, udp)))}));
  EXPECT_EQ(Replayed({"--events", events.path(), capture.path()}).out, "");
  EXPECT_NE(Replayed({"--vxlan-port=8472", "--events", events.path(), capture.path()}).out, "");
}

TEST(Replay, CountsTheSameOnManyThreadsAsOnOne) {
  const TemporaryFile events(TextBytes(
      "events:\n"
      "  - '*, sum(volume) > 0, 5-tuple, 1ms'\n"
      "  - '*, stddev(volume / 3) >= 0 or count(packets) = 0, srcIP/24 and dstPort, 3ms'\n"));
  const TemporaryFile capture(Traffic(500, 77777));
  const std::vector<std::string> plain = {"--events", events.path(), capture.path()};
  const Outcome one = Replayed(plain);
  EXPECT_GT(one.out.size(), 10000u);
  for (const char* split : {"flow", "direction", "packet"}) {
    std::vector<std::string> many = {"--threads=3", "--split", split, "--stats"};
    many.insert(many.end(), plain.begin(), plain.end());
    const Outcome outcome = Replayed(many);
    EXPECT_EQ(outcome.out, one.out) << split;
    EXPECT_NE(outcome.err.find("packets                      500\n"), std::string::npos);
  }
}

// Each packet is 100 bytes; one comes every 2 ms.
TEST(Replay, InstallsAndRemovesEventsByASchedule) {
  const TemporaryFile events(
      TextBytes("events:\n"
                "  - {name: always, event: '*, count(packets) >= 0, none, 10ms'}\n"
                "  - {name: late, event: '*, count(packets) >= 0, none, 10ms'}\n"));
  const TemporaryFile schedule(
      TextBytes("# half of the second interval\n"
                "1700000000015000000 install late\n"
                "1700000000040000000 remove late\n"));
  const TemporaryFile capture(Traffic(30, 2000000));
  const Outcome outcome =
      Replayed({"--events", events.path(), "--schedule", schedule.path(), capture.path()});
  EXPECT_EQ(outcome.status, kExitOk) << outcome.err;
  std::string late;
  for (size_t at = 0; (at = outcome.out.find("{\"event\":\"late\"", at)) != std::string::npos;) {
    const size_t end = outcome.out.find('\n', at);
    const std::string line = outcome.out.substr(at, end - at);
    late += line.substr(line.find("\"value\""),
                        line.find(',', line.find("\"complete\"")) - line.find("\"value\"")) +
            "\n";
    at = end;
  }
  EXPECT_EQ(late,
            "\"value\":2,\"threshold\":0,\"complete\":false\n"
            "\"value\":5,\"threshold\":0,\"complete\":true}\n"
            "\"value\":5,\"threshold\":0,\"complete\":true}\n");
  EXPECT_EQ(outcome.err, "");
}

TEST(Replay, NamesTheLineOfAScheduleThatIsAtFault) {
  const TemporaryFile events(
      TextBytes("events: [{name: one, event: '*, sum(volume) > 0, none, 10ms'}]\n"));
  const TemporaryFile capture(Traffic(2, 1000));
  const std::pair<const char*, const char*> rows[] = {
      {"soon install one\n",
       ":1: a line is 'NANOSECONDS install NAME' or 'NANOSECONDS remove NAME'\n"},
      {"\n5 replace one\n",
       ":2: a line is 'NANOSECONDS install NAME' or 'NANOSECONDS remove NAME'\n"},
      {"5 install two\n", ":1: there is no event 'two'\n"},
      {"5 remove one\n6 remove one\n", ":2: 'one' is not installed\n"},
      {"5 install one\n5 install one\n", ":2: 'one' is installed already\n"},
      {"5 remove one\n4 install one\n", ":2: the time is before that of the line above\n"},
  };
  for (const auto& [text, message] : rows) {
    const TemporaryFile schedule(TextBytes(text));
    const Outcome outcome =
        Replayed({"--events", events.path(), "--schedule", schedule.path(), capture.path()});
    EXPECT_EQ(outcome.status, kExitInput);
    EXPECT_EQ(outcome.err, schedule.path() + message);
  }
}

TEST(Replay, MarksWhatFoundNoRoomInASmallTable) {
  const TemporaryFile events(TextBytes("events: ['*, count(packets) > 0, none, 10ms']\n"));
  Bytes capture = PcapHeader(kNanoMagic);
  for (uint16_t port = 0; port < 100; ++port) {
    const Bytes packet = PcapPacket(kStart, port, UdpFrame(port, 10));
    capture.insert(capture.end(), packet.begin(), packet.end());
  }
  const TemporaryFile file(capture);
  const Outcome outcome = Replayed({"--flows=64", "--events", events.path(), file.path()});
  EXPECT_NE(outcome.out.find("\"value\":64,\"threshold\":0,\"complete\":false,"
                             "\"reasons\":[\"flow-table-full\"]"),
            std::string::npos)
      << outcome.out;
  EXPECT_EQ(outcome.err,
            "trumpet-replay: warning: not complete: packets of flows that found no room: 36\n");
}

// Collects each packet.
const char kPostcards[] =
    "endpoint E; pkts >> duplicate(cards);\n"
    "cards >> tag(ipv4.id, pkt.output_port) >> collect(E);\n";

TEST(Replay, PrintsNoCollectedPacketUnlessAllIsReadable) {
  const TemporaryFile program(TextBytes(kPostcards));
  const TemporaryFile whole(Traffic(100, 1000));
  Bytes cut_bytes = Traffic(100, 1000);
  cut_bytes.resize(cut_bytes.size() - 5);
  const TemporaryFile cut(cut_bytes);
  std::string lines = "path,qlen1,qlen2,qlen3,in_port,is_ctrl\n";
  for (int i = 0; i < 99; ++i) lines += "0,0,0,0,1,0\n";
  const TemporaryFile short_meta(TextBytes(lines));
  const std::string of_program = "--program=" + program.path();
  const Outcome good = Replayed({of_program, whole.path()});
  EXPECT_EQ(good.status, kExitOk) << good.err;
  EXPECT_EQ(std::count(good.out.begin(), good.out.end(), '\n'), 100);
  const struct {
    Outcome outcome;
    std::string place;
  } rows[] = {
      {Replayed({of_program, cut.path()}), cut.path() + ": packet 100: "},
      {Replayed({of_program, "--meta", short_meta.path(), whole.path()}),
       short_meta.path() + ": describes 99 packets, but the capture has 100\n"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(row.outcome.status, kExitInput) << row.place;
    EXPECT_EQ(row.outcome.out, "") << row.place;
    EXPECT_EQ(row.outcome.err.substr(0, row.place.size()), row.place);
  }
}

TEST(Replay, RunsAProgramOverStandardInputInItsOrder) {
  const TemporaryFile program(TextBytes(kPostcards));
  const Bytes second = Traffic(1, 1000, 7);
  Bytes disordered = Traffic(1, 1000, 9);
  disordered.insert(disordered.end(), second.begin() + 24, second.end());
  const TemporaryFile capture(disordered);
  const StandardInput input(capture.path());
  const Outcome outcome = Replayed({"--program", program.path(), "-"});
  EXPECT_EQ(outcome.status, kExitOk) << outcome.err;
  const size_t first = outcome.out.find("\"t_ns\":1700000000000000009");
  EXPECT_NE(first, std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\"t_ns\":1700000000000000007", first), std::string::npos)
      << outcome.out;
}

TEST(Replay, PrintsWhatIsCollectedSwitchBySwitchWhateverABatchIs) {
  const TemporaryFile program(TextBytes(
      "endpoint E;\nrole every { pkts >> duplicate(cards); cards >> tag(ipv4.id, switch.id)\n"
      ">> collect(E) }\n"));
  const TemporaryFile capture(Traffic(70, 1000));
  std::vector<std::string> outputs;
  for (const char* batch : {"--batch=1", "--batch=32"}) {
    const Outcome outcome = Replayed({"--program", program.path(), batch, capture.path()});
    EXPECT_EQ(outcome.status, kExitOk) << outcome.err;
    outputs.push_back(outcome.out);
  }
  EXPECT_EQ(std::count(outputs[0].begin(), outputs[0].end(), '\n'), 210);
  EXPECT_LT(outputs[0].rfind("{\"switch\":1,"), outputs[0].find("{\"switch\":2,"));
  EXPECT_LT(outputs[0].rfind("{\"switch\":2,"), outputs[0].find("{\"switch\":3,"));
  EXPECT_EQ(outputs[0], outputs[1]);
}

// Each ends behind the beginning of the last.
TEST(Replay, ReadsMoreCapturesAtOnceThanFilesAreUsuallyOpen) {
  rlimit files{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  const rlimit few{48, files.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const TemporaryFile events(TextBytes("- '*, sum(packets) > 0, none, 10s'"));
  const TemporaryFile capture(Traffic(2, 2000000));
  std::vector<std::string> arguments = {"--events", events.path()};
  for (int i = 0; i < 60; ++i) arguments.push_back(capture.path());
  const Outcome outcome = Replayed(arguments);
  EXPECT_EQ(outcome.status, kExitOk) << outcome.err;
  EXPECT_NE(outcome.out.find("\"value\":120,"), std::string::npos) << outcome.out;
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
}

// JSON, even then.
TEST(Replay, NamesAProgramWhoseFileHasNoText) {
  const std::string path = ::testing::TempDir() + "/x\xff.mafia";
  std::ofstream(path) << "c = Counter(); pkts >> c.add(1)";
  const TemporaryFile capture(Traffic(1, 1000));
  const Outcome outcome = Replayed({"--program", path, "--state", capture.path()});
  EXPECT_EQ(outcome.status, kExitOk) << outcome.err;
  EXPECT_EQ(outcome.out.find("{\"usecase\":\"x\xef\xbf\xbd.mafia\","), 0u) << outcome.out;
  std::remove(path.c_str());
}

// Of three switches, none of which is told to have a role of the site.
TEST(Replay, ShowsTheStateOfARoleWhereItIsPlayed) {
  const TemporaryFile program(
      TextBytes("role core { a = Counter(); pkts >> (a.add(1) ++ a.add(1)) }\n"
                "role every { b = Counter(); pkts >> b.add(1) }\n"
                "role last_hop { c = Counter(); pkts >> c.set(b) }\n"));
  const TemporaryFile capture(Traffic(2, 1000));
  const Outcome outcome = Replayed({"--program", program.path(), "--state", capture.path()});
  EXPECT_EQ(outcome.status, kExitOk) << outcome.err;
  const std::string b = "\"b\":{\"kind\":\"scalar\",\"value\":2}";
  const std::string c = "\"c\":{\"kind\":\"scalar\",\"value\":2}";
  const std::string switches = "\"switches\":[{" + b + "},{" + b + "},{" + b + "," + c + "}]";
  EXPECT_NE(outcome.out.find(switches), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("ordered"), std::string::npos) << outcome.out;
}

TEST(Replay, SaysThatItCouldNotWrite) {
  const TemporaryFile events(TextBytes("events: ['*, sum(volume) > 0, 5-tuple, 1ms']\n"));
  const TemporaryFile capture(Traffic(200, 1000000));
  std::FILE* full = std::fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  Output err;
  EXPECT_EQ(RunReplay({"--events", events.path(), capture.path()}, full, err.file()), kExitInput);
  std::fclose(full);
  EXPECT_EQ(err.Close(), "cannot write reports: No space left on device\n");
}

}  // namespace
}  // namespace trumpet
