// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Addresses of sessions, in Open vSwitch's spelling:
//
//   ssl:HOST[:PORT]     to connect to, over TLS; HOST is a name, an IPv4 address, or [IPv6]
//   tcp:HOST[:PORT]     the same without TLS, to loopback addresses only
//   pssl:[PORT][:HOST]  to listen at, over TLS; without HOST, at all addresses
//   ptcp:[PORT]:HOST    the same without TLS, at loopback addresses only
//
// PORT is 6650, or what the caller says, if not said; when listening, 0 takes any free one.

#ifndef TRUMPET_LIB_WIRE_ADDRESS_H
#define TRUMPET_LIB_WIRE_ADDRESS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/status.h"

struct sockaddr_storage;

namespace trumpet {

constexpr uint16_t kDefaultPort = 6650;
constexpr uint16_t kDefaultAnalyzerPort = 6651;
constexpr size_t kMaxAddresses = 8;  // in a list

struct Address {
  bool is_tls = true;
  std::string host;  // without brackets; empty: all addresses
  uint16_t port = kDefaultPort;
};

Result<Address> ParseActiveAddress(std::string_view text, uint16_t default_port = kDefaultPort);
// Several of them with commas between, all over TLS or none.
Result<std::vector<Address>> ParseActiveAddresses(std::string_view text);
Result<Address> ParsePassiveAddress(std::string_view text, uint16_t default_port = kDefaultPort);

// Fills `out` if the host is an address and no name; returns its length, or 0.
int ToSocketAddress(const std::string& host, uint16_t port, sockaddr_storage* out);
// "10.0.0.1:6650", "[::1]:6650"; of what accept() and getsockname() tell.
std::string ToText(const sockaddr_storage& address);
// Of a bound socket; 0 if it has none.
uint16_t LocalPortOf(int fd);

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_ADDRESS_H
