// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/frames.h"

#include <cstring>

namespace trumpet::bench {
namespace {

void Put16(uint8_t* at, uint32_t value) {
  at[0] = static_cast<uint8_t>(value >> 8);
  at[1] = static_cast<uint8_t>(value);
}
void Put32(uint8_t* at, uint32_t value) {
  Put16(at, value >> 16);
  Put16(at + 2, value & 0xffff);
}

// Total length 46, identification 0x8d4a, DF, TTL 64, UDP, no checksums.
void WriteIpv4(uint8_t* frame) {
  static constexpr uint8_t kHead[] = {0x68, 0x05, 0xca, 0x1e, 0xa5, 0xe4, 0x68, 0x05,
                                      0xca, 0x2a, 0x95, 0x62, 0x08, 0x00, 0x45, 0x00,
                                      0x00, 46,   0x8d, 0x4a, 0x40, 0x00, 64,   17};
  std::memcpy(frame, kHead, sizeof kHead);
  Put16(frame + 34, kSrcPort);
  Put16(frame + 36, kDstPort);
  Put16(frame + 38, 26);
}

void WriteIpv6(uint8_t* frame) {
  WriteIpv4(frame);
  std::memset(frame + 12, 0, 42);
  Put16(frame + 12, 0x86dd);
  frame[14] = 0x60;
  Put16(frame + 18, 8);
  frame[20] = 17;
  frame[21] = 64;
  Put32(frame + 22, kIpv6Prefix);
  Put32(frame + 38, kIpv6Prefix);
  Put16(frame + 54, kSrcPort);
  Put16(frame + 56, kDstPort);
  Put16(frame + 58, 8);
}

void WriteVxlan(uint8_t* frame) {
  WriteIpv4(frame);
  Put16(frame + 16, 36 + kIpv4FrameBytes);
  Put32(frame + 26, 0xc0a80001);
  Put32(frame + 30, 0xc0a80002);
  Put16(frame + 36, 4789);
  Put16(frame + 38, 16 + kIpv4FrameBytes);
  frame[42] = 0x08;
  frame[48] = 7;
  WriteIpv4(frame + kVxlanHead);
}

}  // namespace

void WriteTemplate(Encapsulation encapsulation, uint8_t* frame) {
  std::memset(frame, 0, kMaxFrameBytes);
  if (encapsulation == Encapsulation::kIpv4) WriteIpv4(frame);
  if (encapsulation == Encapsulation::kIpv6) WriteIpv6(frame);
  if (encapsulation == Encapsulation::kVxlan) WriteVxlan(frame);
}

}  // namespace trumpet::bench
