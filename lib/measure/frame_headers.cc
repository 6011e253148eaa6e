// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/frame_headers.h"

namespace trumpet {
namespace {

constexpr uint32_t kEthernetBytes = 14;
constexpr uint32_t kVlanBytes = 4;
constexpr uint32_t kMinIpv4Bytes = 20;
constexpr uint32_t kTcpBytes = 20;
constexpr uint32_t kUdpBytes = 8;

static_assert(sizeof kNoHeader >= kEthernetBytes && sizeof kNoHeader >= kMinIpv4Bytes &&
              sizeof kNoHeader >= kTcpBytes && sizeof kNoHeader >= kUdpBytes);

// `bytes` were captured from the IPv4 header on.
void LocateTransport(uint32_t bytes, FrameHeaders* headers) {
  const uint8_t* const ip = headers->ipv4;
  const uint32_t header = (ip[0] & 15) * 4u;
  const bool is_first_fragment = (LoadBe16(ip + 6) & 0x1fff) == 0;
  if (header < kMinIpv4Bytes || header > bytes || !is_first_fragment) return;
  const uint32_t left = bytes - header;
  if (ip[9] == kProtocolTcp && left >= kTcpBytes) headers->tcp = ip + header;
  if (ip[9] == kProtocolUdp && left >= kUdpBytes) headers->udp = ip + header;
}

}  // namespace

FrameHeaders LocateAnyHeaders(const Frame& frame) {
  FrameHeaders headers;
  const uint8_t* const data = frame.data;
  const uint32_t bytes = frame.captured_length;
  if (bytes < kEthernetBytes) return headers;
  headers.ethernet = data;
  uint32_t at = kEthernetBytes;
  uint16_t type = LoadBe16(data + at - 2);
  for (int tags = 0; tags < 2 && (type == 0x8100 || type == 0x88a8); ++tags) {
    if (bytes < at + kVlanBytes) return headers;
    at += kVlanBytes;
    type = LoadBe16(data + at - 2);
  }
  headers.type = data + at - 2;
  if (type != 0x0800 || bytes - at < kMinIpv4Bytes || data[at] >> 4 != 4) return headers;
  headers.ipv4 = data + at;
  LocateTransport(bytes - at, &headers);
  return headers;
}

}  // namespace trumpet
