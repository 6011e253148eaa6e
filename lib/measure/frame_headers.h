// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FrameHeaders: where the headers of a frame begin, as measurement programs know them.
//
// What a frame lacks is a block of zeros here, so that its fields read as 0 without a question.
// The same rules as those of ReadPacketValues() (packet_values.h).
//
// Threads: pure functions; pointers are borrowed with the frame.

#ifndef TRUMPET_LIB_MEASURE_FRAME_HEADERS_H
#define TRUMPET_LIB_MEASURE_FRAME_HEADERS_H

#include <cstdint>

#include "lib/base/byte_order.h"
#include "lib/packet/parse.h"

namespace trumpet {

// In place of a header: as long as the longest ones, the fixed parts of IPv4 and TCP.
constexpr uint8_t kNoHeader[20] = {};

struct FrameHeaders {
  const uint8_t* ethernet = kNoHeader;
  const uint8_t* type = kNoHeader;  // of what Ethernet carries, behind VLAN tags
  const uint8_t* ipv4 = kNoHeader;
  const uint8_t* tcp = kNoHeader;
  const uint8_t* udp = kNoHeader;
};

// Of any frame: VLAN tags, options and fragments included.
FrameHeaders LocateAnyHeaders(const Frame& frame);

// Where those of most frames are: IPv4 without tags and options, at most the first fragment, with
// room for TCP.
constexpr uint32_t kPlainIpv4At = 14;
constexpr uint32_t kPlainTransportAt = kPlainIpv4At + 20;
[[gnu::always_inline]] inline bool HasPlainHeaders(const Frame& frame) {
  if (__builtin_expect(frame.captured_length < kPlainTransportAt + 20, 0)) return false;
  const uint8_t* const data = frame.data;
  const uint32_t others = ((LoadBe32(data + kPlainIpv4At - 2) ^ 0x08004500) & 0xffffff00) |
                          (LoadBe16(data + kPlainIpv4At + 6) & 0x1fff);
  return __builtin_expect(others == 0, 1);
}

// The same as LocateAnyHeaders(), for these at once.
[[gnu::always_inline]] inline FrameHeaders LocateHeaders(const Frame& frame) {
  if (!HasPlainHeaders(frame)) return LocateAnyHeaders(frame);
  const uint8_t* const data = frame.data;
  const uint8_t protocol = data[kPlainIpv4At + 9];
  const uint8_t* const transport = data + kPlainTransportAt;
  return {data, data + kPlainIpv4At - 2, data + kPlainIpv4At,
          protocol == kProtocolTcp ? transport : kNoHeader,
          protocol == kProtocolUdp ? transport : kNoHeader};
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_FRAME_HEADERS_H
