// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/copy_frame.h"

#include <algorithm>

#include "lib/base/byte_order.h"
#include "lib/measure/header_fields.h"

namespace trumpet {
namespace {

constexpr size_t kEthernetBytes = 14;
constexpr size_t kIpv4Bytes = 20;
constexpr size_t kTcpBytes = 20;
constexpr size_t kUdpBytes = 8;
constexpr uint32_t kSegwayBytes = 10;

uint16_t Low16(uint64_t value) { return static_cast<uint16_t>(value); }

void StoreBe48(uint8_t* bytes, uint64_t value) {
  StoreBe16(bytes, Low16(value >> 32));
  StoreBe32(bytes + 2, static_cast<uint32_t>(value));
}

void WriteIpv4(const PacketValues& packet, uint8_t* ip) {
  const auto& value = packet.value;
  ip[0] = 0x45;
  ip[1] = static_cast<uint8_t>(value[kIpv4Tos]);
  StoreBe16(ip + 2, Low16(value[kIpv4Len]));
  StoreBe16(ip + 4, Low16(value[kIpv4Id]));
  ip[8] = static_cast<uint8_t>(value[kIpv4Ttl]);
  ip[9] = static_cast<uint8_t>(value[kIpv4Proto]);
  StoreBe16(ip + 10, Low16(value[kIpv4Checksum]));
  StoreBe32(ip + 12, static_cast<uint32_t>(value[kIpv4Src]));
  StoreBe32(ip + 16, static_cast<uint32_t>(value[kIpv4Dst]));
}

// Returns the length of the header; 0: the packet has none that is known.
size_t WriteTransport(const PacketValues& packet, uint8_t* l4) {
  const auto& value = packet.value;
  if (packet.Has(kTcpSrc)) {
    StoreBe16(l4, Low16(value[kTcpSrc]));
    StoreBe16(l4 + 2, Low16(value[kTcpDst]));
    l4[12] = kTcpBytes / 4 << 4;
    l4[13] = static_cast<uint8_t>(value[kTcpFlags]);
    return kTcpBytes;
  }
  if (!packet.Has(kUdpSrc)) return 0;
  const uint64_t whole = value[kIpv4Len];
  StoreBe16(l4, Low16(value[kUdpSrc]));
  StoreBe16(l4 + 2, Low16(value[kUdpDst]));
  StoreBe16(l4 + 4, Low16(whole > kIpv4Bytes + kUdpBytes ? whole - kIpv4Bytes : kUdpBytes));
  return kUdpBytes;
}

uint32_t PayloadBytes(const MeasureProgram& program, const PacketValues& packet) {
  uint32_t bytes = packet.Has(kSegwayMsg) ? kSegwayBytes : 0;
  for (size_t i = 0; i < program.header_fields.size(); ++i) {
    if (!packet.Has(static_cast<MeasureFieldId>(kMeasureFieldCount + i))) continue;
    const MeasureHeaderField& field = program.header_fields[i];
    const uint32_t begin = program.headers[field.header].offset + field.offset;
    bytes = std::max(bytes, begin + field.bits / 8u);
  }
  return bytes;
}

}  // namespace

size_t WriteCopyFrame(const CompiledProgram& program, const PacketValues& packet,
                      std::array<uint8_t, kMaxCopyFrameBytes>* frame) {
  frame->fill(0);
  uint8_t* const bytes = frame->data();
  StoreBe48(bytes, packet.value[kEthDst]);
  StoreBe48(bytes + 6, packet.value[kEthSrc]);
  StoreBe16(bytes + 12, Low16(packet.value[kEthType]));
  if (!packet.Has(kIpv4Src)) return kEthernetBytes;
  WriteIpv4(packet, bytes + kEthernetBytes);
  size_t length = kEthernetBytes + kIpv4Bytes;
  const size_t transport = WriteTransport(packet, bytes + length);
  if (transport == 0) return length;
  length += transport;
  PacketValues written = packet;
  written.tagged = packet.present;
  written.payload_bytes = PayloadBytes(program.source, packet);
  WriteHeaderFields(program, written, bytes + length);
  return length + written.payload_bytes;
}

}  // namespace trumpet
