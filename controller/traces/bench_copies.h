// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Copies for benchmarks: 64-byte TCP packets that cross a chain of four switches, each of which
// sends a copy in ERSPAN II.

#ifndef TRUMPET_CONTROLLER_TRACES_BENCH_COPIES_H
#define TRUMPET_CONTROLLER_TRACES_BENCH_COPIES_H

#include <cstdint>
#include <cstring>

#include "lib/base/hash.h"
#include "lib/model/trace_rule.h"
#include "lib/packet/test_frames.h"

namespace trumpet {
namespace bench_copies {

using test_frames::Be32;
using test_frames::Bytes;

constexpr uint16_t kHops = 4;
constexpr char kChain[] = R"(
hosts:
  - {id: h1, prefixes: [10.0.0.0/16], attached_to: s1}
  - {id: h2, prefixes: [10.1.0.0/16], attached_to: s4}
switches: [{name: s1}, {name: s2}, {name: s3}, {name: s4}]
links: [{from: s1, to: s2}, {from: s2, to: s3}, {from: s3, to: s4}]
)";

// ERSPAN II of switch `hop` + 1 around packet `number`, in one block of memory.
class Copies {
 public:
  Copies() {
    for (uint16_t hop = 0; hop < kHops; ++hop) {
      test_frames::Ipv4Header ip;
      ip.src = 0x0a000001;
      ip.dst = 0x0a010001;
      ip.ttl = static_cast<uint8_t>(64 - hop);
      const Bytes packet =
          test_frames::Ethernet(0x0800, test_frames::Ipv4(ip, test_frames::Tcp({}, Bytes(10))));
      const Bytes erspan =
          test_frames::Join({Be32(0x10000000u | (hop + 1u)), Be32(TraceTag(0, 1)), packet});
      frames_[hop] = test_frames::Ethernet(
          0x0800,
          test_frames::Ipv4({kProtocolGre}, test_frames::Gre(0x1000, 0x88be, Be32(0), erspan)));
      at_ = frames_[hop].size() - packet.size();
    }
  }
  size_t bytes() const { return frames_[0].size(); }
  // Each packet has a source port, an IP ID, a sequence and a checksum of its own.
  void Write(uint16_t hop, uint32_t number, uint32_t sequence, uint8_t* out) const {
    std::memcpy(out, frames_[hop].data(), bytes());
    const uint32_t scrambled = static_cast<uint32_t>(MixBits(number));
    StoreBe32(out + 38, sequence);
    StoreBe16(out + at_ + 14 + 4, static_cast<uint16_t>(number));
    StoreBe16(out + at_ + 14 + 14, static_cast<uint16_t>(number >> 16));
    StoreBe32(out + at_ + 34 + 4, number);
    StoreBe16(out + at_ + 34, static_cast<uint16_t>(scrambled));
    StoreBe16(out + at_ + 34 + 16, static_cast<uint16_t>(scrambled >> 16));
  }

 private:
  static void StoreBe16(uint8_t* out, uint16_t value) {
    out[0] = static_cast<uint8_t>(value >> 8);
    out[1] = static_cast<uint8_t>(value);
  }
  static void StoreBe32(uint8_t* out, uint32_t value) {
    StoreBe16(out, static_cast<uint16_t>(value >> 16));
    StoreBe16(out + 2, static_cast<uint16_t>(value));
  }

  Bytes frames_[kHops];
  size_t at_ = 0;  // of the packet
};

}  // namespace bench_copies
}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_BENCH_COPIES_H
