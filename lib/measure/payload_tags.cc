// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/payload_tags.h"

#include <algorithm>

#include "lib/base/byte_order.h"
#include "lib/measure/header_fields.h"
#include "lib/packet/parse.h"

namespace trumpet {
namespace {

constexpr uint32_t kUdpBytes = 8;
constexpr uint32_t kSegwayBytes = 10;
constexpr uint32_t kTcpChecksum = 16;  // in the header
constexpr uint32_t kUdpChecksum = 6;

// One's complement.  The payload begins at an even byte of its segment.
uint32_t SumOf(const uint8_t* bytes, uint32_t count) {
  uint64_t sum = count % 2 == 0 ? 0 : uint64_t{bytes[count - 1]} << 8;
  for (uint32_t at = 0; at + 1 < count; at += 2) sum += LoadBe16(bytes + at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint32_t>(sum);
}

// RFC 1624, equation 3.
void RepairChecksum(bool is_udp, uint32_t before, uint32_t after, uint8_t* checksum) {
  const uint32_t old = LoadBe16(checksum);
  if (is_udp && old == 0) return;  // it has none
  uint32_t sum = (old ^ 0xffff) + (before ^ 0xffff) + after;
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  sum ^= 0xffff;
  StoreBe16(checksum, static_cast<uint16_t>(is_udp && sum == 0 ? 0xffff : sum));
}

// Where the segment ends in the frame, by the lengths of its headers: what a short frame is padded
// with is no payload, and in no checksum.
uint32_t EndOfSegment(const PacketValues& packet, const uint8_t* frame, uint32_t captured_bytes) {
  const auto ip = static_cast<uint32_t>(packet.ipv4 - frame);
  uint32_t end = std::min(captured_bytes, ip + LoadBe16(packet.ipv4 + 2));
  if (packet.ipv4[9] != kProtocolUdp) return end;
  const uint32_t udp = ip + (packet.ipv4[0] & 15u) * 4;
  const uint32_t length = LoadBe16(frame + udp + 4);
  return length < kUdpBytes ? end : std::min(end, udp + length);
}

// The first so many bytes of payload hold all headers that may be written.
uint32_t HeaderBytes(const CompiledProgram& program) {
  uint32_t bytes = kSegwayBytes;
  for (const MeasureHeader& header : program.source.headers) {
    bytes = std::max(bytes, header.offset + header.bytes);
  }
  return bytes;
}

// Fields of headers that the packet has.  A tag leaves its field present wherever it is put.
uint64_t FieldsThere(const CompiledProgram& program, const PacketValues& packet,
                     const Frame& frame) {
  PacketValues there;
  ReadPacketValues(frame, &there);
  for (const MeasureFieldId field : {kPktSize, kPktInputPort, kPktOutputPort, kPktInQueueLength}) {
    there.Set(field, packet.value[field]);
  }
  there.value[kSwitchId] = packet.value[kSwitchId];
  ReadHeaderFields(program, &there);
  return there.present;
}

}  // namespace

void WritePayloadTags(const CompiledProgram& program, const PacketValues& packet,
                      bool makes_checksum, uint8_t* frame, uint32_t captured_bytes) {
  if ((packet.tagged & kPayloadFields) == 0 || packet.payload == nullptr) return;
  const uint32_t end = EndOfSegment(packet, frame, captured_bytes);
  const auto payload_at = static_cast<uint32_t>(packet.payload - frame);
  if (end <= payload_at) return;
  PacketValues written = packet;
  written.payload_bytes = end - payload_at;
  written.tagged &= FieldsThere(program, packet, {frame, end, end});
  uint8_t* const payload = frame + payload_at;
  const uint32_t summed = std::min(written.payload_bytes, HeaderBytes(program));
  const uint32_t before = SumOf(payload, summed);
  WriteHeaderFields(program, written, payload);
  if (makes_checksum) return;
  const bool is_udp = packet.ipv4[9] == kProtocolUdp;
  const uint32_t l4 = (packet.ipv4[0] & 15u) * 4;
  uint8_t* const checksum =
      frame + (packet.ipv4 - frame) + l4 + (is_udp ? kUdpChecksum : kTcpChecksum);
  RepairChecksum(is_udp, before, SumOf(payload, summed), checksum);
}

}  // namespace trumpet
