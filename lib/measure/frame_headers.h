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

// The same, for most frames at once: IPv4 without tags and options, at most the first fragment,
// with room for TCP.
[[gnu::always_inline]] inline FrameHeaders LocateHeaders(const Frame& frame) {
  constexpr uint32_t kIpv4At = 14;
  constexpr uint32_t kTransportAt = kIpv4At + 20;
  constexpr uint32_t kPlainBytes = kTransportAt + 20;
  if (__builtin_expect(frame.captured_length < kPlainBytes, 0)) return LocateAnyHeaders(frame);
  const uint8_t* const data = frame.data;
  const bool is_plain =
      LoadBe32(data + kIpv4At - 2) >> 8 == 0x080045 && (LoadBe16(data + kIpv4At + 6) & 0x1fff) == 0;
  if (__builtin_expect(!is_plain, 0)) return LocateAnyHeaders(frame);
  const uint8_t protocol = data[kIpv4At + 9];
  const uint8_t* const transport = data + kTransportAt;
  return {data, data + kIpv4At - 2, data + kIpv4At,
          protocol == kProtocolTcp ? transport : kNoHeader,
          protocol == kProtocolUdp ? transport : kNoHeader};
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_FRAME_HEADERS_H
