// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/header_fields.h"

#include "lib/measure/expression.h"

namespace trumpet {
namespace {

// The ez-Segway message: where its fields lie in the payload.
constexpr struct {
  MeasureFieldId field;
  uint32_t offset;
  uint32_t bytes;
} kSegwayFields[] = {{kSegwayMsg, 0, 1}, {kSegwayTs, 1, 1}, {kSegwayTime, 2, 8}};

uint64_t LoadField(const uint8_t* bytes, uint32_t count) {
  uint64_t value = 0;
  for (uint32_t i = 0; i < count; ++i) value = value << 8 | bytes[i];
  return value;
}

void StoreField(uint64_t value, uint32_t count, uint8_t* bytes) {
  for (uint32_t i = count; i > 0; --i) {
    bytes[i - 1] = static_cast<uint8_t>(value);
    value >>= 8;
  }
}

}  // namespace

void ReadHeaderFields(const CompiledProgram& program, PacketValues* packet) {
  const MeasureProgram& source = program.source;
  RunContext context;
  context.packet = packet;
  uint64_t there = 0;
  for (size_t j = 0; j < source.header_fields.size(); ++j) {
    packet->value[kMeasureFieldCount + j] = 0;  // as guards of the next headers read it
  }
  for (size_t i = 0; i < source.headers.size() && packet->payload != nullptr; ++i) {
    const MeasureHeader& header = source.headers[i];
    const bool has_bytes = packet->payload_bytes >= header.offset + header.bytes;
    if (!has_bytes || Evaluate(&program.steps[program.header_guards[i]], &context) == 0) continue;
    for (size_t j = 0; j < source.header_fields.size(); ++j) {
      const MeasureHeaderField& field = source.header_fields[j];
      if (field.header != i) continue;
      packet->value[kMeasureFieldCount + j] =
          LoadField(packet->payload + header.offset + field.offset, field.bits / 8u);
      there |= uint64_t{1} << (kMeasureFieldCount + j);
    }
  }
  packet->present = (packet->present & kTableFieldBits) | there;
  packet->tagged &= kTableFieldBits;
}

void WriteHeaderFields(const CompiledProgram& program, const PacketValues& packet,
                       uint8_t* payload) {
  const auto is_tagged = [&packet](size_t field) { return (packet.tagged >> field & 1) != 0; };
  for (const auto& each : kSegwayFields) {
    if (is_tagged(each.field) && packet.payload_bytes >= each.offset + each.bytes) {
      StoreField(packet.value[each.field], each.bytes, payload + each.offset);
    }
  }
  const MeasureProgram& source = program.source;
  for (size_t i = 0; i < source.header_fields.size(); ++i) {
    const MeasureHeaderField& field = source.header_fields[i];
    const uint32_t offset = source.headers[field.header].offset + field.offset;
    const uint32_t bytes = field.bits / 8u;
    if (!is_tagged(kMeasureFieldCount + i) || packet.payload_bytes < offset + bytes) continue;
    StoreField(packet.value[kMeasureFieldCount + i], bytes, payload + offset);
  }
}

}  // namespace trumpet
