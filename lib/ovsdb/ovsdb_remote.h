// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Where a database is served, in Open vSwitch's spelling; several, with commas between, are the
// servers of a cluster:
//
//   unix:PATH        a socket of this machine
//   tcp:HOST:PORT    HOST is a name, an IPv4 address, or [IPv6]; PORT is 6640 if not said
//   ssl:HOST:PORT    the same over TLS

#ifndef TRUMPET_LIB_OVSDB_OVSDB_REMOTE_H
#define TRUMPET_LIB_OVSDB_OVSDB_REMOTE_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/status.h"

namespace trumpet {

constexpr uint16_t kDefaultOvsdbPort = 6640;

struct OvsdbRemote {
  enum class Kind : uint8_t { kUnix, kTcp, kTls };

  Kind kind = Kind::kUnix;
  std::string host;  // or path; without brackets
  uint16_t port = 0;
  std::string text;  // as it was written
};

Result<std::vector<OvsdbRemote>> ParseOvsdbRemotes(std::string_view text);

}  // namespace trumpet

#endif  // TRUMPET_LIB_OVSDB_OVSDB_REMOTE_H
