// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/packet_values.h"

#include <cstring>

#include "lib/base/byte_order.h"

namespace trumpet {
namespace {

constexpr uint32_t kEthernetBytes = 14;
constexpr uint32_t kVlanBytes = 4;
constexpr uint32_t kMinIpv4Bytes = 20;
constexpr uint32_t kTcpBytes = 20;
constexpr uint32_t kUdpBytes = 8;
constexpr uint16_t kEtherTypeIpv4 = 0x0800;
constexpr uint16_t kSegwayPort = 30000;
constexpr uint32_t kSegwayBytes = 10;

uint64_t LoadBe48(const uint8_t* bytes) {
  return uint64_t{LoadBe16(bytes)} << 32 | LoadBe32(bytes + 2);
}

void ReadSegway(PacketValues* values) {
  if (values->payload_bytes < kSegwayBytes) return;
  values->Set(kSegwayMsg, values->payload[0]);
  values->Set(kSegwayTs, values->payload[1]);
  values->Set(kSegwayTime, LoadBe64(values->payload + 2));
}

// `l4` has `bytes` captured bytes.
void ReadTransport(uint8_t protocol, const uint8_t* l4, uint32_t bytes, PacketValues* values) {
  if (protocol == kProtocolTcp && bytes >= kTcpBytes) {
    values->Set(kTcpSrc, LoadBe16(l4));
    values->Set(kTcpDst, LoadBe16(l4 + 2));
    values->Set(kTcpFlags, l4[13]);
    const uint32_t header = (l4[12] >> 4) * 4u;
    if (header < kTcpBytes || header > bytes) return;
    values->payload = l4 + header;
    values->payload_bytes = bytes - header;
  } else if (protocol == kProtocolUdp && bytes >= kUdpBytes) {
    values->Set(kUdpSrc, LoadBe16(l4));
    values->Set(kUdpDst, LoadBe16(l4 + 2));
    values->payload = l4 + kUdpBytes;
    values->payload_bytes = bytes - kUdpBytes;
    if (values->value[kUdpDst] == kSegwayPort) ReadSegway(values);
  }
}

void ReadIpv4(const uint8_t* ip, uint32_t bytes, PacketValues* values) {
  if (bytes < kMinIpv4Bytes || ip[0] >> 4 != 4) return;
  values->Set(kIpv4Tos, ip[1]);
  values->Set(kIpv4Len, LoadBe16(ip + 2));
  values->Set(kIpv4Id, LoadBe16(ip + 4));
  values->Set(kIpv4Ttl, ip[8]);
  values->Set(kIpv4Proto, ip[9]);
  values->Set(kIpv4Checksum, LoadBe16(ip + 10));
  values->Set(kIpv4Src, LoadBe32(ip + 12));
  values->Set(kIpv4Dst, LoadBe32(ip + 16));
  const uint32_t header = (ip[0] & 15) * 4u;
  const bool is_first_fragment = (LoadBe16(ip + 6) & 0x1fff) == 0;
  if (header < kMinIpv4Bytes || header > bytes) return;
  values->ipv4 = ip;
  if (!is_first_fragment) return;
  ReadTransport(ip[9], ip + header, bytes - header, values);
}

}  // namespace

void ReadPacketValues(const Frame& frame, PacketValues* values) {
  // Fields of programs' own headers are theirs to clear: that halves what is written of a packet.
  values->present = values->tagged = 0;
  values->ipv4 = values->payload = nullptr;
  values->payload_bytes = 0;
  std::memset(values->value, 0, kMeasureFieldCount * sizeof values->value[0]);
  values->Set(kPktSize, frame.wire_length);
  if (frame.captured_length < kEthernetBytes) return;
  values->Set(kEthDst, LoadBe48(frame.data));
  values->Set(kEthSrc, LoadBe48(frame.data + 6));
  uint32_t at = kEthernetBytes;
  uint16_t type = LoadBe16(frame.data + at - 2);
  for (int tags = 0; tags < 2 && (type == 0x8100 || type == 0x88a8); ++tags) {
    if (frame.captured_length < at + kVlanBytes) return;
    if (tags == 0) values->value[kVlanVid] = LoadBe16(frame.data + at) & 0xfff;
    at += kVlanBytes;
    type = LoadBe16(frame.data + at - 2);
  }
  values->Set(kEthType, type);
  if (type == kEtherTypeIpv4) ReadIpv4(frame.data + at, frame.captured_length - at, values);
}

void ReadPlacedPacket(const Frame& frame, PacketValues* values) {
  const uint64_t input_port = values->value[kPktInputPort];
  const uint64_t queue_length = values->value[kPktInQueueLength];
  const uint64_t switch_id = values->value[kSwitchId];
  ReadPacketValues(frame, values);
  values->Set(kPktInputPort, input_port);
  values->Set(kPktInQueueLength, queue_length);
  values->value[kSwitchId] = switch_id;
}

void PlacePacket(const PacketPlace& place, PacketValues* values) {
  PlaceReceived(place, values);
  values->Set(kPktOutputPort, place.output_port);
}

void PlaceReceived(const PacketPlace& place, PacketValues* values) {
  values->Set(kPktInputPort, place.input_port);
  values->Set(kPktInQueueLength, place.in_queue_length);
  values->value[kSwitchId] = place.switch_id;
}

}  // namespace trumpet
