// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Fields: the names by which events speak of packet headers, and their values.
//
// A field is read at a level: the innermost headers (no prefix), the outermost
// (`outer.`), or the innermost of a tunnelled packet only (`inner.`).

#ifndef TRUMPET_LIB_PACKET_FIELDS_H
#define TRUMPET_LIB_PACKET_FIELDS_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/units.h"

namespace trumpet {

enum class Field : uint8_t {
  kSrcIp,
  kDstIp,
  kSrcPort,
  kDstPort,
  kProtocol,
  kSrcMac,
  kDstMac,
  kEthType,
  kVlan,
  kDscp,
  kEcn,
  kTtl,
  kTcpFlags,
  kInPort,
  kTunnelId,
};
constexpr int kFieldCount = 15;

enum class Level : uint8_t { kInnermost, kOuter, kInner };

// A field at a level, as written in an event: `dstIP`, `outer.dstIP`.
struct FieldRef {
  Field field = Field::kSrcIp;
  Level level = Level::kInnermost;

  bool operator==(const FieldRef& other) const {
    return field == other.field && level == other.level;
  }
  bool operator!=(const FieldRef& other) const { return !(*this == other); }
};

// What kind of number a field value is; also the first sort key of buckets.
enum class ValueKind : uint8_t { kAbsent, kNumber, kMac, kIpv4, kIpv6 };

struct FieldValue {
  ValueKind kind = ValueKind::kAbsent;
  Uint128 value = 0;  // addresses as numbers: the first byte is the most significant

  bool is_present() const { return kind != ValueKind::kAbsent; }
  bool operator==(const FieldValue& other) const {
    return kind == other.kind && value == other.value;
  }
};

// "srcIP"; the spelling used in events and reports.
std::string_view FieldName(Field field);
std::optional<Field> FieldByName(std::string_view name);

// "outer.srcIP".
std::string FieldRefName(const FieldRef& ref);

// Width in bits of a value of `kind` in `field`: 32, 128, 48, or the width of the number (vlan 12,
// ttl 8, ...).
int FieldWidth(Field field, ValueKind kind);

// Keeps the first `prefix_length` bits of `value`, at most its width.
FieldValue MaskToPrefix(Field field, const FieldValue& value, int prefix_length);

// "10.0.0.1", RFC 5952 for IPv6, "aa:bb:cc:dd:ee:ff"; numbers in decimal.
std::string FormatValue(const FieldValue& value);

// Reads an address: dotted quad, RFC 4291 text, or six colon-separated bytes.
std::optional<FieldValue> ParseIpv4(std::string_view text);
std::optional<FieldValue> ParseIpv6(std::string_view text);
std::optional<FieldValue> ParseMac(std::string_view text);

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_FIELDS_H
