// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/prefix.h"

#include <charconv>
#include <optional>
#include <system_error>

#include "lib/packet/fields.h"

namespace trumpet {
namespace {

constexpr size_t kLongestShown = 60;

int WidthOf(bool is_ipv6) { return is_ipv6 ? 128 : 32; }

// The bits of an address that `prefix` leaves open.
Uint128 OpenBits(const Prefix& prefix) {
  const int open = WidthOf(prefix.is_ipv6) - prefix.length;
  return open >= 128 ? ~Uint128{0} : (Uint128{1} << open) - 1;
}

std::optional<FieldValue> ParseAddress(std::string_view text) {
  return text.find(':') == std::string_view::npos ? ParseIpv4(text) : ParseIpv6(text);
}

Status NotAPrefix(std::string_view text, const std::string& why) {
  return Status::Error("'" + std::string(text.substr(0, kLongestShown)) + "' is not a prefix" +
                       why);
}

}  // namespace

Uint128 FirstOf(const Prefix& prefix) { return prefix.address & ~OpenBits(prefix); }
Uint128 LastOf(const Prefix& prefix) { return prefix.address | OpenBits(prefix); }

Result<Prefix> ParsePrefix(std::string_view text) {
  const size_t slash = text.find('/');
  const std::optional<FieldValue> address = ParseAddress(text.substr(0, slash));
  if (!address) return NotAPrefix(text, "; write 10.1.0.0/16 or 2001:db8::/32");
  Prefix prefix;
  prefix.is_ipv6 = address->kind == ValueKind::kIpv6;
  prefix.address = address->value;
  const int width = WidthOf(prefix.is_ipv6);
  prefix.length = static_cast<uint8_t>(width);
  if (slash != std::string_view::npos) {
    const std::string_view digits = text.substr(slash + 1);
    unsigned length = 0;
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), length);
    if (digits.empty() || end.ec != std::errc() || end.ptr != digits.data() + digits.size() ||
        length > static_cast<unsigned>(width)) {
      return NotAPrefix(text, "; its length takes 0 to " + std::to_string(width));
    }
    prefix.length = static_cast<uint8_t>(length);
  }
  if (FirstOf(prefix) != prefix.address) {
    Prefix meant = prefix;
    meant.address = FirstOf(prefix);
    return NotAPrefix(text, ", because it has bits behind its length; did you mean '" +
                                PrintPrefix(meant) + "'?");
  }
  return prefix;
}

std::string PrintPrefix(const Prefix& prefix) {
  const ValueKind kind = prefix.is_ipv6 ? ValueKind::kIpv6 : ValueKind::kIpv4;
  return FormatValue({kind, prefix.address}) + "/" + std::to_string(prefix.length);
}

}  // namespace trumpet
