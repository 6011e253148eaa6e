// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/fields.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "lib/base/byte_order.h"

namespace trumpet {

namespace {

struct FieldInfo {
  std::string_view name;
  int number_width;  // bits; 0 where the value is an address
};

constexpr std::array<FieldInfo, kFieldCount> kFields{{
    {"srcIP", 0},
    {"dstIP", 0},
    {"srcPort", 16},
    {"dstPort", 16},
    {"Protocol", 8},
    {"srcMAC", 0},
    {"dstMAC", 0},
    {"ethType", 16},
    {"vlan", 12},
    {"dscp", 6},
    {"ecn", 2},
    {"ttl", 8},
    {"tcpFlags", 12},
    {"inPort", 32},
    {"tunnelId", 32},
}};
static_assert(kFields[static_cast<int>(Field::kTunnelId)].name == "tunnelId");

constexpr int kMacBytes = 6;
constexpr int kIpv6Groups = 8;

uint8_t ByteOf(Uint128 value, int place_from_right) {
  return static_cast<uint8_t>(value >> (8 * place_from_right));
}

void AppendNumber(uint64_t number, int base, std::string* text) {
  char digits[20];
  char* const end = std::to_chars(digits, digits + sizeof digits, number, base).ptr;
  text->append(digits, static_cast<size_t>(end - digits));
}

void AppendDecimal(Uint128 number, std::string* text) {
  constexpr uint64_t kTen18 = 1'000'000'000'000'000'000;
  if (number < kTen18) return AppendNumber(static_cast<uint64_t>(number), 10, text);
  AppendDecimal(number / kTen18, text);
  std::string low;
  AppendNumber(static_cast<uint64_t>(number % kTen18), 10, &low);
  text->append(18 - low.size(), '0') += low;
}

void AppendIpv4(uint32_t address, std::string* text) {
  for (int place = 3; place >= 0; --place) {
    AppendNumber(ByteOf(address, place), 10, text);
    if (place > 0) *text += '.';
  }
}

void AppendMac(uint64_t address, std::string* text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  for (int place = kMacBytes - 1; place >= 0; --place) {
    const uint8_t byte = ByteOf(address, place);
    *text += kDigits[byte >> 4];
    *text += kDigits[byte & 15];
    if (place > 0) *text += ':';
  }
}

struct Run {
  int begin = 0;
  int length = 0;
};

using Groups = std::array<uint16_t, kIpv6Groups>;

// The longest run of zero groups, the first among equals.  RFC 5952, 4.2.
Run LongestZeroRun(const Groups& groups) {
  Run best;
  for (int begin = 0; begin < kIpv6Groups; ++begin) {
    int end = begin;
    while (end < kIpv6Groups && groups[end] == 0) ++end;
    if (end - begin > best.length) best = {begin, end - begin};
  }
  return best;
}

void AppendIpv6(Uint128 address, std::string* text) {
  // RFC 5952, section 5: a known prefix shows that an IPv4 address is inside.
  if ((address >> 32) == 0xffff) {
    *text += "::ffff:";
    return AppendIpv4(static_cast<uint32_t>(address), text);
  }
  Groups groups;
  for (int i = 0; i < kIpv6Groups; ++i) {
    groups[i] = static_cast<uint16_t>(address >> (16 * (kIpv6Groups - 1 - i)));
  }
  const Run zeros = LongestZeroRun(groups);
  const bool is_shortened = zeros.length >= 2;
  bool needs_colon = false;
  for (int i = 0; i < kIpv6Groups;) {
    if (is_shortened && i == zeros.begin) {
      *text += "::";
      i += zeros.length;
      needs_colon = false;
      continue;
    }
    if (needs_colon) *text += ':';
    AppendNumber(groups[i], 16, text);
    needs_colon = true;
    ++i;
  }
}

// inet_pton() takes exactly the texts we want, unlike inet_aton(), but would
// stop at a NUL inside of the view.
bool ReadInternetAddress(int family, std::string_view text, uint8_t* bytes) {
  char copy[INET6_ADDRSTRLEN];
  if (text.size() >= sizeof copy || text.find('\0') != std::string_view::npos) return false;
  copy[text.copy(copy, text.size())] = '\0';
  return inet_pton(family, copy, bytes) == 1;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string_view FieldName(Field field) { return kFields[static_cast<int>(field)].name; }

std::optional<Field> FieldByName(std::string_view name) {
  for (int i = 0; i < kFieldCount; ++i) {
    if (kFields[i].name == name) return static_cast<Field>(i);
  }
  return std::nullopt;
}

std::string FieldRefName(const FieldRef& ref) {
  std::string name(FieldName(ref.field));
  switch (ref.level) {
    case Level::kInnermost:
      return name;
    case Level::kOuter:
      return "outer." + name;
    case Level::kInner:
      return "inner." + name;
  }
  return name;
}

int FieldWidth(Field field, ValueKind kind) {
  switch (kind) {
    case ValueKind::kAbsent:
      return 0;
    case ValueKind::kNumber:
      return kFields[static_cast<int>(field)].number_width;
    case ValueKind::kMac:
      return 48;
    case ValueKind::kIpv4:
      return 32;
    case ValueKind::kIpv6:
      return 128;
  }
  return 0;
}

FieldValue MaskToPrefix(Field field, const FieldValue& value, int prefix_length) {
  const int width = FieldWidth(field, value.kind);
  const int dropped_bits = width - std::clamp(prefix_length, 0, width);
  FieldValue masked = value;
  // A shift by all 128 bits has no meaning in C++.
  masked.value = dropped_bits >= 128 ? 0 : (value.value >> dropped_bits) << dropped_bits;
  return masked;
}

std::string FormatValue(const FieldValue& value) {
  std::string text;
  switch (value.kind) {
    case ValueKind::kAbsent:
      break;
    case ValueKind::kNumber:
      AppendDecimal(value.value, &text);
      break;
    case ValueKind::kMac:
      AppendMac(static_cast<uint64_t>(value.value), &text);
      break;
    case ValueKind::kIpv4:
      AppendIpv4(static_cast<uint32_t>(value.value), &text);
      break;
    case ValueKind::kIpv6:
      AppendIpv6(value.value, &text);
      break;
  }
  return text;
}

std::optional<FieldValue> ParseIpv4(std::string_view text) {
  uint8_t bytes[4];
  if (!ReadInternetAddress(AF_INET, text, bytes)) return std::nullopt;
  return FieldValue{ValueKind::kIpv4, LoadBe32(bytes)};
}

std::optional<FieldValue> ParseIpv6(std::string_view text) {
  uint8_t bytes[16];
  if (!ReadInternetAddress(AF_INET6, text, bytes)) return std::nullopt;
  return FieldValue{ValueKind::kIpv6, Uint128{LoadBe64(bytes)} << 64 | LoadBe64(bytes + 8)};
}

std::optional<FieldValue> ParseMac(std::string_view text) {
  if (text.size() != 3 * kMacBytes - 1) return std::nullopt;
  uint64_t address = 0;
  for (int i = 0; i < kMacBytes; ++i) {
    const int high = HexDigit(text[3 * i]);
    const int low = HexDigit(text[3 * i + 1]);
    const bool is_separated = i == kMacBytes - 1 || text[3 * i + 2] == ':';
    if (high < 0 || low < 0 || !is_separated) return std::nullopt;
    address = address << 8 | static_cast<uint64_t>(high << 4 | low);
  }
  return FieldValue{ValueKind::kMac, address};
}

}  // namespace trumpet
