// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "utilities/ctl/commands.h"

namespace trumpet {
namespace {

constexpr size_t kTokenBytes = 32;
constexpr char kUsualRole[] = "read";

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

// The names in the text of a file of tokens, in order.
Result<std::vector<std::string>> NamesIn(const std::string& text) {
  try {
    const YAML::Node tokens = YAML::Load(text)["tokens"];
    std::vector<std::string> names;
    if (!tokens.IsSequence()) return Status::Error("it has no list 'tokens'");
    for (const YAML::Node& token : tokens) names.push_back(token["name"].as<std::string>());
    return names;
  } catch (const YAML::Exception& error) {
    return Status::Error(error.msg);
  }
}

Status AppendTo(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  const bool is_written =
      file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  if (file >= 0) close(file);
  return is_written ? Status::Ok()
                    : Status::Error("cannot write " + path + ": " + std::strerror(error));
}

}  // namespace

Status AppendCtlToken(const std::string& path, const std::string& name, const std::string& entry) {
  std::ifstream file(path, std::ios::binary);
  const std::string before{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::string between = before.empty() ? "tokens:\n" : before.back() == '\n' ? "" : "\n";
  if (!before.empty()) {
    const auto names = NamesIn(before);
    if (!names) return Status::Error(path + " is no file of tokens: " + names.message());
    if (std::find(names->begin(), names->end(), name) != names->end()) {
      return Status::Error(path + " has a token named '" + name + "' already");
    }
  }
  const auto names = NamesIn(before + between + entry);
  if (!names || names->empty() || names->back() != name) {
    return Status::Error(path + " does not end with its tokens, as lines that begin with '  - '");
  }
  return AppendTo(path, between + entry);
}

Status CheckCtlToken(const CtlInvocation& invocation) {
  const std::string& name = invocation.arguments[0];
  const std::string role = invocation.Get("role", kUsualRole);
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
  return Status::Ok();
}

Result<std::pair<std::string, std::string>> MakeCtlToken(const CtlInvocation& invocation) {
  const std::string tenant = invocation.Get("tenant");
  const std::string expires = invocation.Get("expires");
  unsigned char random[kTokenBytes];
  if (RAND_bytes(random, sizeof random) != 1)
    return Status::Error("no random numbers are to be had");
  const std::string token = "trumpet_" + ToHex(random, sizeof random);
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned int hash_size = 0;
  if (EVP_Digest(token.data(), token.size(), hash, &hash_size, EVP_sha256(), nullptr) != 1) {
    return Status::Error("SHA-256 is not to be had");
  }
  std::string entry = "  - name: " + invocation.arguments[0] +
                      "\n    sha256: " + ToHex(hash, hash_size) +
                      "\n    role: " + invocation.Get("role", kUsualRole) + "\n";
  if (!tenant.empty()) entry += "    tenant: " + tenant + "\n";
  if (!expires.empty()) entry += "    expires: " + expires + "\n";
  return std::make_pair(token, entry);
}

}  // namespace trumpet
