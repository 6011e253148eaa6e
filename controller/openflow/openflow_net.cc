// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/openflow/openflow_net.h"

#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/dns.h>
#include <event2/listener.h>
#include <event2/util.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "controller/openflow/datapath_id.h"
#include "lib/wire/address.h"

namespace trumpet {
namespace {

constexpr int kBacklog = 128;
constexpr int kStreamOptions = BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS;

// Null when there is no memory; then the descriptor is the caller's still.
bufferevent* NewStream(event_base* base, int fd, TlsContext* tls) {
  if (tls == nullptr) return bufferevent_socket_new(base, fd, kStreamOptions);
  ssl_st* const connection = tls->NewConnection();
  if (connection == nullptr) return nullptr;
  const auto role = fd < 0 ? BUFFEREVENT_SSL_CONNECTING : BUFFEREVENT_SSL_ACCEPTING;
  bufferevent* const stream =
      bufferevent_openssl_socket_new(base, fd, connection, role, kStreamOptions);
  if (stream == nullptr) SSL_free(connection);
  return stream;
}

}  // namespace

OpenflowNet::OpenflowNet(event_base* base, OpenflowOptions options, const WireClock& clock, Log log)
    : base_(base),
      options_(std::move(options)),
      clock_(clock),
      log_(std::move(log)),
      claims_(options_.claims),
      reaper_(base, [this] { dead_.clear(); }),
      ticker_(base, [this] { Tick(); }) {
  IgnoreBrokenPipes();
  ticker_.RunEvery(options_.tick);
}

OpenflowNet::~OpenflowNet() {
  for (const auto& listening : listening_) evconnlistener_free(listening->listener);
  channels_.clear();
  for (const auto& dialling : dialling_) {
    if (dialling->resolver != nullptr) evdns_base_free(dialling->resolver, 1);
  }
}

// ---- Connections that come ----

void OpenflowNet::AcceptCallback(evconnlistener* /*listener*/, int fd, sockaddr* from,
                                 int from_bytes, void* self) {
  const auto* const listening = static_cast<Listening*>(self);
  listening->net->OnAccept(listening->tls, fd, from, from_bytes);
}

void OpenflowNet::AcceptErrorCallback(evconnlistener* listener, void* self) {
  // Without descriptors accept() would fail again at once, for ever; Tick() tries again.
  evconnlistener_disable(listener);
  static_cast<Listening*>(self)->net->OnAcceptError();
}

Result<uint16_t> OpenflowNet::Listen(const Address& address, TlsContext* tls) {
  if (address.is_tls != (tls != nullptr)) {
    return Status::Error("keys and certificates go with pssl:, and only with it");
  }
  auto listening = std::make_unique<Listening>();
  listening->net = this;
  listening->tls = tls;
  sockaddr_storage where;
  const std::vector<std::string> hosts = address.host.empty()
                                             ? std::vector<std::string>{"::", "0.0.0.0"}
                                             : std::vector<std::string>{address.host};
  for (const std::string& host : hosts) {  // a kernel without IPv6 takes the second
    const int size = ToSocketAddress(host, address.port, &where);
    listening->listener =
        evconnlistener_new_bind(base_, AcceptCallback, listening.get(),
                                LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE,
                                kBacklog, reinterpret_cast<sockaddr*>(&where), size);
    if (listening->listener != nullptr) break;
  }
  if (listening->listener == nullptr) {
    return Status::Error("cannot listen at " + ToText(where) + ": " + std::strerror(errno));
  }
  evconnlistener_set_error_cb(listening->listener, AcceptErrorCallback);
  const uint16_t port = LocalPortOf(evconnlistener_get_fd(listening->listener));
  listening_.push_back(std::move(listening));
  return port;
}

size_t OpenflowNet::StrangerCount() const {
  return static_cast<size_t>(std::count_if(channels_.begin(), channels_.end(),
                                           [](const auto& one) { return !one->user_data; }));
}

void OpenflowNet::OnAccept(TlsContext* tls, int fd, const sockaddr* from, int from_bytes) {
  ++counters_.accepted;
  const bool has_room = StrangerCount() < options_.max_strangers + dialling_.size();
  bufferevent* const stream = has_room ? NewStream(base_, fd, tls) : nullptr;
  if (stream == nullptr) {
    ++(has_room ? counters_.accept_failures : counters_.refused);
    evutil_closesocket(fd);
    return;
  }
  sockaddr_storage address{};
  std::memcpy(&address, from, std::min(sizeof address, static_cast<size_t>(from_bytes)));
  Adopt(stream, true, ToText(address));
}

OpenflowChannel* OpenflowNet::Adopt(bufferevent* stream, bool is_connected, std::string address) {
  OpenflowChannelOwner* const self = this;
  channels_.push_back(std::make_unique<OpenflowChannel>(base_, stream, is_connected,
                                                        options_.channel, clock_, self));
  channels_.back()->set_peer_address(std::move(address));
  return channels_.back().get();
}

// ---- Connections that we make ----

Status OpenflowNet::Connect(const Address& address, TlsContext* tls) {
  if (address.is_tls != (tls != nullptr)) {
    return Status::Error("keys and certificates go with ssl:, and only with it");
  }
  dialling_.push_back(std::unique_ptr<Dialling>(
      new Dialling{address, tls,
                   Backoff(options_.first_backoff, options_.longest_backoff,
                           options_.seed + dialling_.size())}));
  Dial(dialling_.back().get());
  return Status::Ok();
}

void OpenflowNet::Dial(Dialling* dialling) {
  dialling->next_at = clock_.MonotonicNow() + dialling->backoff.Next();
  ++dialling->attempts;
  bufferevent* const stream = NewStream(base_, -1, dialling->tls);
  if (stream == nullptr) return;
  const Address& to = dialling->address;
  sockaddr_storage address;
  const int size = ToSocketAddress(to.host, to.port, &address);
  // The channel is there before it can be told that the connection has failed.
  dialling->channel = Adopt(stream, false, to.host + ":" + std::to_string(to.port));
  int begun = -1;
  if (size != 0) {
    begun = bufferevent_socket_connect(stream, reinterpret_cast<sockaddr*>(&address), size);
  } else {
    if (dialling->resolver != nullptr) evdns_base_free(dialling->resolver, 1);
    dialling->resolver =
        evdns_base_new(base_, EVDNS_BASE_INITIALIZE_NAMESERVERS | EVDNS_BASE_DISABLE_WHEN_INACTIVE);
    if (dialling->resolver != nullptr) {
      begun = bufferevent_socket_connect_hostname(stream, dialling->resolver, AF_UNSPEC,
                                                  to.host.c_str(), to.port);
    }
  }
  if (begun != 0) dialling->channel->Close(CloseCause::kConnect, "cannot begin to connect");
}

void OpenflowNet::Tick() {
  for (const auto& listening : listening_) {
    if (listening->tls != nullptr) listening->tls->ReloadIfChanged(clock_.MonotonicNow());
    evconnlistener_enable(listening->listener);
  }
  for (const auto& channel : channels_) channel->Tick();
  for (const auto& dialling : dialling_) {
    if (dialling->tls != nullptr) dialling->tls->ReloadIfChanged(clock_.MonotonicNow());
    const bool is_due = clock_.MonotonicNow() >= dialling->next_at;
    if (dialling->channel == nullptr && is_due) Dial(dialling.get());
  }
}

// ---- Switches ----

void OpenflowNet::RemoveObserver(OpenflowObserver* observer) {
  observers_.erase(std::remove(observers_.begin(), observers_.end(), observer), observers_.end());
}

template <typename Call>
void OpenflowNet::TellObservers(const Call& call) {
  const std::vector<OpenflowObserver*> observers = observers_;  // they may come and go
  for (OpenflowObserver* observer : observers) call(observer);
}

OpenflowSwitch* OpenflowNet::Find(uint64_t datapath_id) const {
  const auto found = switches_.find(datapath_id);
  return found == switches_.end() ? nullptr : found->second.get();
}

OpenflowSwitch* OpenflowNet::Find(const std::string& name) const {
  for (const auto& [id, one] : switches_) {
    if (one->name() == name) return one.get();
  }
  return nullptr;
}

std::vector<OpenflowSwitch*> OpenflowNet::Switches() const {
  std::vector<OpenflowSwitch*> all;
  for (const auto& [id, one] : switches_) all.push_back(one.get());
  return all;
}

OpenflowSwitch* OpenflowNet::FindOrAdd(uint64_t datapath_id) {
  if (OpenflowSwitch* known = Find(datapath_id)) return known;
  if (switches_.size() >= options_.max_switches) return nullptr;
  const auto name = options_.names.find(datapath_id);
  auto made = std::make_unique<OpenflowSwitch>(
      base_, datapath_id,
      name == options_.names.end() ? DatapathIdText(datapath_id) : name->second);
  OpenflowSwitch* const which = made.get();
  if (const auto rules = options_.standing_rules.find(datapath_id);
      rules != options_.standing_rules.end()) {
    const Status status = which->SetStandingRules(rules->second);
    if (!status.ok()) log_("warn", "switch " + which->name() + ": " + status.message());
  }
  std::vector<OpenflowClaim> claims = claims_;
  const auto more = options_.more_claims.find(datapath_id);
  if (more != options_.more_claims.end()) claims.push_back(more->second);
  which->SetClaims(std::move(claims));
  which->OnPorts([this, which] { TellObservers([&](auto* o) { o->OnPorts(which); }); });
  which->OnPacketIn([this, which](const OpenflowMessage& message) {
    TellObservers([&](auto* o) { o->OnPacketIn(which, message); });
  });
  which->OnFlowRemoved([this, which](const OpenflowMessage& message) {
    TellObservers([&](auto* o) { o->OnFlowRemoved(which, message); });
  });
  switches_[datapath_id] = std::move(made);
  return which;
}

void OpenflowNet::GiveBack(const OpenflowClaim& claim) {
  claims_.push_back(claim);
  for (OpenflowSwitch* which : Switches()) which->GiveBack(claim);
}

void OpenflowNet::EndClaim(const OpenflowClaim& claim) {
  const auto is_same = [&](const OpenflowClaim& one) { return one.cookie == claim.cookie; };
  claims_.erase(std::remove_if(claims_.begin(), claims_.end(), is_same), claims_.end());
  for (OpenflowSwitch* which : Switches()) which->Adopt(claim, {}, [](const Status&) {});
}

void OpenflowNet::OnChannelReady(OpenflowChannel* channel) {
  OpenflowSwitch* const which = FindOrAdd(channel->datapath_id());
  if (which == nullptr) {
    ++counters_.refused;
    return channel->Close(CloseCause::kRefused, "there are too many switches");
  }
  for (const auto& other : channels_) {
    if (other->user_data != which || other.get() == channel) continue;
    other->user_data = nullptr;
    which->Detach("it came again");
    other->Close(CloseCause::kByUs, "it came again");
    TellObservers([&](auto* o) { o->OnSwitch(which); });
  }
  channel->user_data = which;
  log_("info", "switch " + which->name() + " has come from " + channel->peer_address() +
                   " with OpenFlow 1." + std::to_string(channel->version() - 1));
  which->Attach(channel, [this, which, channel](const Status& status) {
    if (!status.ok()) {
      log_("warn", "switch " + which->name() + ": " + status.message());
      // What cannot be put right now is tried again when it comes anew.
      if (which->channel() == channel) channel->Close(CloseCause::kByUs, status.message());
      return;
    }
    TellObservers([&](auto* o) { o->OnSwitch(which); });
  });
}

void OpenflowNet::OnChannelMessage(OpenflowChannel* channel, const OpenflowMessage& message) {
  if (channel->user_data != nullptr) {
    static_cast<OpenflowSwitch*>(channel->user_data)->OnMessage(message);
  }
}

void OpenflowNet::OnChannelClosed(OpenflowChannel* channel, CloseCause cause,
                                  const std::string& text) {
  ++counters_.closed[static_cast<size_t>(cause)];
  const std::string why = std::string(CloseCauseName(cause)) + (text.empty() ? "" : ": " + text);
  if (auto* which = static_cast<OpenflowSwitch*>(channel->user_data)) {
    log_("info", "switch " + which->name() + " has gone: " + why);
    which->Detach(why);
    TellObservers([&](auto* o) { o->OnSwitch(which); });
  } else if (cause != CloseCause::kConnect) {
    log_("info", "OpenFlow with " + channel->peer_address() + " ended: " + why);
  }
  for (const auto& dialling : dialling_) {
    if (dialling->channel != channel) continue;
    dialling->channel = nullptr;
    if (channel->user_data != nullptr) dialling->backoff.Reset();
  }
  Bury(channel);
}

void OpenflowNet::Bury(OpenflowChannel* channel) {
  for (auto it = channels_.begin(); it != channels_.end(); ++it) {
    if (it->get() != channel) continue;
    dead_.splice(dead_.end(), channels_, it);
    break;
  }
  reaper_.RunSoon();
}

}  // namespace trumpet
