// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Access: who a request comes from.
//
// Clients show a bearer token of the token file; the file is read again when it has changed, and
// one that cannot be read leaves the old tokens in force until it can.  An address that shows
// wrong tokens again and again is not listened to for a while.  Without a token file only loopback
// is let in, as an administrator, and only if the options say so by name; what a browser sends on
// behalf of a page is refused then.
//
// Threads: one.  Memory: at most kMaxAddresses failing addresses are remembered.

#ifndef TRUMPET_CONTROLLER_REST_ACCESS_H
#define TRUMPET_CONTROLLER_REST_ACCESS_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "controller/rest/http_request.h"
#include "controller/rest/token_file.h"
#include "controller/tem/event_manager.h"
#include "lib/base/status.h"
#include "lib/base/units.h"

namespace trumpet {

struct AccessOptions {
  std::string token_file;        // empty: none
  bool trusts_loopback = false;  // without a token file
  size_t max_failures = 20;      // of one address, within `window`
  Nanos window = 60 * kNanosPerSecond;
};

struct AccessCounters {
  uint64_t allowed = 0;
  uint64_t without_token = 0;  // refused
  uint64_t wrong_token = 0;
  uint64_t expired_token = 0;
  uint64_t too_many_failures = 0;
  uint64_t reloads = 0;
  uint64_t failed_reloads = 0;
};

struct Grant {
  int refusal = 0;  // 401, 403 or 429; 0: let in
  std::string why;
  Nanos retry_after = 0;  // with 429
  Role role = Role::kNobody;
  Caller caller;
};

class Access {
 public:
  static constexpr size_t kMaxAddresses = 4096;

  // An error if there is a token file that cannot be used.
  static Result<Access> Open(AccessOptions options);

  // `monotonic` counts failures, `unix_now` expires tokens.
  Grant Check(const HttpRequest& request, Nanos monotonic, Nanos unix_now);
  // Would these headers be let in with that role?  Counts nothing.
  bool WouldAllow(std::string_view authorization, const std::string& peer, Role role,
                  Nanos monotonic, Nanos unix_now) const;

  // Looks whether the file has changed.
  void ReloadIfChanged();
  // Why the file that lies there now is not in use; empty if it is.
  const std::string& problem() const { return problem_; }
  const AccessCounters& counters() const { return counters_; }
  size_t token_count() const { return tokens_.size(); }

 private:
  struct Failures {
    Nanos since = 0;
    size_t count = 0;
  };
  struct Stamp {
    uint64_t inode = 0;
    int64_t size = 0;
    int64_t changed_ns = 0;
    bool operator==(const Stamp& other) const {
      return inode == other.inode && size == other.size && changed_ns == other.changed_ns;
    }
  };

  explicit Access(AccessOptions options) : options_(std::move(options)) {}
  Stamp LookAtFile() const;
  const Token* Find(std::string_view authorization) const;
  bool IsBarred(const std::string& peer, Nanos now) const;
  void CountFailure(const std::string& peer, Nanos now);
  Grant GrantToLoopback(const HttpRequest& request) const;

  AccessOptions options_;
  std::vector<Token> tokens_;
  Stamp seen_;
  std::string problem_;
  std::map<std::string, Failures> failures_;
  AccessCounters counters_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_ACCESS_H
