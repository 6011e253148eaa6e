// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/token_file.h"

#include <openssl/evp.h>
#include <sys/stat.h>

#include <ctime>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "lib/base/system_error.h"
#include "lib/base/utc_time.h"
#include "lib/lang/event/document.h"
#include "lib/lang/event/suggest.h"

namespace trumpet {
namespace {

using event_lang::DocumentNode;
using event_lang::Source;
using Kind = DocumentNode::Kind;

constexpr size_t kMaxNameBytes = 64;

std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (char c : text.substr(0, 64)) quoted += c < 0x20 || c >= 0x7f ? '?' : c;
  return quoted + (text.size() > 64 ? "...'" : "'");
}

bool IsName(std::string_view text) {
  if (text.empty() || text.size() > kMaxNameBytes) return false;
  for (char c : text) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!is_letter && !(c >= '0' && c <= '9') && c != '-' && c != '_' && c != '.' && c != '@')
      return false;
  }
  return true;
}

bool ReadHash(std::string_view text, TokenHash* hash) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (text.size() != 2 * hash->size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char lower = text[i] >= 'A' && text[i] <= 'F' ? static_cast<char>(text[i] + 32) : text[i];
    const size_t digit = kDigits.find(lower);
    if (digit == kDigits.npos) return false;
    unsigned char& byte = (*hash)[i / 2];
    byte = static_cast<unsigned char>(byte * 16 + digit);
  }
  return true;
}

// "2027-01-31", or "2027-01-31T12:00:00Z".
std::optional<int64_t> ReadInstant(const std::string& text) {
  for (const char* format : {"%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ"}) {
    std::tm parts{};
    const char* end = strptime(text.c_str(), format, &parts);
    if (end != nullptr && *end == '\0') return UtcSeconds(parts);
  }
  return std::nullopt;
}

// Reads one item of the list.  The first complaint wins; every step returns false after one.
class TokenReader {
 public:
  explicit TokenReader(const Source& source) : source_(source) {}

  bool Read(const DocumentNode& item, Token* token) {
    item_ = &item;
    token_ = token;
    values_.clear();
    return CollectKeys() && ReadName() && ReadSecret() && ReadRole() && ReadTenant() &&
           ReadPrefixes() && ReadExpiry();
  }

  const std::string& error() const { return error_; }

 private:
  bool Fail(const DocumentNode& node, const std::string& message) {
    error_ = source_.ErrorAt(node.offset, message);
    return false;
  }

  const DocumentNode* Find(const char* key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : found->second;
  }

  bool CollectKeys() {
    static const std::vector<std::string> keys = {"name",   "sha256",   "role",
                                                  "tenant", "prefixes", "expires"};
    if (item_->kind != Kind::kMap) return Fail(*item_, "a token is a map of keys");
    for (size_t i = 0; i + 1 < item_->items.size(); i += 2) {
      const DocumentNode& key = item_->items[i];
      bool is_known = false;
      for (const std::string& known : keys) is_known |= key.text == known;
      if (!is_known) {
        return Fail(key, Quoted(key.text) + " is not a key of a token" +
                             event_lang::DidYouMean(key.text, keys));
      }
      const DocumentNode& value = item_->items[i + 1];
      if (key.text != "prefixes" && value.kind != Kind::kText) {
        return Fail(value, Quoted(key.text) + " must be text");
      }
      if (!values_.emplace(key.text, &value).second) {
        return Fail(key, Quoted(key.text) + " stands twice in this token");
      }
    }
    return true;
  }

  bool ReadName() {
    const DocumentNode* name = Find("name");
    if (name == nullptr) return Fail(*item_, "this token has no name");
    if (!IsName(name->text)) {
      return Fail(*name,
                  Quoted(name->text) + " is no name; it takes 1 to 64 letters, digits and -_.@");
    }
    token_->name = name->text;
    return names_.insert(name->text).second ||
           Fail(*name, "there is another token named " + Quoted(name->text));
  }

  bool ReadSecret() {
    const DocumentNode* hash = Find("sha256");
    if (hash == nullptr) return Fail(*item_, "this token has no sha256");
    // The text itself is not shown: somebody may have put the token there.
    return ReadHash(hash->text, &token_->hash) ||
           Fail(*hash, "sha256 is the token's SHA-256, as 64 hexadecimal digits");
  }

  bool ReadRole() {
    const DocumentNode* role = Find("role");
    if (role == nullptr) return Fail(*item_, "this token has no role");
    for (Role known : {Role::kRead, Role::kOperate, Role::kAdmin}) {
      if (role->text != RoleName(known)) continue;
      token_->role = known;
      return true;
    }
    return Fail(*role, Quoted(role->text) + " is no role; there are read, operate and admin");
  }

  bool ReadTenant() {
    const DocumentNode* tenant = Find("tenant");
    if (tenant == nullptr) return true;
    if (!IsName(tenant->text)) {
      return Fail(*tenant, Quoted(tenant->text) +
                               " is no tenant; it takes 1 to 64 letters, digits and -_.@");
    }
    if (token_->role == Role::kAdmin) {
      return Fail(*tenant, "a tenant's token is read or operate; admin is of the whole network");
    }
    token_->tenant = tenant->text;
    return true;
  }

  bool ReadPrefixes() {
    const DocumentNode* list = Find("prefixes");
    if (list == nullptr) return true;
    if (token_->tenant.empty()) return Fail(*list, "prefixes are a tenant's; this token has none");
    if (list->kind != Kind::kList || list->items.empty()) {
      return Fail(*list, "prefixes is a list of one or more, as [10.1.0.0/16, 2001:db8::/32]");
    }
    for (const DocumentNode& item : list->items) {
      const Result<Prefix> prefix = ParsePrefix(item.text);
      if (!prefix.ok()) return Fail(item, prefix.message());
      token_->prefixes.push_back(*prefix);
    }
    return true;
  }

  bool ReadExpiry() {
    const DocumentNode* expires = Find("expires");
    if (expires == nullptr) return true;
    const auto instant = ReadInstant(expires->text);
    if (!instant) {
      return Fail(*expires, Quoted(expires->text) +
                                " is no instant; write 2027-01-31 or 2027-01-31T12:00:00Z");
    }
    token_->expires_s = *instant;
    return true;
  }

  const Source& source_;
  const DocumentNode* item_ = nullptr;
  Token* token_ = nullptr;
  std::map<std::string, const DocumentNode*> values_;
  std::set<std::string> names_;
  std::string error_;
};

}  // namespace

const char* RoleName(Role role) {
  switch (role) {
    case Role::kNobody:
      return "nobody";
    case Role::kRead:
      return "read";
    case Role::kOperate:
      return "operate";
    case Role::kAdmin:
      return "admin";
  }
  return "nobody";
}

Result<std::vector<Token>> ParseTokens(std::string_view text, std::string_view source_name) {
  const Source source{source_name, text};
  const Result<DocumentNode> root = event_lang::ReadYaml(source);
  if (!root.ok()) return root.status();
  const bool has_list = root->kind == Kind::kMap && root->items.size() == 2 &&
                        root->items[0].text == "tokens" && root->items[1].kind == Kind::kList;
  if (!has_list) {
    return Status::Error(source.ErrorAt(root->offset, "expected the one key 'tokens', a list"));
  }
  const std::vector<DocumentNode>& items = root->items[1].items;
  if (items.size() > kMaxTokens) {
    return Status::Error(source.ErrorAt(items[kMaxTokens].offset,
                                        "there may be " + std::to_string(kMaxTokens) + " tokens"));
  }
  std::vector<Token> tokens;
  TokenReader reader(source);
  for (const DocumentNode& item : items) {
    if (!reader.Read(item, &tokens.emplace_back())) return Status::Error(reader.error());
  }
  return tokens;
}

Result<std::vector<Token>> ReadTokenFile(const std::string& path) {
  struct stat found;
  if (stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) {
    return Status::Error(path + ": there is no such file");
  }
  if ((found.st_mode & 027) != 0) {
    return Status::Error(path + ": others may read it or its group may change it; try: chmod 640 " +
                         path);
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return SystemError(path + ": cannot be read");
  return ParseTokens(text.str(), path);
}

TokenHash HashToken(std::string_view token) {
  TokenHash hash{};
  unsigned size = 0;
  EVP_Digest(token.data(), token.size(), hash.data(), &size, EVP_sha256(), nullptr);
  return hash;
}

std::string ToHex(const TokenHash& hash) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (unsigned char byte : hash) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace trumpet
