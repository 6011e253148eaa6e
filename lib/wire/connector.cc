// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/connector.h"

#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/dns.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace trumpet {
namespace {

std::vector<Address> Together(const Address& first, const std::vector<Address>& others) {
  std::vector<Address> all{first};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

}  // namespace

Connector::Connector(event_base* base, const Address& address, TlsContext* tls,
                     const ConnectorOptions& options, const WireClock& clock, SessionOwner* owner)
    : base_(base),
      addresses_(Together(address, options.others)),
      tls_(tls),
      options_(options),
      clock_(clock),
      owner_(owner),
      backoff_(options.first_backoff, options.longest_backoff, options.seed),
      patience_(options.session.handshake_timeout),
      reaper_(base, [this] { dead_.clear(); }),
      ticker_(base, [this] { Tick(); }) {}

Connector::~Connector() {
  session_.reset();
  if (resolver_ != nullptr) evdns_base_free(resolver_, 1);
}

Result<std::unique_ptr<Connector>> Connector::Connect(event_base* base, const Address& address,
                                                      TlsContext* tls,
                                                      const ConnectorOptions& options,
                                                      const WireClock& clock, SessionOwner* owner) {
  bool is_alike = address.is_tls == (tls != nullptr);
  for (const Address& other : options.others) is_alike &= other.is_tls == address.is_tls;
  if (!is_alike) {
    return Status::Error("keys and certificates go with ssl:, and only with it");
  }
  IgnoreBrokenPipes();
  std::unique_ptr<Connector> connector(new Connector(base, address, tls, options, clock, owner));
  connector->Attempt();
  if (options.tick > 0) connector->ticker_.RunEvery(options.tick);
  return connector;
}

Session* Connector::session() const {
  return session_ != nullptr && session_->is_established() ? session_.get() : nullptr;
}

ConnectorCounters Connector::counters() const {
  ConnectorCounters counters = counters_;
  if (session_ != nullptr) counters.sessions.Add(session_->counters());
  return counters;
}

void Connector::Attempt() {
  ++counters_.attempts;
  dead_.reserve(dead_.size() + 1);  // the end of a session takes no memory
  const int options = BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS;
  bufferevent* stream = nullptr;
  if (tls_ == nullptr) {
    stream = bufferevent_socket_new(base_, -1, options);
  } else if (ssl_st* tls = tls_->NewConnection()) {
    stream = bufferevent_openssl_socket_new(base_, -1, tls, BUFFEREVENT_SSL_CONNECTING, options);
    if (stream == nullptr) SSL_free(tls);
  }
  if (stream == nullptr) {
    last_error_ = "no memory for a connection";
    return Schedule();
  }
  SessionOwner* const self = this;
  SessionOptions session_options = options_.session;
  session_options.handshake_timeout = patience_;
  session_ =
      std::make_unique<Session>(stream, Session::Role::kAgent, session_options, clock_, self);
  session_->set_peer_address(address().host + ":" + std::to_string(address().port));
  if (BeginConnecting(stream)) return;
  last_error_ = "cannot begin to connect";
  session_.reset();
  Schedule();
}

bool Connector::BeginConnecting(bufferevent* stream) {
  const Address& to = this->address();
  sockaddr_storage address;
  const int size = ToSocketAddress(to.host, to.port, &address);
  if (size != 0) {
    return bufferevent_socket_connect(stream, reinterpret_cast<sockaddr*>(&address), size) == 0;
  }
  // Made anew each time, so that changes of resolv.conf are seen.  Only the first address found is
  // tried, so attempts take turns between the families.
  constexpr int kFamilies[] = {AF_UNSPEC, AF_INET, AF_INET6};
  const int family = kFamilies[(counters_.attempts - 1) / addresses_.size() % 3];
  if (resolver_ != nullptr) evdns_base_free(resolver_, 1);
  resolver_ =
      evdns_base_new(base_, EVDNS_BASE_INITIALIZE_NAMESERVERS | EVDNS_BASE_DISABLE_WHEN_INACTIVE);
  if (resolver_ == nullptr) return false;
  return bufferevent_socket_connect_hostname(stream, resolver_, family, to.host.c_str(), to.port) ==
         0;
}

// After an attempt that came to nothing.
void Connector::Schedule() {
  address_index_ = (address_index_ + 1) % addresses_.size();
  const bool waits = ++failed_in_a_row_ % addresses_.size() == 0;
  next_attempt_at_ = clock_.MonotonicNow() + (waits ? backoff_.Next() : 0);
}

void Connector::Stop(ByeReason reason) {
  is_stopped_ = true;
  if (session_ != nullptr) session_->Close(reason, "");
}

void Connector::Tick() {
  const Nanos now = clock_.MonotonicNow();
  if (tls_ != nullptr) tls_->ReloadIfChanged(now);
  if (session_ != nullptr) {
    if (session_->is_established() && now - session_->established_at() > options_.stable_after) {
      backoff_.Reset();
    }
    session_->Tick();
  } else if (!is_stopped_ && now >= next_attempt_at_) {
    Attempt();
  }
}

void Connector::OnEstablished(Session* session) {
  ++counters_.established;
  patience_ = options_.session.handshake_timeout;
  owner_->OnEstablished(session);
}

void Connector::OnMessage(Session* session, Message message) {
  owner_->OnMessage(session, std::move(message));
}

void Connector::OnClosed(Session* session, CloseCause cause, const std::string& text) {
  dead_.push_back(std::move(session_));
  reaper_.RunSoon();
  ++counters_.closed[static_cast<size_t>(cause)];
  if (cause == CloseCause::kHandshakeTimeout) {
    patience_ = std::min(2 * patience_, options_.longest_handshake);
  }
  counters_.sessions.Add(session->counters());
  if (session->established_at() != 0) {
    failed_in_a_row_ = 0;
    next_attempt_at_ = clock_.MonotonicNow() + backoff_.Next();
  } else {
    Schedule();
  }
  owner_->OnClosed(session, cause, text);
  last_error_ = std::string(CloseCauseName(cause)) + (text.empty() ? "" : ": " + text);
}

}  // namespace trumpet
