// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Listener: the controller's side: takes connections of agents and keeps their sessions.
//
// Strangers are kept apart from agents until they have said hello: at most `max_strangers` at a
// time, for a handshake's time each.  When all places are taken, whoever has had his for a second
// makes room; otherwise new connections wait in the kernel.  A flood of strangers thus delays
// agents that come again, and touches no session there is.
//
// Threads: that of the libevent loop.
// Lifetime: `base`, `tls`, `clock` and `owner` must outlive it.  Its end ends its sessions, without
// calling the owner; it must not come from within a call of the owner.

#ifndef TRUMPET_LIB_WIRE_LISTENER_H
#define TRUMPET_LIB_WIRE_LISTENER_H

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/loop_event.h"
#include "lib/base/status.h"
#include "lib/wire/address.h"
#include "lib/wire/session.h"

struct evconnlistener;
struct event_base;
struct sockaddr;

namespace trumpet {

struct ListenerOptions {
  SessionOptions session;
  size_t max_strangers = 256;
  size_t max_accepts_per_tick = 50;
  size_t max_sessions = 4096;
  Nanos tick = 100 * kNanosPerMilli;  // 0: the owner calls Tick()
};

struct ListenerCounters {
  uint64_t accepted = 0;
  uint64_t established = 0;
  uint64_t refused = 0;  // by the owner, by version, or for max_sessions
  uint64_t strangers_evicted = 0;
  uint64_t accept_failures = 0;  // no descriptors or memory left, say
  std::array<uint64_t, kCloseCauseCount> closed{};
  SessionCounters sessions;  // of all there are and were
};

class Listener final : private SessionOwner {
 public:
  // `tls` is null for an address without TLS, and only then.
  static Result<std::unique_ptr<Listener>> Listen(event_base* base, const Address& address,
                                                  TlsContext* tls, const ListenerOptions& options,
                                                  const WireClock& clock, SessionOwner* owner);
  ~Listener() override;

  uint16_t port() const { return port_; }
  size_t stranger_count() const { return strangers_.size(); }
  size_t session_count() const { return sessions_.size(); }
  ListenerCounters counters() const;

  void Tick();

  // From libevent.
  void OnAccept(int fd, const sockaddr* from, int from_bytes);
  void OnAcceptError();

 private:
  using Sessions = std::list<std::unique_ptr<Session>>;

  Listener(event_base* base, TlsContext* tls, const ListenerOptions& options,
           const WireClock& clock, SessionOwner* owner);
  Status Bind(const Address& address);
  Status BindTo(const std::string& host, uint16_t port);
  bool EvictStranger();
  void StopAccepting();
  void AcceptIfRoom();
  void Reap(Session* session);

  std::optional<Refusal> OnHello(Session* session, const Hello& hello, HelloReply* reply) override;
  void OnEstablished(Session* session) override;
  void OnMessage(Session* session, Message message) override;
  void OnClosed(Session* session, CloseCause cause, const std::string& text) override;

  event_base* const base_;
  TlsContext* const tls_;
  const ListenerOptions options_;
  const WireClock& clock_;
  SessionOwner* const owner_;
  evconnlistener* listener_ = nullptr;
  uint16_t port_ = 0;
  bool is_accepting_ = true;
  size_t accepts_in_tick_ = 0;
  Sessions strangers_;  // oldest first
  Sessions sessions_;
  Sessions dead_;  // until the loop comes round
  ListenerCounters counters_;
  LoopEvent reaper_;
  LoopEvent ticker_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_LISTENER_H
