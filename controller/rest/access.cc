// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/access.h"

#include <openssl/crypto.h>
#include <sys/stat.h>

#include <strings.h>
#include <utility>

namespace trumpet {
namespace {

// What follows "Bearer ".
std::string_view TokenOf(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size() ||
      strncasecmp(authorization.data(), kScheme.data(), kScheme.size()) != 0) {
    return {};
  }
  authorization.remove_prefix(kScheme.size());
  while (!authorization.empty() && authorization.front() == ' ') authorization.remove_prefix(1);
  while (!authorization.empty() && authorization.back() == ' ') authorization.remove_suffix(1);
  return authorization;
}

// Of "localhost:8650", "[::1]:8650".
bool NamesLoopback(std::string_view host) {
  if (!host.empty() && host.front() == '[') return host.substr(0, host.find(']') + 1) == "[::1]";
  host = host.substr(0, host.find(':'));
  return host == "localhost" || host.substr(0, 4) == "127.";
}

Grant Refuse(int status, std::string why) {
  Grant grant;
  grant.refusal = status;
  grant.why = std::move(why);
  return grant;
}

}  // namespace

Result<Access> Access::Open(AccessOptions options) {
  Access access(std::move(options));
  if (access.options_.token_file.empty()) return access;
  access.seen_ = access.LookAtFile();
  Result<std::vector<Token>> tokens = ReadTokenFile(access.options_.token_file);
  if (!tokens.ok()) return tokens.status();
  access.tokens_ = std::move(*tokens);
  return access;
}

Access::Stamp Access::LookAtFile() const {
  struct stat found;
  if (stat(options_.token_file.c_str(), &found) != 0) return {};
  return {found.st_ino, found.st_size,
          found.st_ctim.tv_sec * kNanosPerSecond + found.st_ctim.tv_nsec};
}

void Access::ReloadIfChanged() {
  if (options_.token_file.empty()) return;
  const Stamp stamp = LookAtFile();
  if (stamp == seen_) return;
  seen_ = stamp;
  Result<std::vector<Token>> tokens = ReadTokenFile(options_.token_file);
  if (!tokens.ok()) {
    ++counters_.failed_reloads;
    problem_ = tokens.message();
    return;
  }
  ++counters_.reloads;
  problem_.clear();
  tokens_ = std::move(*tokens);
}

// Looks at all of them, so that the time says nothing about how far a guess came.
const Token* Access::Find(std::string_view authorization) const {
  const std::string_view text = TokenOf(authorization);
  if (text.empty()) return nullptr;
  const TokenHash hash = HashToken(text);
  const Token* found = nullptr;
  for (const Token& token : tokens_) {
    if (CRYPTO_memcmp(token.hash.data(), hash.data(), hash.size()) == 0) found = &token;
  }
  return found;
}

bool Access::IsBarred(const std::string& peer, Nanos now) const {
  const auto found = failures_.find(peer);
  return found != failures_.end() && found->second.count >= options_.max_failures &&
         now - found->second.since < options_.window;
}

void Access::CountFailure(const std::string& peer, Nanos now) {
  if (failures_.size() >= kMaxAddresses && failures_.count(peer) == 0) {
    // Room for the newest: attackers with thousands of addresses gain a few guesses by it.
    failures_.erase(failures_.begin());
  }
  Failures& failures = failures_[peer];
  if (failures.count == 0 || now - failures.since >= options_.window) failures = {now, 0};
  ++failures.count;
}

// A page in a browser of this machine reaches loopback, too.  Browsers say where a page is from, or
// at least by which name they came here.
Grant Access::GrantToLoopback(const HttpRequest& request) const {
  if (!options_.trusts_loopback) {
    return Refuse(401, "no tokens are configured, and loopback is not trusted");
  }
  if (!request.is_loopback) return Refuse(401, "without tokens only loopback is let in");
  if (!request.header("origin").empty() || !NamesLoopback(request.header("host"))) {
    return Refuse(403, "without tokens nothing is done for pages in browsers");
  }
  Grant grant;
  grant.role = Role::kAdmin;
  grant.caller.name = "loopback";
  return grant;
}

Grant Access::Check(const HttpRequest& request, Nanos monotonic, Nanos unix_now) {
  Grant grant;
  if (options_.token_file.empty()) {
    grant = GrantToLoopback(request);
    ++(grant.refusal == 0 ? counters_.allowed : counters_.without_token);
    return grant;
  }
  if (IsBarred(request.peer, monotonic)) {
    ++counters_.too_many_failures;
    grant = Refuse(429, "this address has shown too many wrong tokens");
    grant.retry_after = failures_[request.peer].since + options_.window - monotonic;
    return grant;
  }
  const std::string_view authorization = request.header("authorization");
  if (authorization.empty()) {
    ++counters_.without_token;
    return Refuse(401, "this needs a token: Authorization: Bearer TOKEN");
  }
  const Token* token = Find(authorization);
  if (token == nullptr) {
    ++counters_.wrong_token;
    CountFailure(request.peer, monotonic);
    return Refuse(401, "this token is not known");
  }
  if (unix_now / kNanosPerSecond >= token->expires_s) {
    ++counters_.expired_token;
    return Refuse(401, "this token has expired");
  }
  ++counters_.allowed;
  grant.role = token->role;
  grant.caller.name = token->name;
  grant.caller.tenant = token->tenant;
  grant.caller.prefixes = token->prefixes;
  return grant;
}

bool Access::WouldAllow(std::string_view authorization, const std::string& peer, Role role,
                        Nanos monotonic, Nanos unix_now) const {
  if (options_.token_file.empty()) return options_.trusts_loopback;
  if (IsBarred(peer, monotonic)) return false;
  const Token* token = Find(authorization);
  return token != nullptr && token->role >= role && unix_now / kNanosPerSecond < token->expires_s;
}

}  // namespace trumpet
