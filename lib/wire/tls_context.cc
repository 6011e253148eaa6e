// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/tls_context.h"

#include <event2/bufferevent_ssl.h>
#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

namespace trumpet {
namespace {

struct ContextFree {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using Context = std::unique_ptr<SSL_CTX, ContextFree>;

// The oldest error of OpenSSL's queue, which is emptied.
std::string TakeError() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "unknown error";
  if (ERR_SYSTEM_ERROR(code)) return std::strerror(ERR_GET_REASON(code));
  const char* reason = ERR_reason_error_string(code);
  return reason == nullptr ? "error " + std::to_string(code) : reason;
}

Status Failure(const char* what, const std::string& file) {
  return Status::Error(std::string(what) + " " + file + ": " + TakeError());
}

// An end without TLS's own goodbye is an end like any other: frames tell whether all has come.
void Harden(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                                   SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_verify_depth(context, 8);
  // Of TLS 1.2, only what has forward secrecy and authenticated encryption.
  SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");
}

int64_t ToUnixSeconds(const ASN1_TIME* time) {
  std::tm parts{};
  return ASN1_TIME_to_tm(time, &parts) == 1 ? timegm(&parts) : 0;
}

std::string ToString(const ASN1_STRING* text) {
  unsigned char* utf8 = nullptr;
  const int size = ASN1_STRING_to_UTF8(&utf8, text);
  if (size < 0) return "";
  std::string result(reinterpret_cast<char*>(utf8), static_cast<size_t>(size));
  OPENSSL_free(utf8);
  // A NUL inside would be read as the end by some, and not by others.
  return result.find('\0') == std::string::npos ? result : "";
}

}  // namespace

struct TlsContext::FileState {
  ino_t inode = 0;
  off_t size = 0;
  int64_t changed_ns = 0;
  int64_t modified_ns = 0;

  bool operator==(const FileState& other) const {
    return inode == other.inode && size == other.size && changed_ns == other.changed_ns &&
           modified_ns == other.modified_ns;
  }
};

struct TlsContext::Loaded {
  Context context;
  int64_t expires_s = 0;
};

TlsContext::TlsContext(TlsFiles files, bool believes_anybody)
    : files_(std::move(files)), believes_anybody_(believes_anybody) {}

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

Result<std::unique_ptr<TlsContext>> TlsContext::Load(TlsFiles files) {
  return Load(std::move(files), false);
}

Result<std::unique_ptr<TlsContext>> TlsContext::LoadForClients(TlsFiles files) {
  const bool believes_anybody = files.ca_certificate.empty();
  return Load(std::move(files), believes_anybody);
}

Result<std::unique_ptr<TlsContext>> TlsContext::Load(TlsFiles files, bool believes_anybody) {
  std::unique_ptr<TlsContext> context(new TlsContext(std::move(files), believes_anybody));
  context->seen_ = std::make_unique<std::vector<FileState>>(context->LookAtFiles());
  Result<Loaded> loaded = context->LoadFiles();
  if (!loaded.ok()) return loaded.status();
  context->Use(std::move(*loaded));
  return context;
}

std::vector<TlsContext::FileState> TlsContext::LookAtFiles() const {
  std::vector<FileState> states;
  for (const std::string* file :
       {&files_.private_key, &files_.certificate, &files_.ca_certificate}) {
    FileState& state = states.emplace_back();
    struct stat found;
    if (stat(file->c_str(), &found) != 0) continue;
    state.inode = found.st_ino;
    state.size = found.st_size;
    state.changed_ns = found.st_ctim.tv_sec * kNanosPerSecond + found.st_ctim.tv_nsec;
    state.modified_ns = found.st_mtim.tv_sec * kNanosPerSecond + found.st_mtim.tv_nsec;
  }
  return states;
}

Result<TlsContext::Loaded> TlsContext::LoadFiles() const {
  ERR_clear_error();
  Loaded loaded;
  loaded.context.reset(SSL_CTX_new(TLS_method()));
  SSL_CTX* context = loaded.context.get();
  if (context == nullptr) return Status::Error("cannot make a TLS context: " + TakeError());
  Harden(context);
  if (SSL_CTX_use_PrivateKey_file(context, files_.private_key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return Failure("cannot use private key", files_.private_key);
  }
  if (SSL_CTX_use_certificate_chain_file(context, files_.certificate.c_str()) != 1) {
    return Failure("cannot use certificate", files_.certificate);
  }
  if (SSL_CTX_check_private_key(context) != 1) {
    return Status::Error("private key " + files_.private_key + " is not that of certificate " +
                         files_.certificate);
  }
  loaded.expires_s = ToUnixSeconds(X509_get0_notAfter(SSL_CTX_get0_certificate(context)));
  if (believes_anybody_) {
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
    return loaded;
  }
  if (SSL_CTX_load_verify_locations(context, files_.ca_certificate.c_str(), nullptr) != 1) {
    return Failure("cannot use CA certificates", files_.ca_certificate);
  }
  STACK_OF(X509_NAME)* names = SSL_load_client_CA_file(files_.ca_certificate.c_str());
  if (names == nullptr) return Failure("cannot use CA certificates", files_.ca_certificate);
  SSL_CTX_set_client_CA_list(context, names);
  return loaded;
}

void TlsContext::Use(Loaded loaded) {
  SSL_CTX_free(context_);  // living connections hold on to it
  context_ = loaded.context.release();
  expires_s_ = loaded.expires_s;
}

ssl_st* TlsContext::NewConnection() const {
  SSL* connection = SSL_new(context_);
  if (connection == nullptr) ERR_clear_error();
  return connection;
}

bool PeerIdentity::IsOf(std::string_view name) const {
  const auto is_of = [name](std::string_view text) {
    return !name.empty() && name == text.substr(0, std::min(text.size(), text.find(" id:")));
  };
  return is_authenticated &&
         (is_of(common_name) || std::any_of(dns_names.begin(), dns_names.end(), is_of));
}

void TlsContext::ReloadIfChanged(Nanos now) {
  if (now < next_look_) return;
  next_look_ = now + kNanosPerSecond;
  // Looked at before they are read: what changes meanwhile is seen next time.
  std::vector<FileState> states = LookAtFiles();
  if (states == *seen_ && problem_.empty()) return;
  const bool is_new = !(states == *seen_);
  *seen_ = std::move(states);
  Result<Loaded> loaded = LoadFiles();
  if (!loaded.ok()) {
    if (is_new) ++failure_count_;
    problem_ = loaded.message();
    return;
  }
  Use(std::move(*loaded));
  problem_.clear();
  ++reload_count_;
}

PeerIdentity IdentityOf(const ssl_st* connection) {
  PeerIdentity identity;
  X509* certificate = SSL_get0_peer_certificate(connection);
  if (certificate == nullptr || SSL_get_verify_result(connection) != X509_V_OK) return identity;
  identity.is_authenticated = true;
  const X509_NAME* subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(const_cast<X509_NAME*>(subject), NID_commonName, -1);
  if (at >= 0) {
    identity.common_name = ToString(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
  }
  auto* names = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
    if (name->type != GEN_DNS) continue;
    std::string text = ToString(name->d.dNSName);
    if (!text.empty()) identity.dns_names.push_back(std::move(text));
  }
  GENERAL_NAMES_free(names);
  return identity;
}

std::string TlsErrorOf(bufferevent* stream) {
  const SSL* tls = bufferevent_openssl_get_ssl(stream);
  std::string text;
  while (const unsigned long code = bufferevent_get_openssl_error(stream)) {
    if (ERR_GET_LIB(code) == 0 || !text.empty()) continue;  // the socket's error, not TLS's
    const char* reason = ERR_reason_error_string(code);
    text = reason == nullptr ? "TLS error " + std::to_string(code) : reason;
  }
  ERR_clear_error();
  const long verified = tls == nullptr ? X509_V_OK : SSL_get_verify_result(tls);
  if (verified == X509_V_OK) return text;
  return std::string("peer's certificate: ") + X509_verify_cert_error_string(verified);
}

}  // namespace trumpet
