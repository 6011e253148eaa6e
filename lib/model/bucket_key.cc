// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/model/bucket_key.h"

#include <algorithm>
#include <cstdio>

namespace trumpet {
namespace {

size_t ValueBytes(ValueKind kind) {
  switch (kind) {
    case ValueKind::kNumber:
    case ValueKind::kIpv4:
      return 4;
    case ValueKind::kMac:
      return 6;
    case ValueKind::kIpv6:
      return 16;
    default:
      return 0;
  }
}

// Takes one value off the front of `key`; kAbsent when the bytes are no key.
FieldValue TakeValue(std::string_view* key) {
  FieldValue value;
  if (key->empty()) return value;
  const auto kind = static_cast<ValueKind>((*key)[0]);
  const size_t size = ValueBytes(kind);
  if (size == 0 || key->size() < 1 + size) return value;
  value.kind = kind;
  for (size_t i = 1; i <= size; ++i) {
    value.value = (value.value << 8) | static_cast<uint8_t>((*key)[i]);
  }
  key->remove_prefix(1 + size);
  return value;
}

const char* NameOfProtocol(uint32_t number) {
  switch (number) {
    case kProtocolTcp:
      return "\"TCP\"";
    case kProtocolUdp:
      return "\"UDP\"";
    case kProtocolIcmp:
      return "\"ICMP\"";
    case kProtocolIcmpv6:
      return "\"ICMPv6\"";
    case kProtocolSctp:
      return "\"SCTP\"";
    default:
      return nullptr;
  }
}

void AppendNumberAsJson(Field field, const FieldValue& value, std::string* json) {
  const auto number = static_cast<uint32_t>(value.value);
  const char* const protocol = field == Field::kProtocol ? NameOfProtocol(number) : nullptr;
  if (protocol != nullptr) {
    *json += protocol;
  } else if (field == Field::kEthType) {
    char text[16];
    std::snprintf(text, sizeof text, "\"0x%04x\"", number);
    *json += text;
  } else {
    *json += FormatValue(value);
  }
}

// Addresses need no escapes.
void AppendAsJson(const GranularityField& field, const FieldValue& value, std::string* json) {
  if (value.kind == ValueKind::kNumber) return AppendNumberAsJson(field.ref.field, value, json);
  *json += '"';
  *json += FormatValue(value);
  if (field.prefix_length != kFullPrefix) {
    const int width = FieldWidth(field.ref.field, value.kind);
    *json += "/" + std::to_string(std::min<int>(field.prefix_length, width));
  }
  *json += '"';
}

const std::vector<GranularityField>& FiveTupleFields() {
  static const std::vector<GranularityField> fields = {
      {{Field::kSrcIp, Level::kInnermost}, kFullPrefix},
      {{Field::kDstIp, Level::kInnermost}, kFullPrefix},
      {{Field::kSrcPort, Level::kInnermost}, kFullPrefix},
      {{Field::kDstPort, Level::kInnermost}, kFullPrefix},
      {{Field::kProtocol, Level::kInnermost}, kFullPrefix}};
  return fields;
}

FieldValue AddressValue(const IpBytes& bytes, uint8_t ip_family) {
  FieldValue value;
  value.kind = ip_family == 4 ? ValueKind::kIpv4 : ValueKind::kIpv6;
  const size_t size = ip_family == 4 ? 4 : 16;
  for (size_t i = 0; i < size; ++i) value.value = (value.value << 8) | bytes[i];
  return value;
}

IpBytes AddressBytes(const FieldValue& value) {
  IpBytes bytes{};
  const size_t size = ValueBytes(value.kind);
  for (size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<uint8_t>(value.value >> (8 * (size - 1 - i)));
  }
  return bytes;
}

}  // namespace

bool BucketKey::Append(const FieldValue& value) {
  const size_t value_bytes = ValueBytes(value.kind);
  if (value_bytes == 0 || size + 1 + value_bytes > kMaxBucketKeyBytes) return false;
  bytes[size++] = static_cast<uint8_t>(value.kind);
  for (size_t i = value_bytes; i-- > 0;) {
    bytes[size++] = static_cast<uint8_t>(value.value >> (8 * i));
  }
  return true;
}

BucketKey FiveTupleBucketKey(const FlowKey& flow) {
  BucketKey key;
  key.Append(AddressValue(flow.src_ip, flow.ip_family));
  key.Append(AddressValue(flow.dst_ip, flow.ip_family));
  key.Append({ValueKind::kNumber, flow.src_port});
  key.Append({ValueKind::kNumber, flow.dst_port});
  key.Append({ValueKind::kNumber, flow.protocol});
  return key;
}

bool FlowKeyOfBucket(std::string_view key, FlowKey* flow) {
  FieldValue values[5];
  for (FieldValue& value : values) {
    value = TakeValue(&key);
    if (!value.is_present()) return false;
  }
  const ValueKind kind = values[0].kind;
  if (values[1].kind != kind || (kind != ValueKind::kIpv4 && kind != ValueKind::kIpv6))
    return false;
  *flow = FlowKey();
  flow->ip_family = kind == ValueKind::kIpv4 ? 4 : 6;
  flow->src_ip = AddressBytes(values[0]);
  flow->dst_ip = AddressBytes(values[1]);
  flow->src_port = static_cast<uint16_t>(values[2].value);
  flow->dst_port = static_cast<uint16_t>(values[3].value);
  flow->protocol = static_cast<uint8_t>(values[4].value);
  return true;
}

size_t MaxBucketKeyBytes(const Granularity& granularity) {
  const auto& fields = granularity.is_five_tuple ? FiveTupleFields() : granularity.fields;
  size_t bytes = 0;
  for (const GranularityField& field : fields) {
    switch (field.ref.field) {
      case Field::kSrcIp:
      case Field::kDstIp:
        bytes += 1 + ValueBytes(ValueKind::kIpv6);
        break;
      case Field::kSrcMac:
      case Field::kDstMac:
        bytes += 1 + ValueBytes(ValueKind::kMac);
        break;
      default:
        bytes += 1 + ValueBytes(ValueKind::kNumber);
    }
  }
  return bytes;
}

bool IsBucketKey(const Granularity& granularity, std::string_view key) {
  const auto& fields = granularity.is_five_tuple ? FiveTupleFields() : granularity.fields;
  for (const GranularityField& field : fields) {
    const Field name = field.ref.field;
    const ValueKind kind = TakeValue(&key).kind;
    const bool is_ip = name == Field::kSrcIp || name == Field::kDstIp;
    const bool is_mac = name == Field::kSrcMac || name == Field::kDstMac;
    const bool fits = is_ip    ? kind == ValueKind::kIpv4 || kind == ValueKind::kIpv6
                      : is_mac ? kind == ValueKind::kMac
                               : kind == ValueKind::kNumber;
    if (!fits) return false;
  }
  return key.empty();
}

std::string BucketToJson(const Granularity& granularity, std::string_view key) {
  constexpr size_t kUsualBytes = 112;  // of a 5-tuple of IPv4
  const auto& fields = granularity.is_five_tuple ? FiveTupleFields() : granularity.fields;
  std::string json;
  if (!fields.empty()) json.reserve(kUsualBytes);
  json += '{';
  for (const GranularityField& field : fields) {
    const FieldValue value = TakeValue(&key);
    if (!value.is_present()) break;
    json += json.size() > 1 ? ",\"" : "\"";
    json += FieldRefName(field.ref);  // needs no escapes either
    json += "\":";
    AppendAsJson(field, value, &json);
  }
  json += '}';
  return json;
}

}  // namespace trumpet
