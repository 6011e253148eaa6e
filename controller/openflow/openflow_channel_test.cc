// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Peers that are no switches, or bad ones.

#include "controller/openflow/openflow_channel.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>

#include "controller/openflow/switch_kit_test.h"

namespace trumpet {
namespace {

class Peer {
 public:
  explicit Peer(uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  }
  ~Peer() { close(fd_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void Say(const std::string& bytes) {
    EXPECT_EQ(send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

 private:
  const int fd_;
};

OpenflowOptions QuickOptions() {
  OpenflowOptions options;
  options.channel.handshake_timeout = 200 * kNanosPerMilli;
  options.tick = 20 * kNanosPerMilli;
  return options;
}

// What became of a peer that said this.
void Expect(const std::string& bytes, CloseCause cause) {
  TestNet test(QuickOptions());
  Peer peer(test.port());
  peer.Say(bytes);
  const auto count = [&] { return test.net().counters().closed[static_cast<size_t>(cause)]; };
  EXPECT_TRUE(test.RunUntil([&] { return count() == 1; })) << CloseCauseName(cause);
  EXPECT_TRUE(test.net().Switches().empty());
}

TEST(OpenflowChannel, EndsWithPeersThatAreNoSwitches) {
  Expect("GET / HTTP/1.1\r\n\r\n", CloseCause::kHandshakeTimeout);  // a length of 21,536 bytes
  Expect(std::string("\x04\x00\x00\x04zzzz", 8), CloseCause::kProtocol);
  // A version to come means all before it, too; what is missing is the answer to ours.
  Expect(std::string("\x09\x00\x00\x08zzzz", 8), CloseCause::kHandshakeTimeout);
  Expect(EncodeSimple(TRUMPET_OF_13, TRUMPET_OF_BARRIER_REQUEST, 1), CloseCause::kProtocol);
  Expect(std::string("\x01\x00\x00\x08zzzz", 8), CloseCause::kRefused);  // OpenFlow 1.0
  Expect("", CloseCause::kHandshakeTimeout);
  Expect(EncodeHello(), CloseCause::kHandshakeTimeout);
  Expect(EncodeHello().substr(0, 5), CloseCause::kHandshakeTimeout);
  Expect(EncodeHello() + EncodeSimple(TRUMPET_OF_13, TRUMPET_OF_ECHO_REQUEST, 1),
         CloseCause::kProtocol);  // another version than agreed
}

TEST(OpenflowChannel, StrangersAreFew) {
  OpenflowOptions options = QuickOptions();
  options.max_strangers = 3;
  TestNet test(options);
  std::vector<std::unique_ptr<Peer>> peers;
  for (int i = 0; i < 10; ++i) peers.push_back(std::make_unique<Peer>(test.port()));
  EXPECT_TRUE(test.RunUntil([&] { return test.net().counters().accepted == 10; }));
  EXPECT_GE(test.net().counters().refused, 1u);
}

TEST(OpenflowChannel, SurvivesWhateverIsSaid) {
  TestNet test(QuickOptions());
  std::mt19937 random(9);
  constexpr uint64_t kPeers = 200;
  std::vector<std::unique_ptr<Peer>> peers;
  for (uint64_t i = 0; i < kPeers; ++i) {
    peers.push_back(std::make_unique<Peer>(test.port()));
    std::string bytes = EncodeHello();
    for (unsigned n = random() % 8; n > 0; --n) {
      std::string message =
          EncodeSimple(TRUMPET_OF_15,
                       static_cast<trumpet_of_ask>(random() % (TRUMPET_OF_GROUP_DESC_REQUEST + 1)),
                       static_cast<uint32_t>(random() % 4));
      message[1] = static_cast<char>(random() % 36);
      message[random() % message.size()] = static_cast<char>(random());
      bytes += message;
    }
    peers.back()->Say(bytes);
    test.RunUntil([&] { return test.net().counters().accepted > i; });
  }
  const auto closed = [&] {
    uint64_t count = test.net().counters().refused;
    for (const uint64_t of_cause : test.net().counters().closed) count += of_cause;
    return count;
  };
  EXPECT_TRUE(test.RunUntil([&] { return closed() == kPeers; })) << closed();
  EXPECT_TRUE(test.net().Switches().empty());
}

}  // namespace
}  // namespace trumpet
