// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/link_header.h"

#include <pcap/pcap.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "lib/base/byte_order.h"

namespace trumpet {
namespace {

constexpr uint32_t kEthernetBytes = 14;
constexpr uint32_t kAddressBytes = 6;
constexpr uint16_t kIpv4 = 0x0800;
constexpr uint16_t kIpv6 = 0x86dd;

uint32_t HeaderBytes(LinkKind kind) {
  switch (kind) {
    case LinkKind::kNull:
    case LinkKind::kLoop:
      return 4;
    case LinkKind::kCooked:
      return 16;
    case LinkKind::kCooked2:
      return 20;
    default:
      return 0;
  }
}

// 0: neither.
uint16_t TypeOfIp(const uint8_t* packet, uint32_t size) {
  const int version = size == 0 ? 0 : packet[0] >> 4;
  return version == 4 ? kIpv4 : version == 6 ? kIpv6 : 0;
}

// Of a family of addresses in the byte order of the machine that captured: 2, or what IPv6 is
// called on NetBSD, Linux, FreeBSD and macOS.
uint16_t TypeOfFamily(uint32_t family) {
  if (family > 0xffff) family = __builtin_bswap32(family);
  switch (family) {
    case 2:
      return kIpv4;
    case 10:
    case 24:
    case 28:
    case 30:
      return kIpv6;
    default:
      return 0;
  }
}

// `header` has all of its bytes.
uint16_t TypeOf(LinkKind kind, const uint8_t* header, uint32_t size) {
  switch (kind) {
    case LinkKind::kNull:
    case LinkKind::kLoop:
      return TypeOfFamily(LoadBe32(header));
    case LinkKind::kCooked:
      return LoadBe16(header + 14);
    case LinkKind::kCooked2:
      return LoadBe16(header);
    default:
      return TypeOfIp(header, size);
  }
}

// The sender's address, if the capture has one of Ethernet's length.
void CopyAddress(LinkKind kind, const uint8_t* header, uint8_t* address) {
  const bool is_first = kind == LinkKind::kCooked && LoadBe16(header + 4) == kAddressBytes;
  const bool is_second = kind == LinkKind::kCooked2 && header[11] == kAddressBytes;
  if (is_first) std::memcpy(address, header + 6, kAddressBytes);
  if (is_second) std::memcpy(address, header + 12, kAddressBytes);
}

}  // namespace

std::optional<LinkKind> LinkKindOf(int link_type) {
  switch (link_type) {
    case DLT_EN10MB:
      return LinkKind::kEthernet;
    case DLT_RAW:
    case DLT_IPV4:
    case DLT_IPV6:
      return LinkKind::kRawIp;
    case DLT_NULL:
      return LinkKind::kNull;
    case DLT_LOOP:
      return LinkKind::kLoop;
    case DLT_LINUX_SLL:
      return LinkKind::kCooked;
    case DLT_LINUX_SLL2:
      return LinkKind::kCooked2;
    default:
      return std::nullopt;
  }
}

std::string KnownLinkTypes() {
  return "Ethernet (EN10MB), raw IP (RAW, IPV4, IPV6), BSD's loopback (NULL, LOOP) and "
         "Linux's cooked captures (LINUX_SLL, LINUX_SLL2)";
}

Frame LinkHeader::AsEthernet(const Frame& frame) {
  if (is_ethernet()) return frame;
  const uint32_t skipped = HeaderBytes(kind_);
  Frame ethernet;
  const uint32_t wire_left = frame.wire_length - std::min(skipped, frame.wire_length);
  // A hostile capture may state lengths up to the largest number.
  ethernet.wire_length =
      wire_left + std::min(kEthernetBytes, std::numeric_limits<uint32_t>::max() - wire_left);
  ethernet.captured_length = 0;
  ethernet.data = bytes_.data();
  if (frame.captured_length < skipped) return ethernet;

  const uint32_t left = frame.captured_length - skipped;
  bytes_.assign(kEthernetBytes, 0);
  CopyAddress(kind_, frame.data, &bytes_[kAddressBytes]);
  StoreBe16(&bytes_[2 * kAddressBytes], TypeOf(kind_, frame.data, frame.captured_length));
  bytes_.insert(bytes_.end(), frame.data + skipped, frame.data + frame.captured_length);
  ethernet.data = bytes_.data();
  ethernet.captured_length = kEthernetBytes + left;
  return ethernet;
}

}  // namespace trumpet
