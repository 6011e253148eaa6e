// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TlsContext: the keys of one side, and who it believes.
//
// TLS 1.2 or later, certificates on both sides, each checked against the CA certificates of the
// other; nothing is resumed, so every session is checked anew.  The files are those that
// `ovs-vsctl set-ssl` takes and ovs-pki makes: private key, certificate, CA certificates, all PEM.
//
// A server for people's tools may be content with its own certificate: LoadForClients().
//
// When a file changes, new sessions use the new ones.  Files that cannot be used (half written, a
// key that is not the certificate's) leave the old ones in use, and problem() says so.
//
// Threads: one.  Time: reads three small files when one of them has changed.

#ifndef TRUMPET_LIB_WIRE_TLS_CONTEXT_H
#define TRUMPET_LIB_WIRE_TLS_CONTEXT_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/status.h"
#include "lib/base/units.h"

struct bufferevent;
struct ssl_st;
struct ssl_ctx_st;

namespace trumpet {

struct TlsFiles {
  std::string private_key;
  std::string certificate;
  std::string ca_certificate;
};

// Whom a certificate names.  Empty and not authenticated without TLS.
struct PeerIdentity {
  bool is_authenticated = false;
  std::string common_name;
  std::vector<std::string> dns_names;

  // Is `name` the common name or one of the others?  What ovs-pki appends to names (" id:...") does
  // not count.
  bool IsOf(std::string_view name) const;
};

class TlsContext {
 public:
  static Result<std::unique_ptr<TlsContext>> Load(TlsFiles files);
  // Of a server; without a CA certificate it asks its clients for none.
  static Result<std::unique_ptr<TlsContext>> LoadForClients(TlsFiles files);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // A new connection's state, owned by the caller; null when there is no memory.
  ssl_st* NewConnection() const;

  // Looks at the files, at most once a second of `now` (monotonic).
  void ReloadIfChanged(Nanos now);

  // Why the files that lie there now are not the ones in use; empty if they are.
  const std::string& problem() const { return problem_; }
  uint64_t reload_count() const { return reload_count_; }
  uint64_t failure_count() const { return failure_count_; }
  // When our own certificate expires: seconds of Unix time.
  int64_t expires_s() const { return expires_s_; }

 private:
  struct FileState;
  struct Loaded;

  TlsContext(TlsFiles files, bool believes_anybody);
  static Result<std::unique_ptr<TlsContext>> Load(TlsFiles files, bool believes_anybody);
  std::vector<FileState> LookAtFiles() const;
  Result<Loaded> LoadFiles() const;
  void Use(Loaded loaded);

  const TlsFiles files_;
  const bool believes_anybody_;
  ssl_ctx_st* context_ = nullptr;
  std::unique_ptr<std::vector<FileState>> seen_;
  Nanos next_look_ = 0;
  std::string problem_;
  uint64_t reload_count_ = 0;
  uint64_t failure_count_ = 0;
  int64_t expires_s_ = 0;
};

// The certificate that the peer of an established connection has shown.
PeerIdentity IdentityOf(const ssl_st* connection);

// What OpenSSL has to say about a connection that failed; empty if nothing.
std::string TlsErrorOf(bufferevent* stream);

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_TLS_CONTEXT_H
