// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Words of a FlowKey, as the passes over a batch compare them.
//
// Threads: none of its own.

#ifndef TRUMPET_LIB_TPM_KEY_WORDS_H
#define TRUMPET_LIB_TPM_KEY_WORDS_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lib/packet/flow_key.h"

namespace trumpet {

inline uint64_t LoadWord(const void* bytes, size_t offset) {
  uint64_t word;
  std::memcpy(&word, static_cast<const uint8_t*>(bytes) + offset, sizeof word);
  return word;
}

// Of two addresses, one behind the other as in a key.  With IPv4, whose addresses end in zeros: the
// source's four bytes, then the destination's.
inline uint64_t IpsOf(const void* addresses) {
  static_assert(offsetof(FlowKey, src_ip) == 0 && offsetof(FlowKey, dst_ip) == sizeof(IpBytes));
  return LoadWord(addresses, 0) | LoadWord(addresses, sizeof(IpBytes) - sizeof(uint32_t));
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_KEY_WORDS_H
