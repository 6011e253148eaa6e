// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/bgp.h"

#include <algorithm>
#include <initializer_list>

#include "lib/base/byte_cursor.h"
#include "lib/base/byte_order.h"

namespace trumpet {
namespace {

constexpr uint32_t kMarkerBytes = 16;
constexpr std::array<uint32_t, 6> kLeastBytes = {0, 29, 23, 21, 19, 23};  // by type

// Parameters of OPEN, and capabilities in them.
constexpr uint8_t kExtendedType = 255;  // instead of the first one: lengths have two bytes
constexpr uint8_t kCapabilities = 2;
constexpr uint8_t kFourByteAs = 65;
constexpr uint8_t kAddPath = 69;
constexpr uint8_t kTakes = 1;  // bits of how a family is used
constexpr uint8_t kSends = 2;

// Attributes of paths.
constexpr uint8_t kExtendedAttribute = 0x10;  // of its flags: the length has two bytes
constexpr uint8_t kReachable = 14;
constexpr uint8_t kUnreachable = 15;

constexpr BgpFamily kIpv4Unicast{1, 1};
constexpr BgpFamily kEvpn{25, 70};

void TakeCapability(uint8_t code, ByteCursor value, BgpOpen* open) {
  if (code == kFourByteAs && value.left() == 4) open->as = value.Be32();
  while (code == kAddPath && value.left() >= 4) {
    const uint16_t address = value.Be16();
    const auto kind = static_cast<uint8_t>(value.Number(1));
    const auto use = static_cast<uint8_t>(value.Number(1));
    if ((use & kSends) != 0) open->sends_paths.Add({address, kind});
    if ((use & kTakes) != 0) open->takes_paths.Add({address, kind});
  }
}

bool TakeCapabilities(ByteCursor list, BgpOpen* open) {
  while (list.left() > 0) {
    const auto code = static_cast<uint8_t>(list.Number(1));
    const ByteCursor value = list.Take(list.Number(1));
    if (!list.ok()) return false;
    TakeCapability(code, value, open);
  }
  return true;
}

bool TakeParameters(ByteCursor list, bool is_extended, BgpOpen* open) {
  while (list.left() > 0) {
    const auto kind = static_cast<uint8_t>(list.Number(1));
    const ByteCursor value = list.Take(list.Number(is_extended ? 2 : 1));
    if (!list.ok() || (kind == kCapabilities && !TakeCapabilities(value, open))) return false;
  }
  return true;
}

// How long a prefix may be, in bits; 0: prefixes of the family look otherwise.  Labels and
// distinguishers of routes count as bits of the prefix.
unsigned LongestPrefix(BgpFamily family) {
  constexpr uint8_t kUnicast = 1;
  constexpr uint8_t kMulticast = 2;
  constexpr uint8_t kLabels = 4;
  constexpr uint8_t kVpn = 128;
  if (family.address != 1 && family.address != 2) return 0;
  if (family.kind == kUnicast || family.kind == kMulticast) return family.address == 1 ? 32 : 128;
  return family.kind == kLabels || family.kind == kVpn ? 255 : 0;
}

// nullopt: they do not end where they should.
std::optional<uint32_t> CountPrefixes(ByteCursor list, BgpFamily family, bool has_paths) {
  const unsigned longest = LongestPrefix(family);
  uint32_t count = 0;
  while (list.left() > 0) {
    if (has_paths) list.Skip(4);
    if (family == kEvpn) {
      list.Skip(1);
      list.Skip(list.Number(1));
    } else {
      const uint64_t bits = list.Number(1);
      if (bits > longest) return std::nullopt;
      list.Skip((bits + 7) / 8);
    }
    if (!list.ok()) return std::nullopt;
    ++count;
  }
  return count;
}

bool AddPrefixes(const ByteCursor& list, BgpFamily family, const BgpFamilies& paths,
                 uint32_t* count, BgpUpdate* update) {
  if (LongestPrefix(family) == 0 && !(family == kEvpn)) {
    update->has_other_family |= list.left() > 0;
    return true;
  }
  const auto counted = CountPrefixes(list, family, paths.Has(family));
  if (counted) *count += *counted;
  return counted.has_value();
}

bool TakeReachable(ByteCursor value, const BgpFamilies& paths, BgpUpdate* update) {
  BgpFamily family;
  family.address = value.Be16();
  family.kind = static_cast<uint8_t>(value.Number(1));
  value.Skip(value.Number(1));  // the next hop
  value.Skip(1);
  return value.ok() && AddPrefixes(value, family, paths, &update->announced, update);
}

bool TakeUnreachable(ByteCursor value, const BgpFamilies& paths, BgpUpdate* update) {
  BgpFamily family;
  family.address = value.Be16();
  family.kind = static_cast<uint8_t>(value.Number(1));
  if (!value.ok()) return false;
  update->is_end_of_rib |= value.left() == 0;
  return AddPrefixes(value, family, paths, &update->withdrawn, update);
}

bool TakeAttributes(ByteCursor list, const BgpFamilies& paths, BgpUpdate* update) {
  while (list.left() > 0) {
    const uint64_t flags = list.Number(1);
    const uint64_t kind = list.Number(1);
    const ByteCursor value = list.Take(list.Number((flags & kExtendedAttribute) != 0 ? 2 : 1));
    if (!list.ok()) return false;
    if (kind == kReachable && !TakeReachable(value, paths, update)) return false;
    if (kind == kUnreachable && !TakeUnreachable(value, paths, update)) return false;
  }
  return true;
}

// What subcodes mean, from 1 on; those without a name are empty.
const char* SubcodeName(const BgpNotification& notification) {
  static const std::initializer_list<const char*> kNames[] = {
      {},
      {"connection not synchronized", "bad message length", "bad message type"},
      {"unsupported version number", "bad peer AS", "bad BGP identifier",
       "unsupported optional parameter", "", "unacceptable hold time", "unsupported capability", "",
       "", "", "role mismatch"},
      {"malformed attribute list", "unrecognized well-known attribute",
       "missing well-known attribute", "attribute flags error", "attribute length error",
       "invalid ORIGIN attribute", "", "invalid NEXT_HOP attribute", "optional attribute error",
       "invalid network field", "malformed AS_PATH"},
      {},
      {"unexpected message in OpenSent state", "unexpected message in OpenConfirm state",
       "unexpected message in Established state"},
      {"maximum number of prefixes reached", "administrative shutdown", "peer de-configured",
       "administrative reset", "connection rejected", "other configuration change",
       "connection collision resolution", "out of resources", "hard reset", "BFD down"},
      {"invalid message length"}};
  if (notification.code >= std::size(kNames)) return "";
  const auto& names = kNames[notification.code];
  const size_t at = notification.subcode;
  return at == 0 || at > names.size() ? "" : names.begin()[at - 1];
}

}  // namespace

bool BgpFamilies::Has(BgpFamily family) const {
  return std::find(list.begin(), list.begin() + count, family) != list.begin() + count;
}

void BgpFamilies::Add(BgpFamily family) {
  if (count < kMax && !Has(family)) list[count++] = family;
}

std::optional<BgpHeader> ReadBgpHeader(const uint8_t* data, uint32_t captured) {
  if (captured < kBgpHeaderBytes) return std::nullopt;
  const bool has_marker =
      std::all_of(data, data + kMarkerBytes, [](uint8_t byte) { return byte == 0xff; });
  const uint32_t bytes = LoadBe16(data + kMarkerBytes);
  const uint8_t type = data[kMarkerBytes + 2];
  if (!has_marker || type == 0 || type >= kLeastBytes.size()) return std::nullopt;
  const auto kind = static_cast<BgpType>(type);
  const bool is_sound =
      kind == BgpType::kKeepalive ? bytes == kLeastBytes[type] : bytes >= kLeastBytes[type];
  if (!is_sound) return std::nullopt;
  return BgpHeader{bytes, kind};
}

BgpVerdict ReadBgpOpen(const uint8_t* data, uint32_t captured, uint32_t bytes, BgpOpen* open) {
  constexpr uint32_t kFixedBytes = 29;
  *open = {};
  captured = std::min(captured, bytes);
  if (captured < kFixedBytes) return BgpVerdict::kCut;
  ByteCursor cursor(data + kBgpHeaderBytes, captured - kBgpHeaderBytes);
  open->version = static_cast<uint8_t>(cursor.Number(1));
  open->as = cursor.Be16();
  open->hold_seconds = cursor.Be16();
  for (uint8_t& byte : open->id) byte = static_cast<uint8_t>(cursor.Number(1));
  uint64_t length = cursor.Number(1);
  if (captured < bytes) return BgpVerdict::kCut;
  // RFC 9072: the old length says nothing then, but that there are parameters.
  const bool is_extended = length != 0 && cursor.left() > 0 && *cursor.here() == kExtendedType;
  if (is_extended) {
    cursor.Skip(1);
    length = cursor.Be16();
  }
  const bool fits = cursor.ok() && length == cursor.left();
  if (!fits || !TakeParameters(cursor, is_extended, open)) return BgpVerdict::kMalformed;
  return BgpVerdict::kRead;
}

BgpFamilies AgreedPaths(const BgpOpen& sender, const BgpOpen& receiver) {
  BgpFamilies agreed;
  for (size_t i = 0; i < sender.sends_paths.count; ++i) {
    const BgpFamily family = sender.sends_paths.list[i];
    if (receiver.takes_paths.Has(family)) agreed.Add(family);
  }
  return agreed;
}

BgpVerdict ReadBgpUpdate(const uint8_t* data, uint32_t captured, uint32_t bytes,
                         const BgpFamilies& paths, BgpUpdate* update) {
  constexpr uint32_t kEmptyBytes = 23;
  *update = {};
  if (bytes < kEmptyBytes) return BgpVerdict::kMalformed;
  if (captured < bytes) return BgpVerdict::kCut;
  ByteCursor cursor(data + kBgpHeaderBytes, bytes - kBgpHeaderBytes);
  const ByteCursor withdrawn = cursor.Take(cursor.Be16());
  const ByteCursor attributes = cursor.Take(cursor.Be16());
  const bool is_read = cursor.ok() &&
                       AddPrefixes(withdrawn, kIpv4Unicast, paths, &update->withdrawn, update) &&
                       TakeAttributes(attributes, paths, update) &&
                       AddPrefixes(cursor, kIpv4Unicast, paths, &update->announced, update);
  if (!is_read) {
    *update = {};
    return BgpVerdict::kMalformed;
  }
  const bool says_nothing =
      update->announced == 0 && update->withdrawn == 0 && !update->has_other_family;
  update->is_end_of_rib = says_nothing && (update->is_end_of_rib || bytes == kEmptyBytes);
  return BgpVerdict::kRead;
}

BgpVerdict ReadBgpNotification(const uint8_t* data, uint32_t captured,
                               BgpNotification* notification) {
  if (captured < kBgpHeaderBytes + 2) return BgpVerdict::kCut;
  notification->code = data[kBgpHeaderBytes];
  notification->subcode = data[kBgpHeaderBytes + 1];
  return BgpVerdict::kRead;
}

std::string BgpNotificationText(const BgpNotification& notification) {
  constexpr const char* kCodes[] = {"",
                                    "message header error",
                                    "OPEN message error",
                                    "UPDATE message error",
                                    "hold timer expired",
                                    "finite state machine error",
                                    "cease",
                                    "ROUTE-REFRESH message error"};
  const std::string numbers = "subcode " + std::to_string(notification.subcode);
  if (notification.code == 0 || notification.code >= std::size(kCodes)) {
    return "code " + std::to_string(notification.code) + ", " + numbers;
  }
  const std::string text = kCodes[notification.code];
  if (notification.subcode == 0) return text;
  const std::string name = SubcodeName(notification);
  return text + (name.empty() ? ", " + numbers : ": " + name);
}

}  // namespace trumpet
