// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// IP headers of one encapsulation level.  Private to ParsePacket (parse.cc);
// inline because every packet passes here.  ADR 0002, readings 2 to 5.

#ifndef TRUMPET_LIB_PACKET_PARSE_IP_H
#define TRUMPET_LIB_PACKET_PARSE_IP_H

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "lib/base/byte_order.h"
#include "lib/packet/parsed_packet.h"

namespace trumpet {
namespace parse_internal {

constexpr uint16_t kEthTypeIpv4 = 0x0800;
constexpr uint16_t kEthTypeIpv6 = 0x86dd;
constexpr uint32_t kIpv4MinBytes = 20;
constexpr uint32_t kIpv6Bytes = 40;
constexpr uint32_t kMinExtensionBytes = 8;
constexpr int kMaxExtensions = 16;
constexpr uint8_t kFragmentHeader = 44;
constexpr uint8_t kAuthenticationHeader = 51;

// Bytes [offset, end) of data are readable; offset <= end.
struct Span {
  const uint8_t* data;
  uint32_t offset;
  uint32_t end;

  uint32_t available() const { return end - offset; }
  const uint8_t* here() const { return data + offset; }
};

enum class Fragment : uint8_t { kNone, kFirst, kLater };

// What an IP header says of the bytes behind it.
struct IpPayload {
  Span span;              // captured and within the stated length
  uint32_t stated_bytes;  // as the header states, 0 if it does not
  Fragment fragment;
};

constexpr uint16_t kIpFieldBits = FieldBit(Field::kSrcIp) | FieldBit(Field::kDstIp) |
                                  FieldBit(Field::kProtocol) | FieldBit(Field::kDscp) |
                                  FieldBit(Field::kEcn) | FieldBit(Field::kTtl);

// The IP version whose header stands at `span`, or 0.
inline int RecognisedIpVersion(const Span& span, uint16_t eth_type) {
  if (eth_type == kEthTypeIpv4) {
    if (span.available() < kIpv4MinBytes) return 0;
    const uint8_t version_and_words = span.here()[0];
    return version_and_words >= 0x45 && version_and_words <= 0x4f ? 4 : 0;
  }
  if (eth_type == kEthTypeIpv6) {
    if (span.available() < kIpv6Bytes) return 0;
    return span.here()[0] >> 4 == 6 ? 6 : 0;
  }
  return 0;
}

// Moves to what lies `bytes` further, which may be past the readable end.
inline Span Skip(const Span& span, uint32_t bytes) {
  return {span.data, span.offset + std::min(bytes, span.available()), span.end};
}

inline Span CutTo(const Span& span, uint32_t bytes) {
  return {span.data, span.offset, span.offset + std::min(bytes, span.available())};
}

// Needs RecognisedIpVersion() == 4.
inline IpPayload ParseIpv4(const Span& span, Headers* headers) {
  if (span.available() < kIpv4MinBytes) return {span, 0, Fragment::kNone};
  const uint8_t* ip = span.here();
  headers->present |= kIpFieldBits;
  headers->ip_family = 4;
  headers->dscp = ip[1] >> 2;
  headers->ecn = ip[1] & 3;
  headers->ttl = ip[8];
  headers->protocol = ip[9];
  std::memcpy(headers->src_ip.data(), ip + 12, 4);
  std::memcpy(headers->dst_ip.data(), ip + 16, 4);

  const uint32_t header_bytes = (ip[0] & 15u) * 4;
  const uint32_t total_bytes = LoadBe16(ip + 2);
  const uint16_t fragment_word = LoadBe16(ip + 6);
  IpPayload payload{span, 0, Fragment::kNone};
  if (total_bytes >= header_bytes) {
    payload.stated_bytes = total_bytes - header_bytes;
    payload.span = CutTo(span, total_bytes);
  }
  payload.span = Skip(payload.span, header_bytes);
  if ((fragment_word & 0x3fff) != 0) {
    payload.fragment = (fragment_word & 0x1fff) != 0 ? Fragment::kLater : Fragment::kFirst;
  }
  return payload;
}

inline bool IsIpv6Extension(uint8_t next_header) {
  switch (next_header) {
    case 0:
    case 43:
    case kFragmentHeader:
    case kAuthenticationHeader:
    case 60:
    case 135:
    case 139:
    case 140:
      return true;
    default:
      return false;
  }
}

// Walks from `*next_header`, the extension at payload->span, to the first header
// that is none.  An extension counts as captured when its first 8 bytes are.
inline void SkipIpv6Extensions(uint8_t* next_header, IpPayload* payload) {
  for (int skipped = 0; skipped < kMaxExtensions && IsIpv6Extension(*next_header); ++skipped) {
    if (payload->span.available() < kMinExtensionBytes) return;
    const uint8_t* extension = payload->span.here();
    uint32_t bytes = kMinExtensionBytes;
    if (*next_header == kFragmentHeader) {
      const uint16_t fragment_word = LoadBe16(extension + 2);
      if ((fragment_word & 0xfff8) != 0) {
        payload->fragment = Fragment::kLater;
      } else if ((fragment_word & 1) != 0) {
        payload->fragment = Fragment::kFirst;
      }
    } else if (*next_header == kAuthenticationHeader) {
      bytes = (extension[1] + 2u) * 4;
    } else {
      bytes = (extension[1] + 1u) * 8;
    }
    *next_header = extension[0];
    payload->span = Skip(payload->span, bytes);
    payload->stated_bytes -= std::min(bytes, payload->stated_bytes);
    if (payload->fragment == Fragment::kLater) return;
  }
}

// Needs RecognisedIpVersion() == 6.
inline IpPayload ParseIpv6(const Span& span, Headers* headers) {
  if (span.available() < kIpv6Bytes) return {span, 0, Fragment::kNone};
  const uint8_t* ip = span.here();
  const uint16_t first_word = LoadBe16(ip);
  headers->present |= kIpFieldBits;
  headers->ip_family = 6;
  headers->dscp = (first_word >> 6) & 0x3f;
  headers->ecn = (first_word >> 4) & 3;
  headers->ttl = ip[7];
  std::memcpy(headers->src_ip.data(), ip + 8, 16);
  std::memcpy(headers->dst_ip.data(), ip + 24, 16);

  IpPayload payload{Skip(span, kIpv6Bytes), LoadBe16(ip + 4), Fragment::kNone};
  if (payload.stated_bytes != 0) payload.span = CutTo(payload.span, payload.stated_bytes);
  uint8_t next_header = ip[6];
  SkipIpv6Extensions(&next_header, &payload);
  headers->protocol = next_header;
  return payload;
}

}  // namespace parse_internal
}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_PARSE_IP_H
