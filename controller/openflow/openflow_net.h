// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// OpenflowNet: all switches of a controller: those that come to where it listens, and those that it
// goes to.
//
// A switch is known by its datapath id and stays known when its connection ends.  When one comes
// again while its old connection still seems to be there, the new one takes its place.
//
// Threads: that of the libevent loop.  Lifetime: `base`, `clock` and TLS contexts must outlive it.
// Its end ends all connections, without calling anybody.

#ifndef TRUMPET_CONTROLLER_OPENFLOW_OPENFLOW_NET_H
#define TRUMPET_CONTROLLER_OPENFLOW_OPENFLOW_NET_H

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "controller/openflow/openflow_channel.h"
#include "controller/openflow/openflow_switch.h"
#include "lib/base/backoff.h"
#include "lib/base/loop_event.h"
#include "lib/base/status.h"
#include "lib/wire/address.h"
#include "lib/wire/tls_context.h"
#include "lib/wire/wire_clock.h"

struct evconnlistener;
struct event_base;
struct evdns_base;
struct sockaddr;

namespace trumpet {

constexpr uint16_t kOpenflowPort = 6653;

struct OpenflowOptions {
  OpenflowChannelOptions channel;
  std::map<uint64_t, std::string> names;  // by datapath id; others are called by their id
  std::map<uint64_t, std::vector<OpenflowRule>> standing_rules;  // by datapath id
  std::vector<OpenflowClaim> claims;                             // at each switch, to begin with
  std::map<uint64_t, OpenflowClaim> more_claims;                 // by datapath id
  size_t max_switches = 1024;
  size_t max_strangers = 64;  // connections that have not said yet who they are
  Nanos first_backoff = 200 * kNanosPerMilli;
  Nanos longest_backoff = 8 * kNanosPerSecond;
  Nanos tick = 100 * kNanosPerMilli;
  uint64_t seed = 0;
};

struct OpenflowNetCounters {
  uint64_t accepted = 0;
  uint64_t accept_failures = 0;
  uint64_t refused = 0;  // for max_strangers or max_switches
  std::array<uint64_t, kCloseCauseCount> closed{};
};

// Called from the loop.
class OpenflowObserver {
 public:
  virtual ~OpenflowObserver() = default;
  // is_ready() of the switch has become another one.
  virtual void OnSwitch(OpenflowSwitch* /*which*/) {}
  virtual void OnPorts(OpenflowSwitch* /*which*/) {}
  virtual void OnPacketIn(OpenflowSwitch* /*which*/, const OpenflowMessage& /*packet_in*/) {}
  virtual void OnFlowRemoved(OpenflowSwitch* /*which*/, const OpenflowMessage& /*removed*/) {}
};

class OpenflowNet final : private OpenflowChannelOwner {
 public:
  using Log = std::function<void(const char* level, const std::string& text)>;

  OpenflowNet(event_base* base, OpenflowOptions options, const WireClock& clock, Log log);
  ~OpenflowNet() override;
  OpenflowNet(const OpenflowNet&) = delete;
  OpenflowNet& operator=(const OpenflowNet&) = delete;

  // `tls` is null for an address without TLS, and only then.  Tells the port.
  Result<uint16_t> Listen(const Address& address, TlsContext* tls);
  // Goes to a switch, again and again.
  Status Connect(const Address& address, TlsContext* tls);

  // Must outlive the net, or be removed.
  void AddObserver(OpenflowObserver* observer) { observers_.push_back(observer); }
  void RemoveObserver(OpenflowObserver* observer);

  // Null if no such switch has ever come.
  OpenflowSwitch* Find(const std::string& name) const;
  OpenflowSwitch* Find(uint64_t datapath_id) const;
  std::vector<OpenflowSwitch*> Switches() const;
  // Another controller acts, or this one does, which knows all there is to be: at each switch, and
  // at those that come later.
  void GiveBack(const OpenflowClaim& claim);
  void EndClaim(const OpenflowClaim& claim);
  const OpenflowNetCounters& counters() const { return counters_; }

  void Tick();

  // From libevent.
  void OnAccept(TlsContext* tls, int fd, const sockaddr* from, int from_bytes);
  void OnAcceptError() { ++counters_.accept_failures; }

 private:
  struct Listening {
    OpenflowNet* net = nullptr;
    TlsContext* tls = nullptr;
    evconnlistener* listener = nullptr;
  };
  struct Dialling {
    Address address;
    TlsContext* tls = nullptr;
    Backoff backoff;
    OpenflowChannel* channel = nullptr;
    Nanos next_at = 0;
    uint64_t attempts = 0;
    evdns_base* resolver = nullptr;
  };
  using Channels = std::list<std::unique_ptr<OpenflowChannel>>;

  static void AcceptCallback(evconnlistener*, int fd, sockaddr* from, int from_bytes, void* self);
  static void AcceptErrorCallback(evconnlistener*, void* self);
  OpenflowChannel* Adopt(bufferevent* stream, bool is_connected, std::string address);
  void Dial(Dialling* dialling);
  OpenflowSwitch* FindOrAdd(uint64_t datapath_id);
  size_t StrangerCount() const;
  void Bury(OpenflowChannel* channel);
  template <typename Call>
  void TellObservers(const Call& call);

  void OnChannelReady(OpenflowChannel* channel) override;
  void OnChannelMessage(OpenflowChannel* channel, const OpenflowMessage& message) override;
  void OnChannelClosed(OpenflowChannel* channel, CloseCause cause,
                       const std::string& text) override;

  event_base* const base_;
  const OpenflowOptions options_;
  const WireClock& clock_;
  const Log log_;
  std::vector<OpenflowObserver*> observers_;
  std::map<uint64_t, std::unique_ptr<OpenflowSwitch>> switches_;
  std::vector<std::unique_ptr<Listening>> listening_;
  std::vector<std::unique_ptr<Dialling>> dialling_;
  Channels channels_;
  Channels dead_;  // until the loop comes round
  OpenflowNetCounters counters_;
  std::vector<OpenflowClaim> claims_;  // at switches that come
  LoopEvent reaper_;
  LoopEvent ticker_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_OPENFLOW_OPENFLOW_NET_H
