// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Connector: the agent's side: keeps a session with the controller, and comes again when it ends.
//
// There may be several controllers, of which one acts and the others refuse: after an attempt that
// comes to nothing the next one is tried at once, and when all have been, there is a wait.
//
// Waits are those of a Backoff, which begins anew once a session has lasted for a while: one
// that is taken in and thrown out again at once is no success.
//
// Threads: that of the libevent loop; names are looked up without blocking it.
// Lifetime: `base`, `tls`, `clock` and `owner` must outlive it.  Its end ends its session, without
// calling the owner; it must not come from within a call of the owner.

#ifndef TRUMPET_LIB_WIRE_CONNECTOR_H
#define TRUMPET_LIB_WIRE_CONNECTOR_H

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/backoff.h"
#include "lib/base/loop_event.h"
#include "lib/base/status.h"
#include "lib/wire/address.h"
#include "lib/wire/session.h"

struct evdns_base;
struct event_base;

namespace trumpet {

struct ConnectorOptions {
  // Attempts begin with session.handshake_timeout of patience.  Each that has run out of it doubles
  // it for the next: a controller to which a thousand come at once, on a busy machine, would do the
  // same handshakes again and again.
  SessionOptions session;
  Nanos longest_handshake = 40 * kNanosPerSecond;
  std::vector<Address> others;  // to try after the first; over TLS if that is
  Nanos first_backoff = 200 * kNanosPerMilli;
  Nanos longest_backoff = 8 * kNanosPerSecond;
  Nanos stable_after = 10 * kNanosPerSecond;
  uint64_t seed = 0;                  // another one for each agent
  Nanos tick = 100 * kNanosPerMilli;  // 0: the owner calls Tick()
};

struct ConnectorCounters {
  uint64_t attempts = 0;
  uint64_t established = 0;
  std::array<uint64_t, kCloseCauseCount> closed{};
  SessionCounters sessions;  // of all there are and were
};

class Connector final : private SessionOwner {
 public:
  // `tls` is null for an address without TLS, and only then.  Begins to connect at once.
  static Result<std::unique_ptr<Connector>> Connect(event_base* base, const Address& address,
                                                    TlsContext* tls,
                                                    const ConnectorOptions& options,
                                                    const WireClock& clock, SessionOwner* owner);
  ~Connector() override;

  // The session, if it is established.
  Session* session() const;
  // When the next attempt is due (monotonic); 0 while there is a session, established or not.
  Nanos next_attempt_at() const { return session_ == nullptr ? next_attempt_at_ : 0; }
  // How the last session or attempt ended; empty at the beginning.
  const std::string& last_error() const { return last_error_; }
  ConnectorCounters counters() const;

  // Takes leave and comes no more.
  void Stop(ByeReason reason);

  void Tick();

 private:
  Connector(event_base* base, const Address& address, TlsContext* tls,
            const ConnectorOptions& options, const WireClock& clock, SessionOwner* owner);
  void Attempt();
  bool BeginConnecting(bufferevent* stream);
  void Schedule();
  const Address& address() const { return addresses_[address_index_]; }

  Hello MakeHello() override { return owner_->MakeHello(); }
  void OnEstablished(Session* session) override;
  void OnMessage(Session* session, Message message) override;
  void OnClosed(Session* session, CloseCause cause, const std::string& text) override;

  event_base* const base_;
  const std::vector<Address> addresses_;  // at least one
  TlsContext* const tls_;
  const ConnectorOptions options_;
  const WireClock& clock_;
  SessionOwner* const owner_;
  Backoff backoff_;
  Nanos patience_;                  // of the next attempt
  evdns_base* resolver_ = nullptr;  // while a name is looked up
  std::unique_ptr<Session> session_;
  std::vector<std::unique_ptr<Session>> dead_;  // until the loop comes round
  size_t address_index_ = 0;
  size_t failed_in_a_row_ = 0;  // attempts, since the last session or wait
  Nanos next_attempt_at_ = 0;
  bool is_stopped_ = false;
  std::string last_error_;
  ConnectorCounters counters_;
  LoopEvent reaper_;
  LoopEvent ticker_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_CONNECTOR_H
