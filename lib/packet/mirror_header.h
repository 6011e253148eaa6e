// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MirrorHeader: what stands before a copied packet in a tunnel, up to the IP header of the tunnel:
// GRE with a sequence number and ERSPAN II, as mirror_copy.h reads them.
//
// Threads: pure function.

#ifndef TRUMPET_LIB_PACKET_MIRROR_HEADER_H
#define TRUMPET_LIB_PACKET_MIRROR_HEADER_H

#include <cstddef>
#include <cstdint>

namespace trumpet {

constexpr size_t kErspan2HeaderBytes = 16;

struct Erspan2Header {
  uint32_t sequence = 0;
  uint16_t session = 0;  // ten bits
  uint32_t index = 0;    // 20 bits
  bool is_truncated = false;
};

void WriteErspan2Header(const Erspan2Header& header, uint8_t* out);

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_MIRROR_HEADER_H
