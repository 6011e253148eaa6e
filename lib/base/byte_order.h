// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Byte order: numbers on the wire <-> numbers of the host.
//
// Loads and stores work at any alignment.  The caller checks the bound, in the
// function that calls.

#ifndef TRUMPET_LIB_BASE_BYTE_ORDER_H
#define TRUMPET_LIB_BASE_BYTE_ORDER_H

#include <cstdint>
#include <cstring>

namespace trumpet {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "only little-endian hosts are supported");

inline uint16_t LoadBe16(const uint8_t* bytes) {
  uint16_t value;
  std::memcpy(&value, bytes, sizeof value);
  return __builtin_bswap16(value);
}

inline uint32_t LoadBe32(const uint8_t* bytes) {
  uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return __builtin_bswap32(value);
}

inline uint64_t LoadBe64(const uint8_t* bytes) {
  uint64_t value;
  std::memcpy(&value, bytes, sizeof value);
  return __builtin_bswap64(value);
}

inline void StoreBe16(uint8_t* bytes, uint16_t value) {
  value = __builtin_bswap16(value);
  std::memcpy(bytes, &value, sizeof value);
}

inline void StoreBe32(uint8_t* bytes, uint32_t value) {
  value = __builtin_bswap32(value);
  std::memcpy(bytes, &value, sizeof value);
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_BYTE_ORDER_H
