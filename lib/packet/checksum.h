// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The Internet's checksum, of headers of which words change.

#ifndef TRUMPET_LIB_PACKET_CHECKSUM_H
#define TRUMPET_LIB_PACKET_CHECKSUM_H

#include <cstddef>
#include <cstdint>

#include "lib/base/byte_order.h"

namespace trumpet {

// Of an even number of bytes, up to 128 KiB; nothing is carried yet.
inline uint32_t SumOfWords(const uint8_t* bytes, size_t count) {
  uint32_t sum = 0;
  for (size_t at = 0; at < count; at += 2) sum += LoadBe16(bytes + at);
  return sum;
}

// RFC 1624, equation 3, for any sums of words.
inline uint16_t RepairedChecksum(uint16_t checksum, uint32_t before, uint32_t after) {
  uint64_t sum = (checksum ^ 0xffffu) + uint64_t{after} + (0xffff - before % 0xffff);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(sum ^ 0xffff);
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_CHECKSUM_H
