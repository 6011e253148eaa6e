// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstdio>

#include "utilities/ctl/commands.h"

namespace trumpet {
namespace {

constexpr size_t kTokenBytes = 32;

std::string ToHex(const unsigned char* bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
    text += digits;
  }
  return text;
}

bool IsWord(const std::string& text) {
  return !text.empty() && text.size() <= 64 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  c == '-' || c == '_' || c == '.' || c == '@';
         });
}

}  // namespace

Result<std::pair<std::string, std::string>> MakeCtlToken(const CtlInvocation& invocation) {
  const std::string name = invocation.arguments[0];
  const std::string role = invocation.Get("role", "read");
  const std::string tenant = invocation.Get("tenant");
  const std::string expires = invocation.Get("expires");
  if (!IsWord(name))
    return Status::Error("name is '" + name + "'; it takes letters, digits and -_.@");
  if (role != "read" && role != "operate" && role != "admin") {
    return Status::Error("role is '" + role + "'; it takes read, operate or admin");
  }
  if (!tenant.empty() && !IsWord(tenant)) {
    return Status::Error("tenant is '" + tenant + "'; it takes letters, digits and -_.@");
  }
  if (!expires.empty() && (expires.size() != 10 || !ParseCtlTime(expires))) {
    return Status::Error("expires is '" + expires + "'; it takes a day, 2027-01-31");
  }
  unsigned char random[kTokenBytes];
  if (RAND_bytes(random, sizeof random) != 1)
    return Status::Error("no random numbers are to be had");
  const std::string token = "trumpet_" + ToHex(random, sizeof random);
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned int hash_size = 0;
  if (EVP_Digest(token.data(), token.size(), hash, &hash_size, EVP_sha256(), nullptr) != 1) {
    return Status::Error("SHA-256 is not to be had");
  }
  std::string entry = "  - name: " + name + "\n    sha256: " + ToHex(hash, hash_size) +
                      "\n    role: " + role + "\n";
  if (!tenant.empty()) entry += "    tenant: " + tenant + "\n";
  if (!expires.empty()) entry += "    expires: " + expires + "\n";
  return std::make_pair(token, entry);
}

}  // namespace trumpet
