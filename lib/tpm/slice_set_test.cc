// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/slice_set.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "lib/packet/test_frames.h"
#include "lib/tpm/slice_script_test.h"

namespace trumpet {
namespace {

using test_frames::Ethernet;
using test_frames::Ipv4;
using test_frames::Ipv4Header;
using test_frames::Udp;
using test_frames::Zeros;

constexpr uint32_t kBase = 0x72100000;

std::vector<uint8_t> UdpFrame(uint32_t dst) {
  Ipv4Header ip;
  ip.protocol = kProtocolUdp;
  ip.dst = dst;
  return Ethernet(0x0800, Ipv4(ip, Udp(1, 2, Zeros(18))));
}

Frame FrameOf(const std::vector<uint8_t>& bytes) {
  const auto length = static_cast<uint32_t>(bytes.size());
  return {bytes.data(), length, length};
}

SliceSpec SpecFor(uint32_t tag, uint32_t low, uint32_t high) {
  SliceSpec spec;
  spec.tag = tag;
  spec.filter = fuzz::Test(Field::kDstIp, low, high, ValueKind::kIpv4);
  spec.duration = 10 * kNanosPerMilli;
  return spec;
}

std::shared_ptr<LiveSlice> Live(const SliceSpec& spec, Nanos on = 0) {
  return std::make_shared<LiveSlice>(spec, std::nullopt, on);
}

// The mark of one frame; 0: none.
uint32_t MarkOf(const SliceSet& set, const Frame& frame, Nanos now, uint32_t port = 1) {
  uint32_t mark = 0;
  const bool is_marked = set.Mark(&frame, 1, port, now, &mark);
  EXPECT_EQ(is_marked, mark != 0);
  return mark;
}

TEST(SliceSet, IsOnFromItsInstantUntilItsDeadline) {
  const auto bytes = UdpFrame(0x0a000001);
  const SliceSet set({Live(SpecFor(7, 0x0a000000, 0x0a0000ff), 100)}, kBase, {}, {});
  EXPECT_EQ(MarkOf(set, FrameOf(bytes), 99), 0u);
  EXPECT_EQ(MarkOf(set, FrameOf(bytes), 100), kBase | 7u);
  EXPECT_EQ(MarkOf(set, FrameOf(bytes), 99 + 10 * kNanosPerMilli), kBase | 7u);
  EXPECT_EQ(MarkOf(set, FrameOf(bytes), 100 + 10 * kNanosPerMilli), 0u);
  EXPECT_EQ(set.slices()[0]->counts().packets, 2u);
}

TEST(SliceSet, MarksThatAreNotThereAreZeroBesideOthers) {
  const auto in = UdpFrame(0x0a000001);
  const auto out = UdpFrame(0x0b000001);
  const SliceSet set({Live(SpecFor(7, 0x0a000000, 0x0a0000ff))}, kBase, {}, {});
  const Frame frames[] = {FrameOf(out), FrameOf(in), FrameOf(out)};
  uint32_t marks[] = {1, 2, 3};
  EXPECT_TRUE(set.Mark(frames, 3, 1, 0, marks));
  EXPECT_EQ(marks[0], 0u);
  EXPECT_EQ(marks[1], kBase | 7u);
  EXPECT_EQ(marks[2], 0u);
}

TEST(SliceSet, TheFirstOfTwoSlicesTakesThePacketAndTheSecondWhatItLeaves) {
  const auto bytes = UdpFrame(0x0a000001);
  SliceSpec first = SpecFor(7, 0x0a000000, 0x0a0000ff);
  first.max_packets = 1;
  const SliceSet set({Live(first), Live(SpecFor(8, 0x0a000000, 0x0affffff))}, kBase, {}, {});
  EXPECT_EQ(MarkOf(set, FrameOf(bytes), 1), kBase | 7u);
  EXPECT_EQ(MarkOf(set, FrameOf(bytes), 2), kBase | 8u);
  EXPECT_EQ(set.slices()[0]->counts().withheld, 1u);
}

TEST(SliceSet, OnlyPortsOfTheBridgeCount) {
  const auto bytes = UdpFrame(0x0a000001);
  const auto slice = std::make_shared<LiveSlice>(SpecFor(7, 0x0a000000, 0x0a0000ff),
                                                 std::vector<uint32_t>{3, 5}, 0);
  const SliceSet set({slice}, kBase, {}, {});
  EXPECT_EQ(MarkOf(set, FrameOf(bytes), 1, 3), kBase | 7u);
  EXPECT_EQ(MarkOf(set, FrameOf(bytes), 1, 4), 0u);
  EXPECT_EQ(MarkOf(set, FrameOf(bytes), 1, 5), kBase | 7u);
}

TEST(SliceSet, CopiesForAnAnalyzerAreNotCopied) {
  const auto inner = UdpFrame(0x0a000001);
  const auto copy_to = [&](uint32_t analyzer) {
    Ipv4Header ip;
    ip.protocol = kProtocolGre;
    ip.dst = analyzer;
    return Ethernet(
        0x0800, Ipv4(ip, test_frames::Join({{0x20, 0, 0x65, 0x58}, test_frames::Be32(7), inner})));
  };
  const SliceSet set({Live(SpecFor(7, 0x0a000000, 0x0a0000ff))}, kBase,
                     {IpBytes{192, 0, 2, 9}, IpBytes{192, 0, 2, 1}}, {});
  const auto copy = copy_to(0xc0000201);
  const auto tenant = copy_to(0xc0000202);
  EXPECT_EQ(MarkOf(set, FrameOf(copy), 1), 0u);
  EXPECT_EQ(MarkOf(set, FrameOf(tenant), 1), kBase | 7u);
}

TEST(SliceSet, CapsOfBytesAndOfTheRateHold) {
  const auto bytes = UdpFrame(0x0a000001);
  const auto length = static_cast<uint32_t>(bytes.size());
  SliceSpec by_bytes = SpecFor(7, 0x0a000000, 0x0a0000ff);
  by_bytes.max_bytes = 3 * length + 1;
  SliceSpec by_rate = SpecFor(8, 0x0a000000, 0x0a0000ff);
  by_rate.packets_per_second = 1000;
  by_rate.duration = kNanosPerSecond;
  const SliceSet set({Live(by_bytes), Live(by_rate)}, kBase, {}, {});
  for (Nanos now = 0; now < kNanosPerSecond; now += 100 * kNanosPerMicro) {
    MarkOf(set, FrameOf(bytes), now);
  }
  EXPECT_EQ(set.slices()[0]->counts().packets, 3u);
  // A second's packets, and those that may come at once.
  EXPECT_EQ(set.slices()[1]->counts().packets, 1000u + 9u);
}

TEST(SliceSet, ALongDurationDoesNotWrap) {
  SliceSpec spec = SpecFor(7, 0x0a000000, 0x0a0000ff);
  spec.duration = INT64_MAX;
  EXPECT_EQ(LiveSlice(spec, std::nullopt, 5).deadline(), INT64_MAX);
}

TEST(SliceSet, ThreadsTogetherStayWithinEveryCap) {
  const auto bytes = UdpFrame(0x0a000001);
  SliceSpec by_packets = SpecFor(1, 0x0a000000, 0x0a0000ff);
  by_packets.max_packets = 5000;
  SliceSpec by_bytes = SpecFor(2, 0x0a000000, 0x0a0000ff);
  by_bytes.max_bytes = 3000 * bytes.size() + 1;
  const SliceSet set({Live(by_packets), Live(by_bytes)}, kBase, {}, {});
  constexpr int kThreads = 3;
  constexpr uint64_t kEach = 10000;
  uint64_t marked[kThreads] = {};
  std::vector<std::thread> threads;
  for (uint64_t& mine : marked) {
    threads.emplace_back([&set, &bytes, &mine] {
      for (uint64_t i = 0; i < kEach; ++i) {
        mine += MarkOf(set, FrameOf(bytes), static_cast<Nanos>(i)) != 0 ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const SliceCounts first = set.slices()[0]->counts();
  const SliceCounts second = set.slices()[1]->counts();
  EXPECT_EQ(first.packets, 5000u);
  EXPECT_EQ(second.packets, 3000u);
  EXPECT_EQ(second.bytes, 3000 * bytes.size());
  EXPECT_EQ(marked[0] + marked[1] + marked[2], 8000u);
  EXPECT_EQ(first.withheld, kThreads * kEach - 5000);
  EXPECT_EQ(second.withheld, kThreads * kEach - 8000);
}

TEST(SliceSet, MarksAsItsTwinDoesOnRandomScripts) {
  std::mt19937_64 random(20260101);
  uint64_t marked = 0;
  for (int script = 0; script < 4000; ++script) {
    std::vector<uint8_t> bytes(200 + random() % 3000);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    fuzz::Bytes in(bytes.data(), bytes.size());
    fuzz::SliceScript one(&in);
    ASSERT_EQ(one.Run(), "") << "script " << script;
    marked += one.marked();
  }
  EXPECT_GT(marked, 50000u);
}

}  // namespace
}  // namespace trumpet
