// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RandomTraffic: what the random tests of connection tracking share.

#ifndef TRUMPET_LIB_TPM_TCP_TRAFFIC_TEST_H
#define TRUMPET_LIB_TPM_TCP_TRAFFIC_TEST_H

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "lib/tpm/tcp_test_kit.h"

namespace trumpet::testing {

// Random packets of a few connections: mostly plausible, often broken, sometimes hostile.
class RandomTraffic {
 public:
  // What acknowledges data or ends connections comes so many times more rarely.
  RandomTraffic(uint32_t seed, uint32_t connections, uint32_t rarity = 1)
      : rarity_(rarity), random_(seed), ends_(connections) {
    for (auto& pair : ends_) {
      for (End& end : pair) {
        end.next = OneIn(3) ? UINT32_MAX - random_() % 3000 : static_cast<uint32_t>(random_());
        end.acked = end.next;
      }
    }
  }

  struct Event {
    FlowKey flow;
    Shot shot;
    Nanos now = 0;
  };

  Event Next() {
    const auto number = static_cast<uint32_t>(random_() % ends_.size());
    const size_t side = random_() % 2;
    Event event;
    event.flow = FlowOf(number, side);
    event.now = now_ += Gap();
    End& own = ends_[number][side];
    End& peer = ends_[number][1 - side];
    if (event.flow.protocol != kProtocolTcp) {
      event.shot = Udp();
    } else {
      event.shot = OneIn(60 * rarity_) ? Hostile() : Plausible(&own, &peer);
    }
    return event;
  }

 private:
  struct End {
    uint32_t next = 0;   // next new number
    uint32_t acked = 0;  // by the peer
    uint16_t window = 500;
  };

  bool OneIn(uint32_t n) { return random_() % n == 0; }

  FlowKey FlowOf(uint32_t number, size_t side) {
    FlowKey flow = ClientFlow(number, number % 7 == 6 ? kProtocolUdp : kProtocolTcp);
    if (number % 7 == 5) {  // its own reverse
      flow.dst_ip = flow.src_ip;
      flow.dst_port = flow.src_port;
    }
    return side == 0 ? flow : Reversed(flow);
  }

  Nanos Gap() {
    switch (random_() % 12) {
      case 0:
        return 0;
      case 1:
        return kMs;
      case 2:
        return OneIn(20) ? 4 * kSecond : 10 * kMs;
      case 3:
        return OneIn(100 * rarity_) ? 10 * kSecond + static_cast<Nanos>(random_() % 3) - 1 : kUs;
      default:
        return static_cast<Nanos>(random_() % (4 * kUs));
    }
  }

  Shot Plausible(End* own, End* peer) {
    const uint32_t choice = random_() % 32;
    uint32_t bytes = OneIn(3) ? 1 + random_() % 4 : 1 + random_() % 60;
    const uint32_t outstanding = own->next - own->acked;
    Shot shot = Data(own->next, 0);
    if (choice < 10) {  // new data
      shot.Payload(bytes);
      own->next += bytes;
    } else if (choice < 14 && outstanding != 0) {  // some of it again, whole or in part
      shot = Data(own->acked + random_() % outstanding - (OneIn(8) ? 30 : 0), bytes);
    } else if (choice == 14) {  // a hole, perhaps filled later
      own->next += bytes;
      shot = Data(own->next, bytes);
      own->next += OneIn(2) ? bytes : 0;
    } else if (choice == 15) {  // a probe, or what looks like one
      shot = Data(own->next - (OneIn(2) ? 1 : 0), 1);
    } else if (choice == 16 && OneIn(4 * rarity_)) {
      shot = Open(own);
    } else if (choice == 17 && OneIn(2)) {
      shot = Fin(own->next++).Payload(OneIn(2) ? 0 : 3);
    } else if (choice == 18 && OneIn(4)) {
      shot.Flags(kTcpRst);
    } else if (choice == 19 && OneIn(20)) {
      shot.tcp.is_present = false;
      return shot;
    }
    return WithAnswer(shot, own, peer);
  }

  Shot Open(End* own) {
    if (OneIn(3)) own->acked = own->next = static_cast<uint32_t>(random_());
    Shot shot = Syn(own->next++);
    if (OneIn(4)) shot.Payload(20);
    if (!OneIn(3)) shot.Mss(static_cast<uint16_t>(OneIn(5) ? random_() : 536));
    if (!OneIn(4)) shot.Shift(static_cast<uint8_t>(random_() % 17));
    return shot;
  }

  Shot WithAnswer(Shot shot, End* own, End* peer) {
    const bool is_syn = (shot.tcp.flags & kTcpSyn) != 0;
    if (OneIn(is_syn ? 2 : 16)) return shot;
    const uint32_t outstanding = peer->next - peer->acked;
    if (OneIn(3 * rarity_))
      peer->acked += OneIn(2) ? outstanding : outstanding == 0 ? 0 : random_() % outstanding;
    uint32_t ack = peer->acked;
    if (OneIn(12)) ack -= random_() % 100;  // an old one
    if (OneIn(40)) ack += random_() % 200;  // of what was not seen
    if (OneIn(10)) own->window = OneIn(2) ? 0 : static_cast<uint16_t>(random_() % 3 * 300);
    return shot.Ack(ack).Window(own->window);
  }

  Shot Hostile() {
    Shot shot = Data(static_cast<uint32_t>(random_()), random_() % 3 * 20);
    if (OneIn(2))
      shot.tcp.seq = (OneIn(2) ? 0x80000000u : 0) + static_cast<uint32_t>(random_() % 3) - 1;
    shot.Flags(static_cast<uint16_t>(random_() & 0xfff & ~(OneIn(2) ? kTcpSyn : 0)));
    shot.tcp.ack = OneIn(2) ? static_cast<uint32_t>(random_()) : shot.tcp.seq + 0x80000000u;
    return shot.Window(static_cast<uint16_t>(random_())).Shift(255);
  }

  uint32_t rarity_;
  std::mt19937 random_;
  std::vector<std::array<End, 2>> ends_;
  Nanos now_ = kSecond;
};

}  // namespace trumpet::testing

#endif  // TRUMPET_LIB_TPM_TCP_TRAFFIC_TEST_H
