// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Virtual devices of DPDK: net_ring, which takes frames out of memory as a card puts them there,
// and net_pcap, which reads a file.

#include "controller/analyzer/dpdk_receiver.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <ctime>
#include <filesystem>

#include "controller/analyzer/copy_receiver.h"
#include "controller/analyzer/dpdk_kit_test.h"
#include "lib/packet/test_captures.h"

namespace trumpet {
namespace {

using namespace test_frames;  // NOLINT: builders of frames

const DpdkProcess& process = DpdkProcess::Get();

Nanos Now(clockid_t which) {
  timespec time{};
  clock_gettime(which, &time);
  return time.tv_sec * kNanosPerSecond + time.tv_nsec;
}

Bytes Copy(uint32_t number, size_t more = 0) {
  const Bytes inner = Ethernet(0x0800, Ipv4({kProtocolUdp}, Udp(1, 2, Zeros(more))));
  return Ethernet(0x0800, Ipv4({kProtocolGre}, Gre(0x2000, 0x6558, Be32(number), inner)));
}

TEST_F(DpdkTest, TakesTunnelsAsTheyAreAndStampsThem) {
  Make("net_ring0");
  Open({{"net_ring0"}});
  Feed("net_ring0");
  const Nanos before = Now(CLOCK_REALTIME);
  Put(Ethernet(0x0806, Zeros(46)));
  Put(Copy(7));
  Put(Ethernet(0x0800, Ipv4({kProtocolUdp}, Udp(9, 4789, Zeros(30)))));
  Put(Copy(8, 1400));
  ASSERT_TRUE(RunUntil(2));
  EXPECT_EQ(taken_[0].bytes, Copy(7));
  EXPECT_EQ(taken_[1].bytes, Copy(8, 1400));
  EXPECT_EQ(taken_[1].wire_length, Copy(8, 1400).size());
  EXPECT_GE(taken_[0].time, before);
  EXPECT_LE(taken_[1].time, Now(CLOCK_REALTIME));
  EXPECT_EQ(Figure(0, "frames"), 2u);
  EXPECT_EQ(Figure(0, "bytes"), Copy(7).size() + Copy(8, 1400).size());
  EXPECT_EQ(Figure(0, "no_tunnels"), 2u);
  EXPECT_EQ(receiver_->Sources().at(0)->dropped(), 0u);
}

TEST_F(DpdkTest, TakesTunnelsOverUdpWhereThoseAreWanted) {
  Make("net_ring1");
  DpdkReceiverOptions options{{"net_ring1"}};
  options.wants_udp_tunnels = true;
  Open(options);
  Feed("net_ring1");
  Put(Ethernet(0x0800, Ipv4({kProtocolUdp}, Udp(9, 4789, Zeros(30)))));
  Put(Ethernet(0x0800, Ipv4({kProtocolUdp}, Udp(9, 53, Zeros(30)))));
  Put(Copy(9));
  ASSERT_TRUE(RunUntil(2));
  EXPECT_EQ(taken_[1].bytes, Copy(9));
  EXPECT_EQ(Figure(0, "no_tunnels"), 1u);
}

TEST_F(DpdkTest, CountsWhatItsRingHasNoRoomForAndKeepsTheOrderOfTheRest) {
  Make("net_ring2");
  DpdkReceiverOptions options{{"net_ring2"}};
  options.ring_bytes = 1 << 20;
  Open(options);
  Feed("net_ring2");
  constexpr uint32_t kCount = 12000;  // 1.4 MB of them, and the loop does not run
  for (uint32_t i = 0; i < kCount; ++i) Put(Copy(i));
  const auto all = [&] { return taken_.size() + Figure(0, "ring_drops"); };
  ASSERT_TRUE(RunUntil([&] { return all() == kCount; })) << all();
  EXPECT_GT(Figure(0, "ring_drops"), 1000u);
  EXPECT_EQ(receiver_->Sources().at(0)->dropped(), Figure(0, "ring_drops"));
  ASSERT_GT(taken_.size(), 4000u);
  for (uint32_t i = 0; i < 4000; ++i) ASSERT_EQ(taken_[i].bytes, Copy(i)) << i;
}

TEST_F(DpdkTest, PollsSeveralPortsAndTellsOfEach) {
  Make("net_ring3");
  Make("net_ring4");
  Open({{"net_ring4", "net_ring3"}});
  Feed("net_ring3");
  Put(Copy(1));
  ASSERT_TRUE(RunUntil(1));
  EXPECT_EQ(Figure(0, "frames"), 0u);
  EXPECT_EQ(Figure(1, "frames"), 1u);
}

TEST_F(DpdkTest, TakesLittleOfAProcessorWhereNothingComes) {
  Make("net_ring5");
  Open({{"net_ring5"}});
  bool is_over = false;
  LoopEvent end(base_.get(), [&] { is_over = true; });
  const Nanos before = Now(CLOCK_MONOTONIC);
  end.RunAfter(300 * kNanosPerMilli);
  ASSERT_TRUE(RunUntil([&] { return is_over; }));
  EXPECT_LT(receiver_->polling_time(), (Now(CLOCK_MONOTONIC) - before) / 4);
  EXPECT_GT(receiver_->polling_time(), 0);
}

TEST_F(DpdkTest, GivesTheFramesOfAFileAtTheirTimes) {
  Bytes capture = test_captures::PcapHeader();
  std::vector<Bytes> frames;
  for (uint32_t i = 0; i < 3000; ++i) {
    frames.push_back(i % 100 == 50 ? Ethernet(0x0806, Zeros(46)) : Copy(i, i % 1300));
    const Bytes packet =
        test_captures::PcapPacket(1700000000 + i / 100, i * 10 % 1000, frames.back());
    capture.insert(capture.end(), packet.begin(), packet.end());
  }
  const test_captures::TemporaryFile file(capture);
  Make("net_pcap0", "rx_pcap=" + file.path());
  Open({{"net_pcap0"}});
  ASSERT_TRUE(RunUntil(2970));
  size_t at = 0;
  const Status read = TakeCapture(file.path(), [&](const Frame& frame, Nanos time) {
    const Bytes bytes(frame.data, frame.data + frame.captured_length);
    if (bytes[12] == 0x08 && bytes[13] == 0x06) return;
    ASSERT_LT(at, taken_.size());
    EXPECT_EQ(taken_[at].bytes, bytes) << at;
    EXPECT_EQ(taken_[at].wire_length, frame.wire_length);
    EXPECT_EQ(taken_[at++].time, time);
  });
  EXPECT_TRUE(read.ok());
  EXPECT_EQ(at, 2970u);
  EXPECT_EQ(Figure(0, "no_tunnels"), 30u);
}

TEST_F(DpdkTest, CutsFramesThatAreLongerThanABufferAndSaysHowLongTheyWere) {
  const Bytes longest = Copy(1, 5000);
  const test_captures::TemporaryFile file(
      Join({test_captures::PcapHeader(), test_captures::PcapPacket(5, 0, longest)}));
  Make("net_pcap1", "rx_pcap=" + file.path());
  Open({{"net_pcap1"}});
  ASSERT_TRUE(RunUntil(1));
  EXPECT_EQ(taken_[0].wire_length, longest.size());
  EXPECT_EQ(taken_[0].bytes, Bytes(longest.begin(), longest.begin() + 2048));
}

TEST_F(DpdkTest, SaysWhichPortIsNotThere) {
  Make("net_ring6");
  const auto opened = DpdkReceiver::Open(base_.get(), *DpdkProcess::Get().eal, {{"0000:99:00.0"}},
                                         [](const TimedFrame*, size_t) {});
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(
      opened.message(),
      "cannot receive from DPDK's port 0000:99:00.0: there is no such port; there are: net_ring6");
}

TEST_F(DpdkTest, StartsOnceInAProcess) {
  const auto again = DpdkEal::Start("--no-huge", [](const char*, const std::string&) {});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.message(),
            "cannot start DPDK with '--no-huge': this process has started it before");
  for (const char* words : {"--help", "--no-huge --hel", "-h", "-vh", "-v"}) {
    const auto helped = DpdkEal::Start(words, [](const char*, const std::string&) {});
    ASSERT_FALSE(helped.ok());
    EXPECT_NE(helped.message().find("only prints a text"), std::string::npos) << words;
  }
}

// Its threads ran where they might before, and nothing was left on disk.
TEST_F(DpdkTest, LeavesTheProcessorsOfTheThreadAndNoFiles) {
  cpu_set_t set;
  CPU_ZERO(&set);
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  cpu_set_t of_process;
  CPU_ZERO(&of_process);
  ASSERT_EQ(sched_getaffinity(getppid(), sizeof of_process, &of_process), 0);
  EXPECT_TRUE(CPU_EQUAL(&set, &of_process));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(process.folder())) {
    EXPECT_TRUE(entry.is_directory()) << entry.path();
  }
}

}  // namespace
}  // namespace trumpet
