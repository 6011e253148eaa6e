// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Two peers that speak BGP over a network of copies; for tests.
//
//   BgpStory story;
//   story.Connect();                       // SYN, SYN and ACK
//   story.Say(0, bgp_frames::Open(...));   // side 0 opens connections
//   story.Close(1, kTcpFin);
//   story.network()                        // the copies, in the order in which it was told

#ifndef TRUMPET_CONTROLLER_TRACES_BGP_STORY_TEST_H
#define TRUMPET_CONTROLLER_TRACES_BGP_STORY_TEST_H

#include <array>
#include <cstdint>
#include <vector>

#include "controller/traces/trace_network_test.h"
#include "lib/packet/bgp_frames.h"

namespace trumpet {

class BgpStory {
 public:
  using Bytes = test_frames::Bytes;

  explicit BgpStory(bool is_ipv6 = false) : is_ipv6_(is_ipv6) {}

  void Wait(Nanos span) { now_ += span; }
  Nanos now() const { return now_; }
  // Behind it, packets of that side have no copies.
  void Hide(int side) { hidden_ = side; }
  // And those that are sent go no farther than the first switch.
  void LoseNext() { loses_next_ = true; }
  // So many bytes of each packet are in copies.
  void Truncate(size_t bytes) { kept_ = bytes; }

  void Connect(uint16_t port = 40000) {
    port_ = port;
    numbers_ = {0xfffffff0u + port, 7u * port};
    Send(0, kTcpSyn, {});
    Send(1, kTcpSyn | kTcpAck, {});
  }
  void Say(int side, const Bytes& messages) { Send(side, kTcpAck, messages); }
  void Close(int side, uint16_t flags) { Send(side, flags, {}); }
  // Both introduce themselves.
  void Establish(uint16_t port = 40000, uint16_t hold = 9) {
    Connect(port);
    Say(0, bgp_frames::Open(65001, hold, 0x0a000101));
    Say(1, test_frames::Join({bgp_frames::Open(65002, 180, 0x0a000202), bgp_frames::Keepalive()}));
    Say(0, bgp_frames::Keepalive());
  }
  // So many rounds, a second each.
  void Keep(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      Wait(kNanosPerSecond);
      Say(0, bgp_frames::Keepalive());
      Say(1, bgp_frames::Keepalive());
    }
  }

  const trace_network::Network& network() const { return network_; }

 private:
  void Send(int side, uint16_t flags, const Bytes& payload) {
    uint32_t& number = numbers_[static_cast<size_t>(side)];
    const uint16_t ports[] = {port_, kBgpPort};
    const Bytes tcp = test_frames::Join(
        {test_frames::Be16(ports[side]), test_frames::Be16(ports[1 - side]),
         test_frames::Be32(number), test_frames::Be32(numbers_[static_cast<size_t>(1 - side)]),
         test_frames::Be16(5u << 12 | flags), test_frames::Be16(1000), test_frames::Zeros(4),
         payload});
    number += static_cast<uint32_t>(payload.size()) + ((flags & (kTcpSyn | kTcpFin)) != 0 ? 1 : 0);
    now_ += kNanosPerMilli;
    if (side == hidden_) return;
    const std::vector<uint16_t> path =
        side == 0 ? std::vector<uint16_t>{1, 2, 4} : std::vector<uint16_t>{4, 2, 1};
    uint8_t ttl = 64;
    for (const uint16_t at : path) {
      Bytes packet = Packet(side, ttl--, tcp);
      if (packet.size() > kept_) packet.resize(kept_);
      network_.Copy(at, now_ + 10 * kNanosPerMicro * (64 - ttl), packet);
      if (loses_next_) break;
    }
    loses_next_ = false;
  }

  Bytes Packet(int side, uint8_t ttl, const Bytes& tcp) const {
    if (!is_ipv6_) {
      test_frames::Ipv4Header ip;
      const uint32_t hosts[] = {0x0a000101, 0x0a000202};
      ip.src = hosts[side];
      ip.dst = hosts[1 - side];
      ip.ttl = ttl;
      return test_frames::Ethernet(0x0800, test_frames::Ipv4(ip, tcp));
    }
    test_frames::Ipv6Header ip;
    ip.hop_limit = ttl;
    Bytes packet = test_frames::Ethernet(0x86dd, test_frames::Ipv6(ip, tcp));
    if (side == 1) std::swap(packet[14 + 23], packet[14 + 39]);  // the last byte of each
    return packet;
  }

  const bool is_ipv6_;
  trace_network::Network network_;
  Nanos now_ = trace_network::kBegin;
  uint16_t port_ = 0;
  std::array<uint32_t, 2> numbers_{};
  int hidden_ = -1;
  bool loses_next_ = false;
  size_t kept_ = SIZE_MAX;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_BGP_STORY_TEST_H
