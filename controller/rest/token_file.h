// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Token file: who may use the API, and for what.
//
//   tokens:
//     - name: alice
//       sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
//       role: operate              # read, operate or admin
//       tenant: red                # optional: sees and changes this tenant's events only
//       prefixes: [10.1.0.0/16]    # optional, of a tenant: its events must be confined to these
//       expires: 2027-01-31        # optional: from the beginning of that day (UTC) it is void
//
// The file holds hashes only: tokens are long random texts, so that a plain SHA-256 is enough.
//
// Threads: values; no state.

#ifndef TRUMPET_CONTROLLER_REST_TOKEN_FILE_H
#define TRUMPET_CONTROLLER_REST_TOKEN_FILE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "controller/plan/topology.h"
#include "lib/base/status.h"

namespace trumpet {

enum class Role : uint8_t { kNobody, kRead, kOperate, kAdmin };

const char* RoleName(Role role);

using TokenHash = std::array<unsigned char, 32>;

struct Token {
  std::string name;
  TokenHash hash{};
  Role role = Role::kRead;
  std::string tenant;
  std::vector<Prefix> prefixes;
  int64_t expires_s = INT64_MAX;  // Unix time
};

constexpr size_t kMaxTokens = 4096;

// Errors name line and column.
Result<std::vector<Token>> ParseTokens(std::string_view text, std::string_view source_name);
// Refuses a file that others may read, or the group may change.
Result<std::vector<Token>> ReadTokenFile(const std::string& path);

TokenHash HashToken(std::string_view token);
std::string ToHex(const TokenHash& hash);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_TOKEN_FILE_H
