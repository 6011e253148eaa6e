// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/mirror_header.h"

#include "lib/base/byte_order.h"

namespace trumpet {
namespace {

constexpr uint16_t kGreHasSequence = 0x1000;
constexpr uint16_t kProtocolTypeErspan = 0x88be;
constexpr uint32_t kVersion2 = uint32_t{1} << 28;
constexpr uint32_t kTruncated = 1 << 10;
constexpr uint32_t kSessionMask = 0x3ff;
constexpr uint32_t kIndexMask = 0xfffff;

}  // namespace

void WriteErspan2Header(const Erspan2Header& header, uint8_t* out) {
  StoreBe16(out, kGreHasSequence);
  StoreBe16(out + 2, kProtocolTypeErspan);
  StoreBe32(out + 4, header.sequence);
  StoreBe32(out + 8,
            kVersion2 | (header.is_truncated ? kTruncated : 0) | (header.session & kSessionMask));
  StoreBe32(out + 12, header.index & kIndexMask);
}

}  // namespace trumpet
