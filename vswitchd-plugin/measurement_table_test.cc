// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/measurement_table.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lib/base/memory_shortage_test.h"
#include "lib/measure/request_frame.h"
#include "vswitchd-plugin/fake_switch_test.h"
#include "vswitchd-plugin/measurement_commands.h"

namespace trumpet {
namespace {

using testing::StillSwitch;

constexpr char kSizes[] =
    "flow = Key(ipv4.src, ipv4.dst, udp.src, udp.dst);\n"
    "total = Counter(width=32);\n"
    "size = Sketch(alg=\"count-min\", key=flow, nhash=4, size=256, width=32);\n"
    "pkts >> total.set(total + 1) >> size.set(size + pkt.size);\n";
constexpr char kFlow[] = "key=10.0.0.1,10.0.128.1,1000,2000";

class MeasurementTableTest : public ::testing::Test {
 protected:
  MeasurementTableTest() : still_(2) {
    still_.plugin.SetConfig({{"trumpet-enable", "true"}});
    still_.RunMs(1);
  }

  std::string Add(const std::string& name, const std::string& text) {
    return still_.Command("trumpet/program-add", {name, text});
  }
  nlohmann::json Ask(const std::string& command, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "json");
    const std::string answer = still_.Command("trumpet/" + command, arguments);
    EXPECT_NE(answer.substr(0, 6), "error:") << answer;
    return nlohmann::json::parse(answer);
  }
  uint64_t Total(const std::string& program) {
    return Ask("program-read", {program, "total"})["largest"].empty()
               ? 0
               : Ask("program-read", {program, "total"})["largest"][0]["value"].get<uint64_t>();
  }

  StillSwitch still_;
};

TEST_F(MeasurementTableTest, RunsOnAllThreadsAndIsReadAsOne) {
  EXPECT_FALSE(still_.fake.is_attached());
  EXPECT_EQ(Add("sizes", kSizes), "program sizes installed\n");
  EXPECT_TRUE(still_.fake.is_attached());
  still_.Receive(still_.threads[0], 5);
  still_.Receive(still_.threads[1], 3);
  still_.Receive(still_.threads[1], 2, 0x0a008002);
  EXPECT_EQ(Total("sizes"), 10u);
  EXPECT_EQ(still_.Command("trumpet/program-read", {"sizes", "size", kFlow}),
            "size of 10.0.0.1,10.0.128.1,1000,2000: 480, and not less than 474 (98.2%)\n");
  const auto at_key = Ask("program-read", {"sizes", "size", kFlow});
  EXPECT_EQ(at_key["value"], 480);
  EXPECT_EQ(at_key["cells"].size(), 4u);
  const auto variables = Ask("program-read", {"sizes"})["variables"];
  EXPECT_EQ(variables[0]["value"], 10);
  EXPECT_EQ(variables[1]["kind"], "count-min");
  EXPECT_EQ(still_.Command("trumpet/program-del", {"sizes"}), "program sizes deleted\n");
  EXPECT_FALSE(still_.fake.is_attached());
  EXPECT_EQ(still_.Command("trumpet/program-read", {"sizes"}),
            "error: no program 'sizes' is installed");
}

TEST_F(MeasurementTableTest, MarksAndForwardsNothingAndLeavesEventsTheirPackets) {
  still_.Install({"*, sum(packets) >= 6, 10ms"});
  Add("sizes", kSizes);
  still_.RunMs(30);
  still_.RunToBoundary();
  EXPECT_EQ(still_.Receive(still_.threads[0], 6), 0);
  still_.RunMs(30);
  EXPECT_EQ(still_.Reports().size(), 1u);
  EXPECT_EQ(Total("sizes"), 6u);
}

TEST_F(MeasurementTableTest, DisablingStopsProgramsAndKeepsWhatTheyHold) {
  Add("sizes", kSizes);
  still_.Receive(still_.threads[0], 2);
  still_.Command("trumpet/disable");
  EXPECT_FALSE(still_.fake.is_attached());
  const testing::UdpFrame udp(1, 2, 3, 4);
  const trumpet_frame frame{udp.bytes.data(), 60, 60};
  uint32_t mark = 0;
  still_.threads[0]->OnReceive(&frame, 1, 7, still_.monotonic / 1000, &mark);
  EXPECT_EQ(Total("sizes"), 2u);
  EXPECT_EQ(Add("more", kSizes),
            "program more installed\nthe monitor is off: see trumpet/enable\n");
  EXPECT_FALSE(still_.fake.is_attached());
  still_.Command("trumpet/enable");
  EXPECT_TRUE(still_.fake.is_attached());
  still_.Receive(still_.threads[0], 3);
  EXPECT_EQ(Total("sizes"), 5u);
  EXPECT_EQ(Total("more"), 3u);
}

TEST_F(MeasurementTableTest, ThreadsComeAndGoAndNothingIsLost) {
  Add("sizes", kSizes);
  ThreadMonitor* const late = still_.AddThread(5);
  still_.Receive(late, 4);
  still_.RemoveThread(late);
  still_.RunMs(1);
  EXPECT_EQ(Total("sizes"), 4u);
  EXPECT_EQ(Ask("program-show", {"sizes"})["threads"], 2);
  ThreadMonitor* const next = still_.AddThread(6);
  still_.Receive(next, 3);
  EXPECT_EQ(Total("sizes"), 7u);
  EXPECT_EQ(Ask("program-show", {"sizes"})["threads"], 3);
  Add("later", kSizes);
  still_.Receive(next, 1);
  EXPECT_EQ(Total("later"), 1u);
}

TEST_F(MeasurementTableTest, ProgramsAreChangedWhileOthersKeepTheirState) {
  Add("a", kSizes);
  still_.Receive(still_.threads[0], 2);
  Add("b", kSizes);
  still_.Receive(still_.threads[0], 2);
  EXPECT_EQ(Total("a"), 4u);
  EXPECT_EQ(Total("b"), 2u);
  still_.Command("trumpet/program-del", {"a"});
  still_.Receive(still_.threads[0], 2);
  EXPECT_EQ(Total("b"), 4u);
  Add("a", kSizes);
  EXPECT_EQ(Total("a"), 0u);
}

// Wherever it runs out: what was installed before may still be in use.
TEST_F(MeasurementTableTest, AChangeThatFindsNoMemoryIsNotMade) {
  Add("a", kSizes);
  Add("b", kSizes);
  MeasurementTable& table = still_.plugin.agent().measurements();
  const auto remove = [&] { static_cast<void>(table.Remove("a")); };
  uint64_t received = 0;
  for (uint64_t calls = 0; !testing::DoesWith(calls, remove); ++calls) {
    ASSERT_EQ(table.Snapshot().programs.size(), 2u) << calls;
    for (ThreadMonitor* thread : still_.threads) still_.Receive(thread, 1);
    ASSERT_EQ(Total("a"), received += 2);
  }
  EXPECT_EQ(table.Snapshot().programs.size(), 1u);
}

// The switch forwards without the monitor there, and nobody waits for the thread or shows it
// anything.
TEST_F(MeasurementTableTest, AThreadThatFindsNoMemoryIsKnownToNobody) {
  Add("sizes", kSizes);
  still_.Command("trumpet/slice-on", {"1", "1000", "*"});
  const auto add = [&] { still_.plugin.agent().AddThread({5, 0, true, nullptr}); };
  for (uint64_t calls = 0; !testing::DoesWith(calls, add); ++calls) {
    ASSERT_EQ(Ask("program-show", {"sizes"})["threads"], 2) << calls;
    still_.Command("trumpet/slice-on", {"2", "1000", "*"});
    still_.Command("trumpet/slice-off", {"2"});
  }
  EXPECT_EQ(Ask("program-show", {"sizes"})["threads"], 3);
}

TEST_F(MeasurementTableTest, TimeIsUnixTimeAndPortsAreThoseOfTheDatapath) {
  Add("when",
      "t = Timestamp();\nports = Counter(width=32);\n"
      "pkts >> timestamp(t) >> ports.set(pkt.input_port);\n");
  still_.Receive(still_.threads[0], 1, 0x0a008001, 9);
  const auto variables = Ask("program-read", {"when"})["variables"];
  EXPECT_EQ(variables[0]["value"], StillSwitch::kBoot + still_.monotonic);
  EXPECT_EQ(variables[1]["value"], 9);
}

TEST_F(MeasurementTableTest, CountsKeysWithTheirConfidence) {
  Add("keys",
      "flow = Key(ipv4.dst);\n"
      "flows = Sketch(alg=\"hyperloglog\", key=flow, nhash=1, size=1024);\n"
      "pkts >> flows.update();\n");
  for (uint32_t i = 0; i < 3000; ++i) still_.Receive(still_.threads[i % 2], 1, 0x0a100000 + i);
  const auto keys = Ask("program-read", {"keys", "flows"})["keys"];
  EXPECT_NEAR(keys["value"].get<double>(), 3000, 4 * 0.0325 * 3000);
  EXPECT_LT(keys["low"], keys["value"]);
  EXPECT_GT(keys["high"], keys["value"]);
  EXPECT_EQ(still_.Command("trumpet/program-read", {"keys", "flows", "key=10.16.0.1"}),
            "error: 'flows' tells how many keys there were, but nothing of one");
}

// Two keys in one cell: what the second has counted goes with the first.
TEST_F(MeasurementTableTest, BoundsNoErrorOfSketchesWhoseKeysAreReset) {
  Add("bytes",
      "flow = Key(ipv4.dst);\n"
      "s = Sketch(alg=\"count-min\", key=flow, nhash=1, size=1, width=32);\n"
      "pkts >> s.add(1) >> match(ipv4.dst == 10.16.0.1) >> s.reset();\n");
  still_.Receive(still_.threads[0], 3, 0x0a100002);
  still_.Receive(still_.threads[0], 1, 0x0a100001);
  still_.Receive(still_.threads[0], 1, 0x0a100003);
  const auto reading = Ask("program-read", {"bytes", "s", "key=10.16.0.2"});
  EXPECT_EQ(reading["value"], 1) << "it was 3";
  EXPECT_FALSE(reading.contains("least")) << reading;
}

TEST_F(MeasurementTableTest, KeepsTheLastPacketsThatWereCollected) {
  Add("copies",
      "endpoint C;\n"
      "pkts >> match(pkt.size > 50) >> duplicate(found);\n"
      "found >> collect(C);\n");
  still_.Receive(still_.threads[0], 20);
  still_.RunMs(20);
  const auto program = Ask("program-show", {"copies"});
  EXPECT_EQ(program["collected"], 20);
  EXPECT_EQ(program["lost"], 0);
  ASSERT_EQ(program["copies"].size(), kShownCopies);
  EXPECT_EQ(program["copies"][0]["endpoint"], "C");
  EXPECT_EQ(program["copies"][0]["packet"]["udp.dst"], 2000);
  // The agent takes copies out of the threads' rings, so they do not fill.
  for (int i = 0; i < 300; ++i) {
    still_.Receive(still_.threads[0], 100);
    still_.RunMs(1);
    still_.plugin.agent().measurements().Follow(still_.monotonic);
  }
  EXPECT_EQ(Ask("program-show", {"copies"})["lost"], 0);
}

TEST_F(MeasurementTableTest, RanksTheKeysOfCollectedPacketsByTheirVolume) {
  Add("heavy",
      "endpoint C;\n"
      "pair = Key(ipv4.src, ipv4.dst);\n"
      "bytes = Sketch(alg=\"count-min\", key=pair, nhash=4, size=1024);\n"
      "pkts >> bytes.add(pkt.size) >> match(bytes.min() > 100) >> duplicate(found);\n"
      "found >> collect(C);\n");
  still_.Receive(still_.threads[0], 3);
  still_.Receive(still_.threads[1], 5, 0x0a008002);
  still_.Receive(still_.threads[1], 1, 0x0a008003);
  const auto read = Ask("program-read", {"heavy", "bytes"});
  EXPECT_EQ(read["total"], 9 * 60);
  ASSERT_EQ(read["top_keys"].size(), 2u);
  EXPECT_EQ(read["top_keys"][0]["key"], "10.0.0.1,10.0.128.2");
  EXPECT_EQ(read["top_keys"][0]["value"], 300);
  EXPECT_NEAR(read["top_keys"][0]["least"].get<double>(), 300 - 540 * 2.71828 / 1024, 0.001);
  EXPECT_EQ(read["top_keys"][1]["key"], "10.0.0.1,10.0.128.1");
  EXPECT_EQ(Ask("program-read", {"heavy", "bytes", "top=1"})["top_keys"].size(), 1u);
}

constexpr char kAsked[] =
    "endpoint C;\n"
    "flow = Key(ipv4.src, ipv4.dst, udp.src, udp.dst);\n"
    "size = HashMap(key=flow, size=1024, type=Counter(width=32));\n"
    "pkts >> size.add(pkt.size);\n"
    "ctrl >> match(pkt.request == 7) >> duplicate(asked);\n"
    "asked >> tag(pkt.hh_volume, size) >> collect(C);\n";

TEST_F(MeasurementTableTest, TasksOfCtrlAnswerForAllThreads) {
  EXPECT_EQ(Add("asked", kAsked),
            "program asked installed\nits tasks of ctrl answer trumpet/program-ask and "
            "packet-outs\n");
  still_.Receive(still_.threads[0], 5);
  still_.Receive(still_.threads[1], 3);
  const auto answer = Ask("program-ask", {"asked", "size", kFlow, "request=7"});
  ASSERT_EQ(answer["copies"].size(), 1u);
  EXPECT_EQ(answer["copies"][0]["packet"]["pkt.hh_volume"], 480);
  EXPECT_EQ(still_.Command("trumpet/program-ask", {"asked", "size", kFlow, "request=8"}),
            "the program has no answer\n");
  EXPECT_EQ(Ask("program-show", {"asked"})["collected"], 1);
  EXPECT_EQ(Ask("program-list", {})["requests"], 2);
  EXPECT_EQ(still_.Command("trumpet/program-ask", {"asked", "size"}),
            "error: a request takes a variable and a value of its key, or neither");
  EXPECT_EQ(still_.Command("trumpet/program-ask", {"asked", "request=70000"}),
            "error: request is '70000'; it takes 0 to 65535");
  Add("sizes", kSizes);
  EXPECT_EQ(still_.Command("trumpet/program-ask", {"sizes"}),
            "error: the program has no task of ctrl");
  EXPECT_EQ(Ask("program-list", {})["requests_refused"], 1);
}

TEST_F(MeasurementTableTest, TasksOfCtrlAnswerPacketOuts) {
  Add("asked", kAsked);
  EXPECT_TRUE(still_.fake.is_tx_wanted());
  ThreadMonitor* const main = still_.plugin.agent().AddThread({-1, -1, false, this});
  EXPECT_TRUE(main->wants_sent());
  EXPECT_FALSE(still_.threads[0]->wants_sent()) << "packet-outs do not go by PMD threads";
  still_.Receive(still_.threads[0], 5);
  const auto send = [&](std::string bytes, uint32_t in_port) {
    trumpet_sent_frame frame{};
    frame.bytes = reinterpret_cast<uint8_t*>(bytes.data());
    frame.captured_length = frame.wire_length = static_cast<uint32_t>(bytes.size());
    frame.in_port = in_port;
    main->OnSend(&frame, 1, 1, still_.monotonic / kNanosPerMicro);
  };
  const std::string request = WriteRequestFrame({"asked",
                                                 {{"ipv4.src", 0x0a000001},
                                                  {"ipv4.dst", 0x0a008001},
                                                  {"udp.src", 1000},
                                                  {"udp.dst", 2000},
                                                  {"pkt.request", 7}}});
  send(request, 3);  // it came by a port
  still_.RunMs(20);
  EXPECT_EQ(Ask("program-list", {})["requests"], 0);
  send(request, UINT32_MAX);
  still_.RunMs(20);
  const auto shown = Ask("program-show", {"asked"});
  ASSERT_EQ(shown["copies"].size(), 1u);
  EXPECT_EQ(shown["copies"][0]["packet"]["pkt.hh_volume"], 300);
  for (const std::string& wrong : {request.substr(0, 30), WriteRequestFrame({"nobody", {}}),
                                   WriteRequestFrame({"asked", {{"ipv4.tos", 256}}}),
                                   WriteRequestFrame({"asked", {{"x", 1}}})}) {
    send(wrong, UINT32_MAX);
  }
  still_.RunMs(20);
  EXPECT_EQ(Ask("program-list", {})["requests_refused"], 4);
  EXPECT_EQ(Ask("program-list", {})["requests"], 1);
  still_.Command("trumpet/program-del", {"asked"});
  EXPECT_FALSE(still_.fake.is_tx_wanted());
  still_.plugin.agent().RemoveThread(main);
}

TEST_F(MeasurementTableTest, EpochsThatFlipAreClearedInTime) {
  Add("flip",
      "total = Counter(width=32);\n"
      "window(30ms, mode=flip);\n"
      "pkts >> total.set(total + 1);\n");
  for (int i = 0; i < 10; ++i) {
    still_.Receive(still_.threads[0], 1);
    still_.RunMs(31);
  }
  EXPECT_EQ(Total("flip"), 1u);
  EXPECT_EQ(Ask("program-show", {"flip"})["late_flips"], 0);
}

TEST_F(MeasurementTableTest, RefusesWhatThisSwitchDoesNotDo) {
  EXPECT_EQ(
      Add("site", "role rack { t = Counter(width=32); pkts >> t.set(t + 1); }\n"),
      "error: the program has the role rack; a switch knows first_hop, intermediate, last_hop "
      "and every");
  EXPECT_EQ(Add("sum", "pkts >> tag(ipv4.checksum, 1);\n"),
            "error: the program tags ipv4.checksum of forwarded packets, which routers and hosts "
            "then drop; lab=yes allows it where nothing before the last hop looks at it");
  EXPECT_EQ(Ask("program-list", {})["refused"], 2);
  EXPECT_TRUE(Ask("program-list", {})["programs"].empty());
  EXPECT_FALSE(still_.fake.is_attached());
}

TEST_F(MeasurementTableTest, RefusesWhatWouldHoldUpPackets) {
  const auto budget = Ask("program-budget", {})["budget"];
  EXPECT_EQ(budget["operators"], 1024);
  EXPECT_EQ(budget["hashes"], 64);
  EXPECT_EQ(budget["cache_lines"], 128);
  EXPECT_EQ(Add("slow",
                "k = Key(ipv4.src); m = HashMap(key=k, size=100000, type=Counter());\n"
                "window(1ms, quantum=32700); pkts >> m.add(1);\n"),
            "error: the program takes 4093 operators a packet; the budget is 1024");
}

TEST_F(MeasurementTableTest, ProgramsStayWithinOneBudget) {
  EXPECT_EQ(still_.Command("trumpet/program-budget", {"hashes=1"}).substr(0, 6), "budget");
  EXPECT_EQ(Add("a", kSizes), "program a installed\n");
  EXPECT_EQ(Add("b", kSizes),
            "error: the program takes 1 hashes a packet; the budget is 0, beside the programs that "
            "are installed");
  const auto budget = Ask("program-budget", {"hashes=2"});
  EXPECT_EQ(budget["budget"]["hashes"], 2);
  EXPECT_EQ(budget["used"]["hashes"], 1);
  EXPECT_EQ(Add("b", kSizes), "program b installed\n");
  still_.Command("trumpet/program-budget", {"hashes=9", "bytes=100"});
  EXPECT_NE(Add("c", kSizes).find("bytes a packet thread; the budget is 0"), std::string::npos);
}

TEST_F(MeasurementTableTest, TakesSoManyAndNoMore) {
  for (size_t i = 0; i < kMaxMeasurements; ++i) {
    ASSERT_EQ(Add("p" + std::to_string(i), "pkts >> match(pkt.size > 2);\n").substr(0, 7),
              "program");
  }
  EXPECT_EQ(Add("more", "pkts >> match(pkt.size > 2);\n"),
            "error: 64 programs are installed; that is the most");
}

TEST_F(MeasurementTableTest, WrongArgumentsGiveOneClearLine) {
  Add("sizes", kSizes);
  EXPECT_EQ(Add("sizes", kSizes), "error: a program 'sizes' is installed already");
  EXPECT_EQ(Add("-x", kSizes).substr(0, 36), "error: the name of a program is '-x'");
  EXPECT_EQ(Add("bad", "pkts >> totl.set(1);\n").substr(0, 14), "error: bad:1:9");
  EXPECT_EQ(still_.Command("trumpet/program-add", {"x", kSizes, "PORT"}),
            "error: 'PORT' is not PARAM=VALUE (quote a program with spaces)");
  EXPECT_EQ(still_.Command("trumpet/program-add", {"x", "@nowhere"}),
            "error: reading a program from 'nowhere': the path must be absolute");
  EXPECT_EQ(still_.Command("trumpet/program-add", {"x"}),
            "error: a program takes NAME and its text, or @FILE");
  const auto read = [this](std::vector<std::string> arguments) {
    return still_.Command("trumpet/program-read", std::move(arguments));
  };
  EXPECT_EQ(read({"size"}), "error: no program 'size' is installed");
  EXPECT_EQ(read({"sizes", "sizes"}), "error: the program 'sizes' has no variable 'sizes'");
  EXPECT_EQ(read({"sizes", "key=1"}), "error: key= and top= go with a variable");
  EXPECT_EQ(read({"sizes", "total", "key=1"}), "error: 'total' has no key");
  EXPECT_EQ(read({"sizes", "size", "key=10.0.0.1"}),
            "error: the key is '10.0.0.1'; it takes values of ipv4.src,ipv4.dst,udp.src,udp.dst");
  EXPECT_EQ(read({"sizes", "size", "key=10.0.0.1,10.0.0.2,65536,1"}),
            "error: udp.src is '65536'; it takes a number of 16 bits");
  EXPECT_EQ(read({"sizes", "size", "top=0"}), "error: top is '0'; it takes 1 to 10000");
  EXPECT_EQ(still_.Command("trumpet/program-budget", {"bits=1"}),
            "error: unexpected argument 'bits=1'");
}

TEST_F(MeasurementTableTest, ReadsFilesAndParams) {
  const std::string path = ::testing::TempDir() + "measurement_table_test.mafia";
  std::ofstream(path) << "param LEAST = 10;\ntotal = Counter(width=32);\n"
                         "pkts >> match(pkt.size >= LEAST) >> total.set(total + 1);\n";
  const auto add = [&](const std::string& name, const std::string& param) {
    return still_.Command("trumpet/program-add", {name, "@" + path, param});
  };
  EXPECT_EQ(add("few", "LEAST=61"), "program few installed\n");
  EXPECT_EQ(add("all", "LEAST=60"), "program all installed\n");
  EXPECT_EQ(add("none", "MOST=60").substr(0, 6), "error:");
  std::remove(path.c_str());
  still_.Receive(still_.threads[0], 3);
  EXPECT_EQ(Total("few"), 0u);
  EXPECT_EQ(Total("all"), 3u);
  EXPECT_EQ(Ask("program-show", {"few"})["params"]["LEAST"], "61");
}

}  // namespace
}  // namespace trumpet
