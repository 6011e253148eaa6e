// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/program_desk.h"

#include <gtest/gtest.h>

#include "lib/base/byte_order.h"
#include "lib/lang/mafia/mafia_language.h"
#include "lib/packet/checksum.h"
#include "vswitchd-plugin/fake_switch_test.h"

namespace trumpet {
namespace {

using testing::StillSwitch;

constexpr char kSizes[] =
    "flow = Key(ipv4.src, ipv4.dst, udp.src, udp.dst);\n"
    "total = Counter(width=32);\n"
    "size = Sketch(alg=\"count-min\", key=flow, nhash=4, size=256, width=32);\n"
    "pkts >> total.set(total + 1) >> size.set(size + pkt.size);\n";
constexpr uint64_t kController = 77;

class ProgramDeskTest : public ::testing::Test {
 protected:
  ProgramDeskTest() : still_(2), desk_(&still_.plugin.agent().measurements()) {
    still_.plugin.SetConfig({{"trumpet-enable", "true"}});
    still_.RunMs(1);
    desk_.BeginSession(kController);
  }

  ProgramAck TurnOn(const std::string& name, uint32_t id, const std::string& text = kSizes) {
    Result<MeasureProgram> program = CompileMafia(text, name);
    EXPECT_TRUE(program.ok()) << program.message();
    return Ack(ProgramOn{{name, id}, 5, std::move(*program)});
  }
  ProgramAck Ack(const Message& order) {
    const std::optional<Message> answer = desk_.Take(order, 1, 1);
    return answer ? std::get<ProgramAck>(*answer) : ProgramAck();
  }
  CellsAnswer Read(CellsRequest request) {
    const std::optional<Message> answer = desk_.Take(request, 1, 1);
    return answer ? std::get<CellsAnswer>(*answer) : CellsAnswer();
  }

  StillSwitch still_;
  ProgramDesk desk_;
};

TEST_F(ProgramDeskTest, InstallsRunsAndRemovesAsToldBesideProgramsOfTheSwitch) {
  still_.Command("trumpet/program-add", {"mine", kSizes});
  const ProgramAck on = TurnOn("hh", 3);
  EXPECT_TRUE(on.is_on) << on.error;
  EXPECT_EQ(on.program.id, 3u);
  still_.Receive(still_.threads[0], 5);
  still_.Receive(still_.threads[1], 3);
  EXPECT_EQ(Read({1, {"hh", 3}, 0, 0, 10, {}}).cells, (std::vector<uint64_t>{8}));
  EXPECT_FALSE(Ack(ProgramOff{{"hh", 3}}).is_on);
  EXPECT_EQ(Read({2, {"hh", 3}, 0, 0, 10, {}}).error, "the program 'hh' is not installed");
  EXPECT_EQ(still_.plugin.agent().measurements().Snapshot().programs.size(), 1u);
}

TEST_F(ProgramDeskTest, TellsKeysOfPacketsThatWereCollectedOnce) {
  TurnOn("hh", 3,
         "endpoint C; flow = Key(ipv4.src, ipv4.dst);\n"
         "size = Sketch(alg=\"count-min\", key=flow, nhash=4, size=256, width=32);\n"
         "keys = Sketch(alg=\"hyperloglog\", key=flow, nhash=1, size=64);\n"
         "pkts >> size.set(size + 1) >> keys.update() >> duplicate(all); all >> collect(C);\n");
  still_.Receive(still_.threads[0], 5);
  still_.RunMs(30);
  CellsRequest request{1, {"hh", 3}, 0, 0, 100, {}, true};
  const CellsAnswer answer = Read(request);
  EXPECT_EQ(answer.error, "");
  ASSERT_EQ(answer.cells.size(), 2u) << "one flow, two fields";
  EXPECT_EQ(Read({2, {"hh", 3}, 0, 0, 0, answer.cells}).cells, (std::vector<uint64_t>(4, 5)));
  request.max_cells = 1;
  EXPECT_TRUE(Read(request).cells.empty()) << "no part of a key";
  request.variable = 1;
  EXPECT_EQ(Read(request).error, "the variable keys has no cells of a key");
}

TEST_F(ProgramDeskTest, KeepsWhatRunsWhenItIsToldAgain) {
  TurnOn("hh", 3);
  still_.Receive(still_.threads[0], 5);
  EXPECT_TRUE(TurnOn("hh", 3).is_on);
  EXPECT_EQ(Read({1, {"hh", 3}, 0, 0, 10, {}}).cells, (std::vector<uint64_t>{5}));
}

// Until all switches run it, who would take its tags out again may not be there.
TEST_F(ProgramDeskTest, HoldsTagsUntilItIsToldOtherwise) {
  still_.plugin.UpdatePort(3, "edge", "system", true);
  const auto program = CompileMafia("role first_hop { pkts >> tag(ipv4.tos, 1); }\n", "hh");
  ASSERT_TRUE(program.ok());
  ProgramOn on{{"hh", 3}, 5, *program};
  on.place.edges = {{"edge"}};
  on.place.holds_tags = true;
  const auto is_tagged = [this] {
    testing::UdpFrame udp(0x0a000001, 0x0a000002, 1000, 2000);
    uint8_t* const ip = &udp.bytes[14];
    StoreBe16(ip + 10,
              static_cast<uint16_t>(0xffff - (SumOfWords(ip, 20) - LoadBe16(ip + 10)) % 0xffff));
    trumpet_sent_frame frame{udp.bytes.data(), 60, 60, 3, false, false, false, {}, 0};
    still_.threads[0]->OnSend(&frame, 1, 7, still_.monotonic / 1000);
    return frame.is_changed;
  };
  EXPECT_TRUE(Ack(on).is_on);
  EXPECT_FALSE(is_tagged());
  EXPECT_TRUE(Ack(on).is_on) << "told again";
  EXPECT_FALSE(is_tagged());
  on.place.holds_tags = false;
  EXPECT_TRUE(Ack(on).is_on);
  EXPECT_TRUE(is_tagged());
  on.place.holds_tags = true;
  EXPECT_TRUE(Ack(on).is_on);
  EXPECT_TRUE(is_tagged()) << "what has begun goes on";
}

TEST_F(ProgramDeskTest, RefusesWithTheReason) {
  still_.Command("trumpet/program-add", {"mine", kSizes});
  EXPECT_EQ(TurnOn("mine", 3).error, "a program 'mine' is installed already");
  TurnOn("hh", 3);
  EXPECT_EQ(TurnOn("hh", 4).error, "a program 'hh' is installed already");
  still_.Command("trumpet/program-budget", {"operators=1"});
  EXPECT_NE(TurnOn("more", 5).error.find("the budget is 0"), std::string::npos);
}

TEST_F(ProgramDeskTest, RunsNothingUnsound) {
  Result<MeasureProgram> program = CompileMafia(kSizes, "hh");
  ASSERT_TRUE(program.ok());
  program->tasks[0].root = 99;
  const ProgramAck ack = Ack(ProgramOn{{"hh", 3}, 5, *program});
  EXPECT_FALSE(ack.is_on);
  EXPECT_FALSE(ack.error.empty());
  EXPECT_FALSE(still_.fake.is_attached());
}

TEST_F(ProgramDeskTest, EachRemovesOnlyHisOwn) {
  still_.Command("trumpet/program-add", {"mine", kSizes});
  TurnOn("hh", 3);
  EXPECT_EQ(still_.Command("trumpet/program-del", {"hh"}),
            "error: program 'hh' is the controller's; it is removed there");
  Ack(ProgramOff{{"mine", 3}});
  Ack(ProgramOff{{"hh", 4}});
  EXPECT_EQ(still_.plugin.agent().measurements().Snapshot().programs.size(), 2u);
}

TEST_F(ProgramDeskTest, TellsAControllerWhatItHasInstalledAndClearsUpAfterAnother) {
  still_.Command("trumpet/program-add", {"mine", kSizes});
  TurnOn("hh", 3);
  const ProgramList again = desk_.BeginSession(kController);
  ASSERT_EQ(again.programs.size(), 1u);
  EXPECT_EQ(again.programs[0].name, "hh");
  EXPECT_EQ(again.programs[0].id, 3u);
  EXPECT_TRUE(desk_.BeginSession(kController + 1).programs.empty());
  EXPECT_EQ(still_.plugin.agent().measurements().Snapshot().programs.size(), 1u);
}

TEST_F(ProgramDeskTest, ReadsCellsInPiecesAndThoseOfAKey) {
  TurnOn("hh", 3);
  still_.Receive(still_.threads[0], 5);
  uint64_t sum = 0;
  for (uint32_t first = 0; first < 1024; first += 100) {
    const CellsAnswer piece = Read({1, {"hh", 3}, 1, first, 100, {}});
    EXPECT_EQ(piece.cell_count, 1024u);
    EXPECT_EQ(piece.cells.size(), std::min<size_t>(100, 1024 - first));
    for (const uint64_t cell : piece.cells) sum += cell;
  }
  EXPECT_EQ(sum, 4u * 5 * 60);
  EXPECT_TRUE(Read({1, {"hh", 3}, 1, UINT32_MAX, 100, {}}).cells.empty());
  const CellsAnswer of_key = Read({1, {"hh", 3}, 1, 0, 4, {0x0a000001, 0x0a008001, 1000, 2000}});
  EXPECT_EQ(of_key.cells, (std::vector<uint64_t>{300, 300, 300, 300})) << of_key.error;
}

TEST_F(ProgramDeskTest, SaysWhyItCannotRead) {
  TurnOn("hh", 3);
  EXPECT_EQ(Read({1, {"hh", 3}, 2, 0, 1, {}}).error, "the program has no variable 2");
  EXPECT_EQ(Read({1, {"hh", 3}, 0, 0, 1, {1}}).error, "the variable total has no cells of a key");
  EXPECT_EQ(Read({1, {"hh", 3}, 1, 0, 1, {1}}).error, "the key has other fields");
  EXPECT_EQ(Read({1, {"hh", 3}, 1, 0, 1, {0, 0, 65536, 0}}).error, "the key has other fields");
  EXPECT_EQ(Read({9, {"hh", 3}, 1, 0, 1, {1}}).number, 9u);
}

constexpr char kAsked[] =
    "endpoint C, D;\n"
    "flow = Key(ipv4.dst);\n"
    "size = HashMap(key=flow, size=1024, type=Counter(width=32));\n"
    "pkts >> size.add(pkt.size) >> match(pkt.size > 50) >> duplicate(found);\n"
    "found >> collect(D);\n"
    "ctrl >> match(pkt.request == 7) >> duplicate(asked);\n"
    "asked >> tag(pkt.hh_volume, size) >> collect(C);\n";

TEST_F(ProgramDeskTest, HasTasksOfCtrlAnswerForAllThreads) {
  ASSERT_TRUE(TurnOn("hh", 3, kAsked).is_on);
  still_.Receive(still_.threads[0], 5);
  still_.Receive(still_.threads[1], 3);
  CellsRequest request{9, {"hh", 3}, 0, 0, 100, {0x0a008001, 7}};
  request.is_request = true;
  request.fields = {kIpv4Dst, kPktRequest};
  const CellsAnswer answer = Read(request);
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.number, 9u);
  ASSERT_EQ(answer.copies.size(), 1u);
  EXPECT_EQ(answer.copies[0].endpoint, 0u);
  EXPECT_EQ(answer.copies[0].present,
            uint64_t{1} << kIpv4Dst | uint64_t{1} << kPktRequest | uint64_t{1} << kPktHhVolume);
  ASSERT_EQ(answer.copies[0].values.size(), 3u);
  request.key[1] = 8;
  EXPECT_TRUE(Read(request).copies.empty());
  request.key[1] = 65536;
  EXPECT_EQ(Read(request).error, "the program has no fields of these values");
  request.key[1] = 7;
  request.fields[1] = kMeasureFieldCount;
  EXPECT_EQ(Read(request).error, "the program has no fields of these values");
  request.program.id = 4;
  EXPECT_EQ(Read(request).error, "the program 'hh' is not installed");
}

TEST_F(ProgramDeskTest, SaysWhyNothingAnswers) {
  TurnOn("hh", 3);
  CellsRequest request{9, {"hh", 3}, 0, 0, 100, {}};
  request.is_request = true;
  EXPECT_EQ(Read(request).error, "the program has no task of ctrl");
}

TEST_F(ProgramDeskTest, TellsOnceWhatBecameOfCopies) {
  still_.Command("trumpet/program-add", {"mine", kAsked});
  ASSERT_TRUE(TurnOn("hh", 3, kAsked).is_on);
  const auto first = desk_.TakeCounts();
  ASSERT_EQ(first.size(), 1u) << "those of the controller only";
  EXPECT_EQ(first[0].program.name, "hh");
  EXPECT_EQ(first[0].copies, ProgramCopies());
  EXPECT_TRUE(desk_.TakeCounts().empty());
  still_.Receive(still_.threads[0], 5);
  still_.RunMs(20);
  const auto next = desk_.TakeCounts();
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].copies.collected, 5u);
  EXPECT_EQ(next[0].copies.unbound, 5u) << "no endpoint has an address";
  EXPECT_TRUE(desk_.TakeCounts().empty());
  desk_.BeginSession(kController);
  EXPECT_EQ(desk_.TakeCounts().size(), 1u) << "a new session knows nothing";
}

TEST_F(ProgramDeskTest, BindsEndpointsAsProgramAddDoes) {
  Result<MeasureProgram> program = CompileMafia(kAsked, "hh");
  ASSERT_TRUE(program.ok()) << program.message();
  ProgramOn on{{"hh", 3}, 5, *program};
  on.place.endpoints = {{"X", "udp:127.0.0.1:9"}};
  EXPECT_EQ(Ack(on).error, "the program has no endpoint 'X'");
  on.place.endpoints = {{"D", "127.0.0.1:9"}};
  EXPECT_EQ(Ack(on).error.substr(0, 32), "D is '127.0.0.1:9'; copies go to");
  on.place.endpoints = {{"D", "udp:127.0.0.1:9"}};
  on.place.copies_per_second = 1;
  ASSERT_TRUE(Ack(on).is_on);
  still_.Receive(still_.threads[0], 5);
  still_.RunMs(20);
  const ProgramCopies copies = desk_.TakeCounts().at(0).copies;
  ASSERT_EQ(copies.endpoints.size(), 2u);
  EXPECT_EQ(copies.endpoints[0], EndpointCopies());
  EXPECT_EQ(copies.endpoints[1].sent + copies.endpoints[1].failed, 1u);
  EXPECT_EQ(copies.endpoints[1].over_rate, 4u);
  EXPECT_EQ(copies.unbound, 0u);
}

TEST_F(ProgramDeskTest, HashesByTheSeedThatItIsTold) {
  StillSwitch other(1);
  other.plugin.SetConfig({{"trumpet-enable", "true"}});
  other.RunMs(1);
  ProgramDesk there(&other.plugin.agent().measurements());
  there.BeginSession(kController);
  TurnOn("hh", 3);
  const Result<MeasureProgram> program = CompileMafia(kSizes, "hh");
  there.Take(ProgramOn{{"hh", 3}, 5, *program}, 1, 1);
  still_.Receive(still_.threads[0], 5);
  other.Receive(other.threads[0], 5);
  const CellsRequest all{1, {"hh", 3}, 1, 0, 1024, {}};
  EXPECT_EQ(Read(all).cells, std::get<CellsAnswer>(*there.Take(all, 1, 1)).cells);
}

}  // namespace
}  // namespace trumpet
