// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Frames of copies as switches of a small network make them, with faults put in; for tests.

#ifndef TRUMPET_CONTROLLER_TRACES_TRACE_NETWORK_TEST_H
#define TRUMPET_CONTROLLER_TRACES_TRACE_NETWORK_TEST_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lib/base/units.h"
#include "lib/model/slice_spec.h"
#include "lib/packet/test_captures.h"
#include "lib/packet/test_frames.h"

namespace trumpet {
namespace trace_network {

using test_frames::Bytes;

constexpr Nanos kBegin = 1700000000 * kNanosPerSecond;

struct TimedBytes {
  Nanos time = 0;
  Bytes bytes;
};

// A packet of a flow: TCP from 10.0.1.1 and port 1000 + `flow` to 10.0.2.2, port 80.
inline Bytes Packet(uint16_t flow, uint32_t number, uint8_t ttl, uint16_t flags = kTcpAck,
                    uint8_t tos = 0) {
  test_frames::Ipv4Header ip;
  ip.src = 0x0a000101;
  ip.dst = 0x0a000202;
  ip.ttl = ttl;
  ip.tos = tos;
  test_frames::TcpHeader tcp;
  tcp.src_port = static_cast<uint16_t>(1000 + flow);
  tcp.flags = flags;
  return test_frames::Ethernet(
      0x0800, test_frames::Ipv4(ip, test_frames::Tcp(tcp, test_frames::Be32(number))));
}

class Network {
 public:
  // A copy that `switch_number` makes of it, in GRE with a number; lost ones have a number, too.
  void Copy(uint16_t switch_number, Nanos time, const Bytes& packet, bool is_lost = false,
            uint32_t tag = 5) {
    const uint32_t number = sequences_[switch_number]++;
    if (is_lost) return;
    const Bytes fields = test_frames::Join(
        {test_frames::Be32(SliceGreKey(switch_number, tag)), test_frames::Be32(number)});
    test_frames::Ipv4Header outer;
    outer.protocol = kProtocolGre;
    Add(time,
        test_frames::Ethernet(
            0x0800, test_frames::Ipv4(outer, test_frames::Gre(0x3000, 0x6558, fields, packet))));
  }
  void Add(Nanos time, Bytes bytes) { frames_.push_back({time, std::move(bytes)}); }
  // The packet at each of the switches, 10 us from one to the next.
  void Cross(const std::vector<uint16_t>& path, Nanos time, uint16_t flow, uint32_t number,
             uint16_t flags = kTcpAck, uint8_t tos = 0) {
    uint8_t ttl = 64;
    for (const uint16_t at : path) {
      Copy(at, time, Packet(flow, number, ttl--, flags, tos));
      time += 10 * kNanosPerMicro;
    }
  }

  // In the order of their times.
  std::vector<TimedBytes> Frames() const {
    std::vector<TimedBytes> frames = frames_;
    std::stable_sort(frames.begin(), frames.end(),
                     [](const TimedBytes& a, const TimedBytes& b) { return a.time < b.time; });
    return frames;
  }
  Bytes Capture() const { return CaptureOf(Frames()); }

  static Bytes CaptureOf(const std::vector<TimedBytes>& frames) {
    Bytes capture = test_captures::PcapHeader(test_captures::kNanoMagic);
    for (const TimedBytes& frame : frames) {
      const Bytes packet = test_captures::PcapPacket(
          static_cast<uint32_t>(frame.time / kNanosPerSecond),
          static_cast<uint32_t>(frame.time % kNanosPerSecond), frame.bytes);
      capture.insert(capture.end(), packet.begin(), packet.end());
    }
    return capture;
  }

 private:
  std::map<uint16_t, uint32_t> sequences_;
  std::vector<TimedBytes> frames_;
};

// Over leaf1 (1), a spine and leaf2 (4), with one packet of many lost behind the spine 2.
inline Network WithADrop() {
  Network network;
  for (uint32_t i = 0; i < 200; ++i) {
    const Nanos time = kBegin + i * kNanosPerMilli;
    if (i == 100) {
      network.Cross({1, 2}, time, 0, i, kTcpSyn);
    } else {
      network.Cross({1, static_cast<uint16_t>(2 + i % 2), 4}, time, static_cast<uint16_t>(i % 2),
                    i);
    }
  }
  return network;
}

}  // namespace trace_network
}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_TRACE_NETWORK_TEST_H
