// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/mirror_copy.h"

#include <algorithm>

#include "lib/base/byte_order.h"
#include "lib/packet/parse_ip.h"
#include "lib/packet/parse_tunnel.h"

namespace trumpet {
namespace {

using parse_internal::Fragment;
using parse_internal::IpPayload;
using parse_internal::kEthernetBytes;
using parse_internal::kEthTypeIpv4;
using parse_internal::kEthTypeIpv6;
using parse_internal::RecognisedIpVersion;
using parse_internal::Skip;
using parse_internal::Span;

constexpr uint16_t kProtocolTypeErspan = 0x88be;  // I and II
constexpr uint16_t kProtocolTypeErspan3 = 0x22eb;
constexpr uint32_t kErspan2Bytes = 8;
constexpr uint32_t kErspan3Bytes = 12;
constexpr uint32_t kPlatformBytes = 8;
constexpr uint8_t kVersion2 = 1;  // in the header
constexpr uint8_t kVersion3 = 2;
constexpr uint8_t kFrameTypeEthernet = 0;
constexpr uint8_t kFrameTypeIp = 2;
constexpr int kMaxTags = 4;

// Skips an Ethernet header and its tags; false if it is cut short.
bool SkipEthernet(Span* span, uint16_t* eth_type) {
  if (span->available() < kEthernetBytes) return false;
  *eth_type = LoadBe16(span->here() + 12);
  span->offset += kEthernetBytes;
  for (int tags = 0; tags < kMaxTags && (*eth_type == 0x8100 || *eth_type == 0x88a8); ++tags) {
    if (span->available() < 4) return false;
    *eth_type = LoadBe16(span->here() + 2);
    span->offset += 4;
  }
  return true;
}

CopyVerdict FindGre(const Frame& frame, MirrorCopy* copy, Span* gre) {
  Span span{frame.data, 0, frame.captured_length};
  uint16_t eth_type = 0;
  if (!SkipEthernet(&span, &eth_type)) return CopyVerdict::kOther;
  IpPayload ip{};
  switch (RecognisedIpVersion(span, eth_type)) {
    case 4:
      ip = parse_internal::ParseIpv4(span, &copy->outer);
      break;
    case 6:
      ip = parse_internal::ParseIpv6(span, &copy->outer);
      break;
    default:
      return CopyVerdict::kOther;
  }
  if (copy->outer.protocol != kProtocolGre) return CopyVerdict::kOther;
  if (ip.fragment != Fragment::kNone) return CopyVerdict::kFragment;
  *gre = ip.span;
  return CopyVerdict::kCopy;
}

// Moves `span` behind the GRE header.
CopyVerdict ReadGreHeader(Span* span, MirrorCopy* copy, uint16_t* type) {
  if (span->available() < parse_internal::kGreMinBytes) return CopyVerdict::kMalformed;
  const uint16_t flags = LoadBe16(span->here());
  *type = LoadBe16(span->here() + 2);
  if ((flags & (parse_internal::kGreVersion | parse_internal::kGreRouting)) != 0) {
    return CopyVerdict::kUnsupported;
  }
  copy->has_key = (flags & parse_internal::kGreKey) != 0;
  copy->has_sequence = (flags & parse_internal::kGreSequence) != 0;
  uint32_t bytes = parse_internal::kGreMinBytes;
  if ((flags & parse_internal::kGreChecksum) != 0) bytes += 4;
  const uint32_t key_at = bytes;
  if (copy->has_key) bytes += 4;
  const uint32_t sequence_at = bytes;
  if (copy->has_sequence) bytes += 4;
  if (span->available() < bytes) return CopyVerdict::kMalformed;
  copy->key = copy->has_key ? LoadBe32(span->here() + key_at) : 0;
  copy->sequence = copy->has_sequence ? LoadBe32(span->here() + sequence_at) : 0;
  span->offset += bytes;
  return CopyVerdict::kCopy;
}

// The first four bytes of ERSPAN II and III but for their version.
void ReadErspanWord(const uint8_t* erspan, MirrorCopy* copy) {
  const uint32_t word = LoadBe32(erspan);
  copy->vlan = word >> 16 & 0xfff;
  copy->cos = word >> 13 & 7;
  copy->encapsulation = word >> 11 & 3;
  copy->is_truncated = (word >> 10 & 1) != 0;
  copy->session = word & 0x3ff;
}

CopyVerdict ReadErspan2(Span* span, MirrorCopy* copy) {
  if (span->available() < kErspan2Bytes) return CopyVerdict::kMalformed;
  const uint8_t* erspan = span->here();
  if (erspan[0] >> 4 != kVersion2) return CopyVerdict::kUnsupported;
  copy->kind = CopyKind::kErspan2;
  ReadErspanWord(erspan, copy);
  copy->index = LoadBe32(erspan + 4) & 0xfffff;
  span->offset += kErspan2Bytes;
  return CopyVerdict::kCopy;
}

CopyVerdict ReadErspan3(Span* span, MirrorCopy* copy) {
  if (span->available() < kErspan3Bytes) return CopyVerdict::kMalformed;
  const uint8_t* erspan = span->here();
  if (erspan[0] >> 4 != kVersion3) return CopyVerdict::kUnsupported;
  copy->kind = CopyKind::kErspan3;
  ReadErspanWord(erspan, copy);
  copy->timestamp = LoadBe32(erspan + 4);
  copy->group_tag = LoadBe16(erspan + 8);
  const uint16_t word = LoadBe16(erspan + 10);
  copy->frame_type = word >> 10 & 31;
  copy->hardware_id = word >> 4 & 63;
  copy->is_egress = (word >> 3 & 1) != 0;
  copy->granularity = word >> 1 & 3;
  copy->has_platform = (word & 1) != 0;
  if (copy->frame_type != kFrameTypeEthernet && copy->frame_type != kFrameTypeIp) {
    return CopyVerdict::kUnsupported;
  }
  copy->is_ethernet = copy->frame_type == kFrameTypeEthernet;
  span->offset += kErspan3Bytes;
  if (!copy->has_platform) return CopyVerdict::kCopy;
  if (span->available() < kPlatformBytes) return CopyVerdict::kMalformed;
  copy->platform = LoadBe64(span->here());
  span->offset += kPlatformBytes;
  return CopyVerdict::kCopy;
}

// A switch that cuts its copies does not say how long the packet was; its IP header does.
uint32_t StatedBytes(Span span, bool is_ethernet) {
  const uint32_t begin = span.offset;
  uint16_t eth_type = 0;
  if (is_ethernet) {
    if (!SkipEthernet(&span, &eth_type)) return 0;
  } else {
    eth_type = span.available() > 0 && span.here()[0] >> 4 == 6 ? kEthTypeIpv6 : kEthTypeIpv4;
  }
  const uint32_t ip_at = span.offset - begin;
  switch (RecognisedIpVersion(span, eth_type)) {
    case 4:
      return ip_at + LoadBe16(span.here() + 2);
    case 6:
      return ip_at + parse_internal::kIpv6Bytes + LoadBe16(span.here() + 4);
    default:
      return 0;
  }
}

CopyVerdict ReadInside(uint16_t type, Span* span, MirrorCopy* copy) {
  switch (type) {
    case parse_internal::kProtocolTypeEthernet:
      return CopyVerdict::kCopy;
    case kEthTypeIpv4:
    case kEthTypeIpv6:
      copy->is_ethernet = false;
      return CopyVerdict::kCopy;
    case kProtocolTypeErspan:
      if (copy->has_sequence) return ReadErspan2(span, copy);
      copy->kind = CopyKind::kErspan1;  // no header at all
      return CopyVerdict::kCopy;
    case kProtocolTypeErspan3:
      return ReadErspan3(span, copy);
    default:
      return CopyVerdict::kOther;
  }
}

}  // namespace

CopyVerdict ReadMirrorCopy(const Frame& frame, MirrorCopy* copy) {
  *copy = MirrorCopy();
  Span span{};
  uint16_t type = 0;
  CopyVerdict verdict = FindGre(frame, copy, &span);
  if (verdict == CopyVerdict::kCopy) verdict = ReadGreHeader(&span, copy, &type);
  if (verdict == CopyVerdict::kCopy) verdict = ReadInside(type, &span, copy);
  if (verdict != CopyVerdict::kCopy) return verdict;
  if (span.available() == 0) return CopyVerdict::kMalformed;
  copy->inner = span.here();
  copy->inner_captured = span.available();
  const bool is_all_captured = frame.captured_length >= frame.wire_length;
  const uint32_t cut = is_all_captured ? 0 : frame.wire_length - frame.captured_length;
  copy->inner_bytes = std::max(copy->inner_captured + cut, StatedBytes(span, copy->is_ethernet));
  return CopyVerdict::kCopy;
}

}  // namespace trumpet
