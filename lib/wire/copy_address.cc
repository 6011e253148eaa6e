// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/copy_address.h"

#include <sys/socket.h>

#include <algorithm>

#include "lib/wire/address.h"

namespace trumpet {
namespace {

constexpr std::string_view kUdp = "udp:";
constexpr std::string_view kErspan = "erspan:";

bool BeginsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

}  // namespace

bool LooksLikeCopyAddress(std::string_view text) {
  return BeginsWith(text, kUdp) || BeginsWith(text, kErspan);
}

Result<CopyAddress> ParseCopyAddress(std::string_view text) {
  const bool is_erspan = BeginsWith(text, kErspan);
  const std::string_view place = text.substr(std::min(
      text.size(), LooksLikeCopyAddress(text) ? (is_erspan ? kErspan : kUdp).size() : text.size()));
  const Result<Address> address = ParseActiveAddress("ssl:" + std::string(place), 0);
  sockaddr_storage unused;
  const bool is_sound = address.ok() && ToSocketAddress(address->host, 0, &unused) != 0 &&
                        (address->port == 0) == is_erspan;
  if (is_sound) return CopyAddress{is_erspan, address->host, address->port};
  return Status::Error(
      "copies go to 'udp:ADDRESS:PORT' or 'erspan:ADDRESS', as udp:10.0.0.9:4729 or "
      "erspan:[2001:db8::9]");
}

}  // namespace trumpet
