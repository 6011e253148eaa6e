// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/slice/sample_receiver.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace trumpet {
namespace {

constexpr size_t kHeadBytes = 24;
constexpr size_t kRecordBytes = 48;

// NetFlow 5: thirty packets of 86 bytes to 10.0.0.2.
std::vector<uint8_t> Datagram() {
  std::vector<uint8_t> bytes(kHeadBytes + kRecordBytes);
  bytes[1] = 5;
  bytes[3] = 1;
  uint8_t* const record = bytes.data() + kHeadBytes;
  record[4] = 10;
  record[7] = 2;
  record[19] = 30;
  record[22] = 30 * 86 / 256;
  record[23] = 30 * 86 % 256;
  return bytes;
}

class SampleReceiverTest : public testing::Test {
 protected:
  SampleReceiverTest() : base_(event_base_new()), socket_(socket(AF_INET, SOCK_DGRAM, 0)) {}
  ~SampleReceiverTest() override {
    receiver_.reset();
    event_base_free(base_);
    close(socket_);
  }

  void Open(const std::string& listen, const std::string& from) {
    auto receiver = SampleReceiver::Open(base_, {{listen}, {*ParsePrefix(from)}}, clock_, &demand_);
    ASSERT_TRUE(receiver.ok()) << receiver.message();
    receiver_ = std::move(*receiver);
  }

  // And waits until it has been read.
  void Send(const std::vector<uint8_t>& bytes) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(receiver_->ports()[0]);
    const uint64_t before = receiver_->counters().datagrams;
    ASSERT_EQ(
        sendto(socket_, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&to), sizeof to),
        static_cast<ssize_t>(bytes.size()));
    while (receiver_->counters().datagrams == before) event_base_loop(base_, EVLOOP_ONCE);
  }

  std::optional<int64_t> Rate() {
    return demand_.RateOf(*ParsePrefix("10.0.0.0/24"), clock_.MonotonicNow());
  }

  event_base* const base_;
  const int socket_;
  SystemWireClock clock_;
  SampledDemand demand_{300 * kNanosPerSecond, 0};
  std::unique_ptr<SampleReceiver> receiver_;
};

TEST_F(SampleReceiverTest, TakesWhatItsRoutersSend) {
  Open("127.0.0.1:0", "127.0.0.0/8");
  EXPECT_FALSE(Rate());
  Send(Datagram());
  EXPECT_EQ(Rate(), 30 * 100 * 8 / 10);
  EXPECT_EQ(receiver_->counters().samples, 1u);
}

TEST_F(SampleReceiverTest, RoutersAreKnownByIpv4WhereBothAreTaken) {
  Open("[::]:0", "127.0.0.1/32");
  Send(Datagram());
  EXPECT_EQ(receiver_->counters().samples, 1u);
}

TEST_F(SampleReceiverTest, CountsWhatItDoesNotTake) {
  Open("127.0.0.1:0", "192.0.2.0/24");
  Send(Datagram());
  EXPECT_EQ(receiver_->counters().strangers, 1u);
  EXPECT_FALSE(Rate());
  Open("127.0.0.1:0", "127.0.0.0/8");
  Send({0, 7, 0, 0});
  Send({});
  Send({0, 5, 0, 1});
  EXPECT_EQ(receiver_->counters().unknown, 2u);
  EXPECT_EQ(receiver_->counters().malformed, 1u);
  EXPECT_EQ(receiver_->counters().samples, 0u);
}

TEST_F(SampleReceiverTest, SaysWhereItCannotListen) {
  Open("127.0.0.1:0", "127.0.0.0/8");
  const std::string taken = "127.0.0.1:" + std::to_string(receiver_->ports()[0]);
  auto second = SampleReceiver::Open(base_, {{taken}, {}}, clock_, &demand_);
  EXPECT_EQ(second.message(), "samples at " + taken + ": Address already in use");
  EXPECT_EQ(SampleListenProblem("here"),
            "'here' is not an address and a port; write 192.0.2.1:6343 or [::]:6343");
}

}  // namespace
}  // namespace trumpet
