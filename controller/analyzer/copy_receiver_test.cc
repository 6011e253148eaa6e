// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// In a network namespace of the test's own, of which only `lo` is used, and a TAP interface.

#include "controller/analyzer/copy_receiver.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/analyzer/loopback_kit_test.h"
#include "lib/base/loop_event.h"
#include "lib/packet/mirror_copy.h"
#include "lib/packet/test_captures.h"
#include "lib/packet/test_frames.h"

namespace trumpet {
namespace {

using namespace test_frames;  // NOLINT: builders of frames

Bytes CopyNumber(uint32_t number) {
  const Bytes inner = Ethernet(0x0800, Ipv4({kProtocolUdp}, Udp(1, 2, Be32(number))));
  return Ethernet(0x0800, Ipv4({kProtocolGre}, Gre(0x2000, 0x6558, Be32(number), inner)));
}

// An interface that receives what is written to it, until it is gone.
class Tap {
 public:
  explicit Tap(const std::string& name) : file_(open("/dev/net/tun", O_RDWR | O_CLOEXEC)) {
    ifreq request{};
    name.copy(request.ifr_name, IFNAMSIZ - 1);
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    is_up_ = file_ >= 0 && ioctl(file_, TUNSETIFF, &request) == 0 && SetInterfaceUp(name, true);
  }
  ~Tap() {
    if (file_ >= 0) close(file_);
  }
  Tap(const Tap&) = delete;
  Tap& operator=(const Tap&) = delete;

  bool is_up() const { return is_up_; }
  void Receive(const Bytes& frame) {
    EXPECT_EQ(write(file_, frame.data(), frame.size()), static_cast<ssize_t>(frame.size()));
  }

 private:
  const int file_;
  bool is_up_ = false;
};

class CopyReceiverTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    // The thread's, until the program ends; without root's rights inside a user namespace.
    is_apart_ = unshare(geteuid() == 0 ? CLONE_NEWNET : CLONE_NEWUSER | CLONE_NEWNET) == 0 &&
                BringUpLoopback();
  }
  void SetUp() override {
    if (!is_apart_) GTEST_SKIP() << "no network namespace can be made here";
    sender_ = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    ASSERT_GE(sender_, 0);
  }
  ~CopyReceiverTest() override {
    if (sender_ >= 0) close(sender_);
  }

  void Open(CopyReceiverOptions options) {
    if (options.interface.empty()) options.interface = "lo";
    const auto take = [this](const TimedFrame* frames, size_t count) {
      EXPECT_LE(count, kReceiveBurst);
      for (size_t i = 0; i < count; ++i) {
        MirrorCopy copy;
        EXPECT_EQ(ReadMirrorCopy(frames[i].frame, &copy), CopyVerdict::kCopy);
        keys_.push_back(copy.key);
        times_.push_back(frames[i].time);
      }
    };
    auto receiver = CopyReceiver::Open(base_.get(), options, take);
    ASSERT_TRUE(receiver.ok()) << receiver.message();
    receiver_ = std::move(*receiver);
  }

  void Send(const Bytes& frame) {
    sockaddr_ll to{};
    to.sll_family = AF_PACKET;
    to.sll_ifindex = static_cast<int>(if_nametoindex("lo"));
    ASSERT_EQ(
        sendto(sender_, frame.data(), frame.size(), 0, reinterpret_cast<sockaddr*>(&to), sizeof to),
        static_cast<ssize_t>(frame.size()));
  }

  bool RunUntil(const std::function<bool()>& is_done) {
    bool is_late = false;
    LoopEvent alarm(base_.get(), [&] { is_late = true; });
    alarm.RunAfter(60 * kNanosPerSecond);
    while (!is_done() && !is_late) event_base_loop(base_.get(), EVLOOP_ONCE);
    return is_done();
  }
  bool RunUntil(size_t count) {
    return RunUntil([&] { return keys_.size() >= count; }) && keys_.size() == count;
  }

  static bool is_apart_;
  OwnedLoop base_{event_base_new()};
  int sender_ = -1;
  std::vector<uint32_t> keys_;
  std::vector<Nanos> times_;
  std::unique_ptr<CopyReceiver> receiver_;
};

bool CopyReceiverTest::is_apart_ = false;

TEST_F(CopyReceiverTest, TakesTunnelsAndNothingElse) {
  Open({});
  Send(Ethernet(0x0806, Zeros(46)));
  Send(Ethernet(0x0800, Ipv4({kProtocolUdp}, Udp(1, 2, {}))));
  Send(Ethernet(0x86dd, Ipv6({kProtocolUdp}, Udp(1, 2, {}))));
  const Bytes gre = Gre(0x2000, 0x0800, Be32(7), Ipv4({kProtocolUdp}, Udp(1, 2, {})));
  Send(Ethernet(0x86dd, Ipv6({kProtocolGre}, gre)));
  Send(Ethernet(0x86dd, Ipv6({60}, Extension(kProtocolGre, 0, gre))));
  Send(CopyNumber(8));
  ASSERT_TRUE(RunUntil(3));
  EXPECT_EQ(keys_, (std::vector<uint32_t>{7, 7, 8}));
  EXPECT_EQ(receiver_->counters().frames, 3u);
  EXPECT_EQ(receiver_->counters().kernel_drops, 0u);
}

TEST_F(CopyReceiverTest, TakesTunnelsOverUdpWhereThoseAreWanted) {
  CopyReceiverOptions options;
  options.interface = "lo";
  options.wants_udp_tunnels = true;
  std::vector<uint32_t> bytes;
  const auto take = [&](const TimedFrame* frames, size_t count) {
    for (size_t i = 0; i < count; ++i) bytes.push_back(frames[i].frame.wire_length);
  };
  auto receiver = CopyReceiver::Open(base_.get(), options, take);
  ASSERT_TRUE(receiver.ok()) << receiver.message();
  const auto to_port = [](uint16_t port, size_t size) { return Udp(9, port, Zeros(size)); };
  Send(Ethernet(0x0800, Ipv4({kProtocolUdp}, to_port(53, 99))));
  Send(Ethernet(0x0800, Ipv4({kProtocolUdp}, to_port(4789, 101))));
  Ipv4Header fragment{kProtocolUdp};
  fragment.fragment = 0x2000;
  Send(Ethernet(0x0800, Ipv4(fragment, to_port(4789, 102))));
  Ipv4Header options_too{kProtocolUdp};
  options_too.options = Zeros(8);
  Send(Ethernet(0x0800, Ipv4(options_too, to_port(6081, 103))));
  Send(Ethernet(0x86dd, Ipv6({kProtocolUdp}, to_port(53, 104))));
  Send(Ethernet(0x86dd, Ipv6({kProtocolUdp}, to_port(6081, 105))));
  Send(Ethernet(0x86dd, Ipv6({kProtocolUdp}, to_port(4789, 106))));
  Send(Ethernet(0x86dd, Ipv6({60}, Extension(kProtocolGre, 0, Zeros(107)))));
  Send(Ethernet(0x86dd, Ipv6({kProtocolGre}, Zeros(108))));
  Send(Ethernet(0x0800, Ipv4({kProtocolGre}, Zeros(200))));
  bool is_late = false;
  LoopEvent alarm(base_.get(), [&] { is_late = true; });
  alarm.RunAfter(60 * kNanosPerSecond);
  while ((bytes.empty() || bytes.back() != 234) && !is_late) {
    event_base_loop(base_.get(), EVLOOP_ONCE);
  }
  EXPECT_EQ(bytes, (std::vector<uint32_t>{143, 153, 167, 168, 169, 162, 234}));
}

TEST_F(CopyReceiverTest, StampsWithTheKernelsClock) {
  Open({});
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return time.tv_sec * kNanosPerSecond + time.tv_nsec;
  };
  const Nanos before = now();
  Send(CopyNumber(1));
  const Nanos after = now();
  ASSERT_TRUE(RunUntil(1));
  EXPECT_GE(times_[0], before);
  EXPECT_LE(times_[0], after);
}

TEST_F(CopyReceiverTest, KeepsOrderAroundTheRing) {
  CopyReceiverOptions options;
  options.ring_bytes = 4 << 20;
  Open(options);
  constexpr uint32_t kCount = 60000;  // more than fit at once
  for (uint32_t i = 0; i < kCount; ++i) {
    Send(CopyNumber(i));
    if (i % 250 == 249) event_base_loop(base_.get(), EVLOOP_NONBLOCK);
  }
  Send(CopyNumber(kCount));
  const auto is_there = [&] { return !keys_.empty() && keys_.back() == kCount; };
  for (int rounds = 0; rounds < 100 && !is_there(); ++rounds) {
    Send(CopyNumber(kCount));  // the first may have found the ring full
    event_base_loop(base_.get(), EVLOOP_ONCE);
  }
  // On a machine that stands still the ring may fill up; what it holds keeps its order.
  EXPECT_TRUE(is_there());
  EXPECT_GT(keys_.size(), kCount / 4);
  EXPECT_TRUE(std::is_sorted(keys_.begin(), keys_.end()));
}

TEST_F(CopyReceiverTest, CountsWhatTheKernelDrops) {
  CopyReceiverOptions options;
  options.ring_bytes = 2 << 20;
  Open(options);
  constexpr uint64_t kCount = 30000;
  const uint64_t before = DroppedBeforeReceivers();
  for (uint32_t i = 0; i < kCount; ++i) Send(CopyNumber(i));
  uint64_t dropped = 0;  // and not looked at until now: the ring was full
  bool is_late = false;
  LoopEvent alarm(base_.get(), [&] { is_late = true; });
  alarm.RunAfter(60 * kNanosPerSecond);
  while (keys_.size() + dropped < kCount && !is_late) {
    event_base_loop(base_.get(), EVLOOP_NONBLOCK);
    dropped = receiver_->counters().kernel_drops + DroppedBeforeReceivers() - before;
  }
  EXPECT_GT(receiver_->counters().kernel_drops, 0u);
  EXPECT_EQ(keys_.size() + dropped, kCount);
}

TEST_F(CopyReceiverTest, GoesOnWhenItsInterfaceIsUpAgain) {
  Open({});
  Send(CopyNumber(1));
  ASSERT_TRUE(RunUntil(1));
  ASSERT_TRUE(SetInterfaceUp("lo", false));
  ASSERT_TRUE(RunUntil([&] { return receiver_->counters().interface_errors == 1; }));
  event_base_loop(base_.get(), EVLOOP_NONBLOCK);  // which returns when nothing is left to be done
  ASSERT_TRUE(SetInterfaceUp("lo", true));
  Send(CopyNumber(2));
  EXPECT_TRUE(RunUntil(2));
  EXPECT_EQ(receiver_->counters().interface_errors, 1u);
  EXPECT_EQ(receiver_->counters().interface_changes, 0u);
}

TEST_F(CopyReceiverTest, GoesOnWithTheNextInterfaceOfThatName) {
  CopyReceiverOptions options;
  options.interface = "tap0";
  auto first = std::make_unique<Tap>(options.interface);
  if (!first->is_up()) GTEST_SKIP() << "no TAP interface can be made here";
  Open(options);
  first->Receive(CopyNumber(1));
  ASSERT_TRUE(RunUntil(1));
  first.reset();
  const Tap between("tap1");  // so that the next one has another index
  Tap second(options.interface);
  ASSERT_TRUE(between.is_up() && second.is_up());
  ASSERT_TRUE(RunUntil([&] { return receiver_->counters().interface_changes == 1; }));
  second.Receive(CopyNumber(2));
  ASSERT_TRUE(RunUntil(2));
  EXPECT_EQ(keys_, (std::vector<uint32_t>{1, 2}));
  EXPECT_GE(receiver_->counters().interface_errors, 1u);
}

TEST_F(CopyReceiverTest, SaysWhichInterfaceIsNotThere) {
  const auto receiver =
      CopyReceiver::Open(base_.get(), {"nowhere0"}, [](const TimedFrame*, size_t) {});
  ASSERT_FALSE(receiver.ok());
  EXPECT_EQ(receiver.message(), "cannot receive from nowhere0: interface: No such device");
}

TEST(TakeCapture, GivesTheFramesOfAFile) {
  const test_captures::TemporaryFile file(
      Join({test_captures::PcapHeader(), test_captures::PcapPacket(5, 7, CopyNumber(3))}));
  std::vector<Nanos> times;
  const Status taken = TakeCapture(file.path(), [&](const Frame& frame, Nanos time) {
    MirrorCopy copy;
    EXPECT_EQ(ReadMirrorCopy(frame, &copy), CopyVerdict::kCopy);
    times.push_back(time);
  });
  EXPECT_TRUE(taken.ok());
  EXPECT_EQ(times, (std::vector<Nanos>{5 * kNanosPerSecond + 7 * kNanosPerMicro}));
  EXPECT_FALSE(TakeCapture("/nowhere.pcap", [](const Frame&, Nanos) {}).ok());
}

}  // namespace
}  // namespace trumpet
