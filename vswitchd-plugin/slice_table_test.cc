// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/slice_table.h"

#include <gtest/gtest.h>

#include "lib/base/memory_shortage_test.h"
#include "lib/tpm/match_terms.h"
#include "vswitchd-plugin/fake_switch_test.h"
#include "vswitchd-plugin/slice_commands.h"

namespace trumpet {
namespace {

using testing::StillSwitch;

constexpr uint32_t kMark = 0x72100000;

class SliceTableTest : public ::testing::Test {
 protected:
  SliceTableTest() : still_(2) {
    still_.plugin.SetConfig({{"trumpet-enable", "true"}});
    still_.plugin.UpdatePort(7, "vm7", "dpdkvhostuserclient", true);
    still_.plugin.UpdatePort(8, "vm8", "dpdkvhostuserclient", true);
    still_.RunMs(1);
  }

  // br-int with the port 8, br-phy with 7 and a tunnel.
  static HostFacts TwoBridges() {
    HostFacts facts;
    facts.bridges = {{"br-int", 1, {}, "netdev"}, {"br-phy", 2, {}, "netdev"}};
    facts.ports.resize(3);
    facts.ports[0].bridge = "br-int";
    facts.ports[0].name = "vm8";
    facts.ports[1].bridge = "br-phy";
    facts.ports[1].name = "gre0";
    facts.ports[1].type = "gre";
    facts.ports[1].remote_ip = "192.0.2.1";
    facts.ports[2].bridge = "br-phy";
    facts.ports[2].name = "vm7";
    return facts;
  }

  SliceTable& slices() { return still_.plugin.agent().slices(); }
  SliceTableStatus Now() { return slices().Snapshot(still_.monotonic); }

  StillSwitch still_;
};

TEST_F(SliceTableTest, MarksOnAllThreadsUntilTheDeadlineWithoutAnyEvent) {
  EXPECT_FALSE(still_.fake.is_attached());
  EXPECT_EQ(still_.Command("trumpet/slice-on", {"5", "3", "dstIP=10.0.128.0/24"}), "on\n");
  EXPECT_TRUE(still_.fake.is_attached());
  for (ThreadMonitor* thread : still_.threads) EXPECT_EQ(still_.Receive(thread, 4), 4);
  EXPECT_EQ(still_.last_mark, kMark | 5u);
  EXPECT_EQ(still_.Receive(still_.threads[0], 4, 0x0a009001), 0);
  ASSERT_EQ(Now().on.size(), 1u);
  EXPECT_EQ(Now().on[0].counts.packets, 8u);
  // The agent is not needed for the end.
  still_.monotonic += 3 * kNanosPerMilli;
  EXPECT_EQ(still_.Receive(still_.threads[0], 4), 0);
  EXPECT_TRUE(still_.fake.is_attached());
  still_.RunMs(1);
  EXPECT_FALSE(still_.fake.is_attached());
  EXPECT_TRUE(Now().on.empty());
  EXPECT_EQ(Now().packets, 8u);
}

TEST_F(SliceTableTest, WorksBesideEventsAndLeavesThemTheirPackets) {
  still_.Install({"*, sum(packets) >= 6, 10ms"});
  still_.RunMs(30);
  still_.RunToBoundary();
  EXPECT_EQ(still_.Command("trumpet/slice-on", {"9", "100", "dstIP=10.0.128.1"}), "on\n");
  EXPECT_EQ(still_.Receive(still_.threads[1], 6), 6);
  still_.RunMs(30);
  EXPECT_EQ(still_.Reports().size(), 1u);
  EXPECT_EQ(still_.Command("trumpet/slice-off", {"9"}), "off\n");
  EXPECT_TRUE(still_.fake.is_attached());
  EXPECT_EQ(still_.Receive(still_.threads[1], 6), 0);
}

TEST_F(SliceTableTest, ThreadsThatComeLaterMarkToo) {
  still_.Command("trumpet/slice-on", {"1", "100", "*"});
  ThreadMonitor* const late = still_.AddThread(5);
  EXPECT_EQ(still_.Receive(late, 2), 2);
  still_.RemoveThread(late);
  still_.RunMs(1);
  EXPECT_EQ(still_.Command("trumpet/slice-off", {"1"}), "off\n");
}

TEST_F(SliceTableTest, DisablingEndsAllAtOnce) {
  still_.Command("trumpet/slice-on", {"1", "1000", "*"});
  still_.Command("trumpet/slice-on", {"2", "1000", "*"});
  still_.Command("trumpet/disable");
  EXPECT_EQ(still_.Receive(still_.threads[0], 2), 0);
  EXPECT_TRUE(Now().on.empty());
  EXPECT_EQ(still_.Command("trumpet/slice-on", {"3", "10", "*"}),
            "error: the monitor of this switch is off");
  EXPECT_EQ(Now().refused, 1u);
  still_.Command("trumpet/enable");
  still_.RunMs(1);
  EXPECT_EQ(still_.Receive(still_.threads[0], 2), 0);
  EXPECT_EQ(still_.Command("trumpet/slice-on", {"3", "10", "*"}), "on\n");
  EXPECT_EQ(still_.Receive(still_.threads[0], 2), 2);
}

TEST_F(SliceTableTest, AJumpOfTheWallClockDoesNotChangeASlice) {
  still_.Command("trumpet/slice-on", {"1", "5", "*"});
  still_.wall_shift += 3600 * kNanosPerSecond;
  still_.RunMs(1);
  EXPECT_EQ(still_.Receive(still_.threads[0], 1), 1);
  still_.wall_shift -= 7200 * kNanosPerSecond;
  still_.RunMs(3);
  EXPECT_EQ(still_.Receive(still_.threads[0], 1), 1);
  still_.RunMs(1);
  EXPECT_EQ(still_.Receive(still_.threads[0], 1), 0);
}

TEST_F(SliceTableTest, OnlyPortsOfTheBridgeAreCopiedFrom) {
  const SlicePlaces places = SlicePlaces::Of(TwoBridges());
  ASSERT_EQ(places.analyzers.size(), 1u);
  EXPECT_EQ(places.analyzers[0], (IpBytes{192, 0, 2, 1}));
  slices().SetPlaces(places);
  EXPECT_EQ(still_.Command("trumpet/slice-on", {"1", "5", "*", "bridge=br-int"}), "on\n");
  EXPECT_EQ(still_.Receive(still_.threads[0], 1, 0x0a008001, 7), 0);
  EXPECT_EQ(still_.Receive(still_.threads[0], 1, 0x0a008001, 8), 1);
  EXPECT_EQ(still_.Command("trumpet/slice-on", {"2", "5", "*", "bridge=br-x"}),
            "error: no bridge 'br-x' is known");
}

TEST_F(SliceTableTest, ATagBelongsToItsBridge) {
  slices().SetPlaces(SlicePlaces::Of(TwoBridges()));
  EXPECT_EQ(still_.Command("trumpet/slice-on", {"5", "9", "*", "bridge=br-int"}), "on\n");
  EXPECT_EQ(still_.Command("trumpet/slice-on", {"5", "9", "*", "bridge=br-int"}),
            "error: tag 5 of bridge 'br-int' is on already");
  EXPECT_EQ(still_.Command("trumpet/slice-on", {"5", "9", "*", "bridge=br-phy", "mark=2"}), "on\n");
  // Copies of a slice of all ports could not be told from theirs.
  EXPECT_EQ(still_.Command("trumpet/slice-on", {"5", "9", "*"}),
            "error: tag 5 of bridge 'br-int' is on already");
  EXPECT_EQ(still_.Receive(still_.threads[0], 1, 0x0a008001, 8), 1);
  EXPECT_EQ(still_.last_mark, kMark | 5u);
  EXPECT_EQ(still_.Receive(still_.threads[0], 2, 0x0a008001, 7), 2);
  EXPECT_EQ(still_.last_mark, 0x00200005u);
  EXPECT_EQ(still_.Command("trumpet/slice-off", {"5", "bridge=br-int"}), "off\n");
  ASSERT_EQ(Now().on.size(), 1u);
  EXPECT_EQ(Now().on[0].bridge, "br-phy");
  EXPECT_EQ(still_.Command("trumpet/slice-off", {"5"}), "off\n");
  EXPECT_TRUE(Now().on.empty());
  ASSERT_EQ(Now().ended.size(), 2u);
  EXPECT_EQ(Now().ended[0].end.bridge, "br-int");
  EXPECT_EQ(Now().ended[0].end.packets, 1u);
  EXPECT_EQ(Now().ended[1].end.packets, 2u);
  EXPECT_EQ(still_.Command("trumpet/slice-on", {"5", "9", "*"}), "on\n");
  EXPECT_EQ(still_.Command("trumpet/slice-on", {"5", "9", "*", "bridge=br-phy"}),
            "error: tag 5 is on already");
}

TEST_F(SliceTableTest, TellsWhatASliceWas) {
  SliceSpec spec;
  spec.tag = 7;
  spec.duration = 10 * kNanosPerMilli;
  spec.max_packets = 3;
  ASSERT_TRUE(slices().TurnOn(spec, still_.monotonic).ok());
  still_.Receive(still_.threads[0], 1);
  still_.monotonic += 4 * kNanosPerMilli;
  still_.Receive(still_.threads[1], 5);
  EXPECT_FALSE(slices().TurnOn(spec, still_.monotonic).ok());  // of that tag
  slices().TurnOff("", 7, still_.monotonic);
  slices().TurnOff("", 7, still_.monotonic);
  const auto ends = slices().TakeEnds();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].tag, 7u);
  EXPECT_EQ(ends[0].packets, 3u);
  EXPECT_EQ(ends[0].bytes, 180u);
  EXPECT_EQ(ends[0].withheld, 3u);
  EXPECT_EQ(ends[0].lasted_ns, 4 * kNanosPerMilli);
  EXPECT_EQ(ends[0].span_ns, 4 * kNanosPerMilli);
  EXPECT_TRUE(slices().TakeEnds().empty());
}

TEST_F(SliceTableTest, TakesSoManyAndNoMore) {
  SliceSpec spec;
  spec.duration = kNanosPerSecond;
  for (spec.tag = 1; spec.tag <= kMaxSlices; ++spec.tag) {
    ASSERT_TRUE(slices().TurnOn(spec, still_.monotonic).ok());
  }
  const Status status = slices().TurnOn(spec, still_.monotonic);
  EXPECT_EQ(status.message(), "256 slices are on; that is the most");
}

// 256 filters without an address could stop a packet for as long as it takes to send 80 of them.
TEST_F(SliceTableTest, TakesNoMoreFiltersThanAPacketHasTimeFor) {
  SliceSpec spec;
  spec.duration = kNanosPerSecond;
  spec.filter.op = FilterOp::kTest;
  spec.filter.test.ref.field = Field::kTtl;
  for (Uint128 low = 0; low < 31; low++) {
    spec.filter.test.ranges.push_back({ValueKind::kNumber, 2 * low, 2 * low});
  }
  const Nanos work = TestWorkOf(spec.filter);
  for (spec.tag = 1; spec.tag * work <= kMaxSliceTestWork; ++spec.tag) {
    ASSERT_TRUE(slices().TurnOn(spec, still_.monotonic).ok());
  }
  const Status status = slices().TurnOn(spec, still_.monotonic);
  EXPECT_EQ(status.message(),
            "with it the filters of the slices that are on would take up to " +
                std::to_string(spec.tag * work) +
                " ns of every packet; 5000 are the most, of which prefixes, ports and protocols "
                "take none");
  EXPECT_EQ(Now().refused, 1u);
  spec.filter = FilterExpr();
  EXPECT_TRUE(slices().TurnOn(spec, still_.monotonic).ok()) << "that needs no test";
}

// Wherever it runs out: what was on before may still be in use.
TEST_F(SliceTableTest, ASliceThatFindsNoMemoryChangesNothing) {
  SliceSpec spec;
  spec.duration = kNanosPerSecond;
  spec.tag = 1;
  ASSERT_TRUE(slices().TurnOn(spec, still_.monotonic).ok());
  spec.tag = 2;
  const auto turn_on = [&] { static_cast<void>(slices().TurnOn(spec, still_.monotonic)); };
  for (uint64_t calls = 0; !testing::DoesWith(calls, turn_on); ++calls) {
    ASSERT_EQ(Now().on.size(), 1u) << calls;
    ASSERT_EQ(Now().turned_on, 1u) << calls;
    ASSERT_EQ(still_.Receive(still_.threads[0], 1), 1);
    ASSERT_EQ(still_.last_mark, kMark | 1u);
  }
  EXPECT_EQ(Now().on.size(), 2u);
}

TEST_F(SliceTableTest, DisablingNeedsNoMemory) {
  still_.Command("trumpet/slice-on", {"1", "1000", "*"});
  EXPECT_TRUE(testing::DoesWith(0, [&] { slices().Allow(false, still_.monotonic); }));
  EXPECT_FALSE(slices().is_any_on());
  EXPECT_TRUE(Now().on.empty());
}

TEST_F(SliceTableTest, TheMarkIsASetting) {
  still_.plugin.SetConfig({{"trumpet-enable", "true"}, {"trumpet-slice-mark", "2"}});
  still_.Command("trumpet/slice-on", {"1", "5", "*"});
  still_.Receive(still_.threads[0], 1);
  EXPECT_EQ(still_.last_mark, 0x00200001u);
}

TEST(SliceCommands, WrongArgumentsGiveOneClearLine) {
  const auto error = [](const std::vector<std::string>& arguments) {
    const auto read = ReadSliceArguments(arguments);
    return read.ok() ? "" : read.message();
  };
  EXPECT_EQ(error({"1", "5", "dstIP=10.0.0.0/8", "bridge=a", "packets=1", "bytes=2", "pps=3"}), "");
  EXPECT_EQ(error({"0", "5", "*"}), "tag is '0'; it takes 1 to 1048575");
  EXPECT_EQ(error({"1", "x", "*"}), "milliseconds is 'x'; it takes 1 to 3600000");
  EXPECT_EQ(error({"1", "5", "*", "packets=0"}),
            "packets is '0'; it takes 1 to 18446744073709551615");
  EXPECT_EQ(error({"1", "5", "*", "size=1"}), "unexpected argument 'size=1'");
  EXPECT_NE(error({"1", "5", "dstIQ=1"}).find("dstIQ"), std::string::npos);
}

}  // namespace
}  // namespace trumpet
