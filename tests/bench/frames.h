// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Frames of the workload: templates to be filled with addresses.
//
// IPv4: 60 bytes, UDP 58513 -> 2500, as the paper's sender made them; a sequence number at offset
// 46.  IPv6: 62 bytes, the least that holds a UDP header, so no sequence number.  VXLAN: the IPv4
// frame inside, 110 bytes, always between the same two tunnel ends.

#ifndef TRUMPET_TESTS_BENCH_FRAMES_H
#define TRUMPET_TESTS_BENCH_FRAMES_H

#include <cstdint>

#include "tests/bench/workload.h"

namespace trumpet::bench {

// Where things lie in a frame.
struct FrameShape {
  uint32_t length;
  uint32_t stride;       // from one frame of a batch to the next
  uint32_t src_at;       // the last 32 bits of the source address; its start unless IPv6
  uint32_t dst_at;       // likewise
  uint32_t protocol_at;  // of the IP header that holds the addresses
  uint32_t ports_at;
  uint32_t sequence_at;    // 0: there is none
  uint32_t payload_bytes;  // of UDP
};

constexpr uint32_t kMaxFrameBytes = 128;
constexpr uint32_t kIpv4FrameBytes = 60;
constexpr uint32_t kIpv6FrameBytes = 62;
constexpr uint32_t kVxlanHead = 50;

constexpr FrameShape ShapeOf(Encapsulation encapsulation) {
  if (encapsulation == Encapsulation::kIpv6) return {kIpv6FrameBytes, 64, 34, 50, 20, 54, 0, 0};
  const uint32_t ip = encapsulation == Encapsulation::kVxlan ? kVxlanHead : 0;
  return {ip + kIpv4FrameBytes,
          ip == 0 ? 64 : kMaxFrameBytes,
          ip + 26,
          ip + 30,
          ip + 23,
          ip + 34,
          ip + 46,
          18};
}

// Writes all but addresses and sequence number; `frame` has room for kMaxFrameBytes.
void WriteTemplate(Encapsulation encapsulation, uint8_t* frame);

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_FRAMES_H
