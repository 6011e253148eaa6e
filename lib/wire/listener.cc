// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/listener.h"

#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/listener.h>
#include <event2/util.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace trumpet {
namespace {

constexpr int kBacklog = 1024;
constexpr Nanos kStrangersGrace = kNanosPerSecond;

void AcceptCallback(evconnlistener* /*listener*/, evutil_socket_t fd, sockaddr* from,
                    int from_bytes, void* self) {
  static_cast<Listener*>(self)->OnAccept(fd, from, from_bytes);
}

void AcceptErrorCallback(evconnlistener* /*listener*/, void* self) {
  static_cast<Listener*>(self)->OnAcceptError();
}

}  // namespace

Listener::Listener(event_base* base, TlsContext* tls, const ListenerOptions& options,
                   const WireClock& clock, SessionOwner* owner)
    : base_(base),
      tls_(tls),
      options_(options),
      clock_(clock),
      owner_(owner),
      reaper_(base, [this] { dead_.clear(); }),
      ticker_(base, [this] { Tick(); }) {}

Listener::~Listener() {
  if (listener_ != nullptr) evconnlistener_free(listener_);
}

Result<std::unique_ptr<Listener>> Listener::Listen(event_base* base, const Address& address,
                                                   TlsContext* tls, const ListenerOptions& options,
                                                   const WireClock& clock, SessionOwner* owner) {
  if (address.is_tls != (tls != nullptr)) {
    return Status::Error("keys and certificates go with pssl:, and only with it");
  }
  IgnoreBrokenPipes();
  std::unique_ptr<Listener> listener(new Listener(base, tls, options, clock, owner));
  const Status bound = listener->Bind(address);
  if (!bound.ok()) return bound;
  if (options.tick > 0) listener->ticker_.RunEvery(options.tick);
  return listener;
}

Status Listener::Bind(const Address& address) {
  if (!address.host.empty()) return BindTo(address.host, address.port);
  if (BindTo("::", address.port).ok()) return Status::Ok();
  return BindTo("0.0.0.0", address.port);  // a kernel without IPv6
}

Status Listener::BindTo(const std::string& host, uint16_t port) {
  sockaddr_storage address;
  const int size = ToSocketAddress(host, port, &address);
  const unsigned flags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE;
  listener_ = evconnlistener_new_bind(base_, AcceptCallback, this, flags, kBacklog,
                                      reinterpret_cast<sockaddr*>(&address), size);
  if (listener_ == nullptr) {
    return Status::Error("cannot listen at " + ToText(address) + ": " + std::strerror(errno));
  }
  evconnlistener_set_error_cb(listener_, AcceptErrorCallback);
  port_ = LocalPortOf(evconnlistener_get_fd(listener_));
  return Status::Ok();
}

void Listener::OnAcceptError() {
  // Without descriptors accept() would fail again at once, for ever; Tick() tries again.
  ++counters_.accept_failures;
  accepts_in_tick_ = options_.max_accepts_per_tick;
  StopAccepting();
}

void Listener::StopAccepting() {
  evconnlistener_disable(listener_);
  is_accepting_ = false;
}

void Listener::OnAccept(int fd, const sockaddr* from, int from_bytes) {
  ++counters_.accepted;
  if (++accepts_in_tick_ >= options_.max_accepts_per_tick) StopAccepting();
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const int options = BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS;
  ssl_st* tls = tls_ == nullptr ? nullptr : tls_->NewConnection();
  bufferevent* stream = nullptr;
  if (tls != nullptr) {
    stream = bufferevent_openssl_socket_new(base_, fd, tls, BUFFEREVENT_SSL_ACCEPTING, options);
  } else if (tls_ == nullptr) {
    stream = bufferevent_socket_new(base_, fd, options);
  }
  if (stream == nullptr) {
    ++counters_.accept_failures;
    if (tls != nullptr) SSL_free(tls);
    evutil_closesocket(fd);
    return;
  }
  SessionOwner* const self = this;
  auto session =
      std::make_unique<Session>(stream, Session::Role::kController, options_.session, clock_, self);
  sockaddr_storage address{};
  std::memcpy(&address, from, std::min(sizeof address, static_cast<size_t>(from_bytes)));
  session->set_peer_address(ToText(address));
  strangers_.push_back(std::move(session));
  if (strangers_.size() >= options_.max_strangers && !EvictStranger()) StopAccepting();
}

// The oldest, if it has had its time.
bool Listener::EvictStranger() {
  Session* oldest = strangers_.front().get();
  if (clock_.MonotonicNow() - oldest->created_at() < kStrangersGrace) return false;
  ++counters_.strangers_evicted;
  oldest->Abandon(CloseCause::kHandshakeTimeout, "made room for others");
  return true;
}

void Listener::AcceptIfRoom() {
  if (is_accepting_ || accepts_in_tick_ >= options_.max_accepts_per_tick) return;
  if (strangers_.size() >= options_.max_strangers && !EvictStranger()) return;
  evconnlistener_enable(listener_);
  is_accepting_ = true;
}

void Listener::Reap(Session* session) {
  counters_.sessions.Add(session->counters());
  for (Sessions* list : {&strangers_, &sessions_}) {
    for (auto it = list->begin(); it != list->end(); ++it) {
      if (it->get() != session) continue;
      dead_.splice(dead_.end(), *list, it);
      reaper_.RunSoon();
      return;
    }
  }
}

void Listener::Tick() {
  if (tls_ != nullptr) tls_->ReloadIfChanged(clock_.MonotonicNow());
  // Owners may end any session meanwhile; those that have ended live on until the loop comes round.
  std::vector<Session*> all;
  all.reserve(strangers_.size() + sessions_.size());
  for (const Sessions* list : {&strangers_, &sessions_}) {
    for (const auto& session : *list) all.push_back(session.get());
  }
  for (Session* session : all) session->Tick();
  accepts_in_tick_ = 0;
  AcceptIfRoom();
}

ListenerCounters Listener::counters() const {
  ListenerCounters counters = counters_;
  for (const Sessions* list : {&strangers_, &sessions_}) {
    for (const auto& session : *list) counters.sessions.Add(session->counters());
  }
  return counters;
}

std::optional<Refusal> Listener::OnHello(Session* session, const Hello& hello, HelloReply* reply) {
  if (sessions_.size() >= options_.max_sessions) {
    return Refusal{RefusalReason::kTooMany,
                   "this controller takes " + std::to_string(options_.max_sessions) + " agents"};
  }
  return owner_->OnHello(session, hello, reply);
}

void Listener::OnEstablished(Session* session) {
  ++counters_.established;
  for (auto it = strangers_.begin(); it != strangers_.end(); ++it) {
    if (it->get() != session) continue;
    sessions_.splice(sessions_.end(), strangers_, it);
    break;
  }
  AcceptIfRoom();
  owner_->OnEstablished(session);
}

void Listener::OnMessage(Session* session, Message message) {
  owner_->OnMessage(session, std::move(message));
}

void Listener::OnClosed(Session* session, CloseCause cause, const std::string& text) {
  ++counters_.closed[static_cast<size_t>(cause)];
  if (cause == CloseCause::kRefused) ++counters_.refused;
  Reap(session);
  AcceptIfRoom();
  owner_->OnClosed(session, cause, text);
}

}  // namespace trumpet
