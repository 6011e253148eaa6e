// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/key_layout.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace trumpet {
namespace {

bool IsInFiveTuple(Field field) {
  return field == Field::kSrcIp || field == Field::kDstIp || field == Field::kSrcPort ||
         field == Field::kDstPort || field == Field::kProtocol;
}

uint8_t ValueBytes(Field field) {
  switch (field) {
    case Field::kSrcIp:
    case Field::kDstIp:
      return 16;
    case Field::kSrcMac:
    case Field::kDstMac:
      return 6;
    default:
      return 4;
  }
}

void StoreValue(Uint128 value, int bytes, uint8_t* out) {
  for (int i = bytes - 1; i >= 0; i--) {
    out[i] = static_cast<uint8_t>(value);
    value >>= 8;
  }
}

Uint128 LoadValue(const uint8_t* in, int bytes) {
  Uint128 value = 0;
  for (int i = 0; i < bytes; i++) value = value << 8 | in[i];
  return value;
}

FieldValue IpValue(uint8_t family, const IpBytes& bytes) {
  if (family == 4) return {ValueKind::kIpv4, LoadValue(bytes.data(), 4)};
  return {ValueKind::kIpv6, LoadValue(bytes.data(), 16)};
}

FieldValue ReadFiveTuple(const FlowKey& entry_key, Field field) {
  const auto family = static_cast<uint8_t>(entry_key.ip_family & kFamilyBits);
  const bool has_ports = (entry_key.ip_family & kHasPortsFlag) != 0;
  if (family == 0) return {};
  switch (field) {
    case Field::kSrcIp:
      return IpValue(family, entry_key.src_ip);
    case Field::kDstIp:
      return IpValue(family, entry_key.dst_ip);
    case Field::kProtocol:
      return {ValueKind::kNumber, entry_key.protocol};
    case Field::kSrcPort:
      return has_ports ? FieldValue{ValueKind::kNumber, entry_key.src_port} : FieldValue{};
    default:
      return has_ports ? FieldValue{ValueKind::kNumber, entry_key.dst_port} : FieldValue{};
  }
}

}  // namespace

KeyLayout KeyLayout::For(const std::vector<const EventSpec*>& events) {
  KeyLayout layout;
  const auto add = [&layout](const FieldRef& ref) { layout.AddField(ref); };
  for (const EventSpec* event : events) {
    VisitFields(event->filter, add);
    for (const GranularityField& field : event->granularity.fields) add(field.ref);
  }
  size_t offset = layout.has_tunnel_flag_ ? 1 : 0;
  for (Item& item : layout.items_) {
    item.offset = static_cast<uint16_t>(offset);
    offset += 1u + item.value_bytes;
  }
  layout.extension_bytes_ = (offset + 7) / 8 * 8;
  assert(layout.extension_bytes_ <= kMaxExtensionBytes);
  return layout;
}

void KeyLayout::AddField(const FieldRef& ref) {
  FieldRef stored = ref;
  if (ref.level == Level::kInner) {
    has_tunnel_flag_ = true;
    stored.level = Level::kInnermost;
  }
  if (stored.level == Level::kInnermost && IsInFiveTuple(stored.field)) return;
  if (FindItem(stored) != nullptr) return;
  items_.push_back({stored, 0, ValueBytes(stored.field)});
}

const KeyLayout::Item* KeyLayout::FindItem(const FieldRef& ref) const {
  const auto found = std::find_if(items_.begin(), items_.end(),
                                  [&ref](const Item& item) { return item.ref == ref; });
  return found == items_.end() ? nullptr : &*found;
}

void KeyLayout::FillExtension(const ParsedPacket& packet, uint8_t* extension) const {
  if (extension_bytes_ == 0) return;
  std::memset(extension, 0, extension_bytes_);
  if (has_tunnel_flag_) extension[0] = packet.is_tunnelled ? 1 : 0;
  for (const Item& item : items_) {
    const FieldValue value = ReadField(packet, item.ref);
    extension[item.offset] = static_cast<uint8_t>(value.kind);
    StoreValue(value.value, item.value_bytes, extension + item.offset + 1);
  }
}

FieldValue KeyLayout::Read(const FlowKey& entry_key, const uint8_t* extension,
                           const FieldRef& ref) const {
  FieldRef stored = ref;
  if (ref.level == Level::kInner) {
    if (extension[0] == 0) return {};
    stored.level = Level::kInnermost;
  }
  if (stored.level == Level::kInnermost && IsInFiveTuple(stored.field)) {
    return ReadFiveTuple(entry_key, stored.field);
  }
  const Item* item = FindItem(stored);
  if (item == nullptr) return {};
  return {static_cast<ValueKind>(extension[item->offset]),
          LoadValue(extension + item->offset + 1, item->value_bytes)};
}

}  // namespace trumpet
