// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/ovsdb/remote_switch.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "lib/base/hash.h"
#include "lib/wire/address.h"

namespace trumpet {
namespace {

// Repairs that are so far apart are nobody's quarrel with us.
constexpr Nanos kPeaceAfter = 10 * kNanosPerSecond;

// An identifier of RFC 7047, whatever the owner is called.
std::string LockOf(const std::string& owner) {
  char lock[32];
  std::snprintf(lock, sizeof lock, "trumpet_%016llx",
                static_cast<unsigned long long>(HashBytes(owner.data(), owner.size(), 0)));
  return lock;
}

}  // namespace

RemoteSwitch::RemoteSwitch(event_base* base, const WireClock& clock, RemoteSwitchOptions options,
                           RemoteSwitchListener* listener)
    : clock_(clock),
      options_(std::move(options)),
      listener_(listener),
      pause_(options_.first_backoff, options_.longest_backoff, options_.seed),
      work_event_(base, [this] { Work(); }),
      later_event_(base, [this] { Work(); }),
      client_(base, ClientOptions(), this) {}

RemoteSwitch::~RemoteSwitch() = default;

OvsdbClientOptions RemoteSwitch::ClientOptions() const {
  OvsdbClientOptions options;
  options.remotes = options_.remotes;
  options.database = "Open_vSwitch";
  options.tables = SwitchViewColumns();
  options.lock = LockOf(options_.owner);
  options.needs_leader = true;
  options.max_copy_bytes = options_.max_copy_bytes;
  options.max_queued_bytes = options_.max_queued_bytes;
  options.first_backoff = options_.first_backoff;
  options.longest_backoff = options_.longest_backoff;
  options.seed = options_.seed;
  options.new_tls_connection = options_.new_tls_connection;
  return options;
}

// --- wishes ---

void RemoteSwitch::Wish() {
  was_as_wished_ = false;
  work_event_.RunSoon();
}

void RemoteSwitch::EnsureAnalyzerPort(const std::string& bridge, const std::string& address,
                                      TunnelKind kind, PortDone done) {
  WantedTunnel tunnel{bridge, kind, address};
  WaitingPort waiting;
  waiting.name = TunnelPortName(tunnel);
  waiting.until = clock_.MonotonicNow() + options_.patience;
  waiting.done = std::move(done);
  sockaddr_storage unused;
  if (ToSocketAddress(address, 0, &unused) == 0) {
    waiting.problem = "'" + address + "' is no IPv4 or IPv6 address of an analyzer";
  } else {
    wish_.tunnels.emplace(waiting.name, std::move(tunnel));
  }
  waiting_ports_.push_back(std::move(waiting));
  Wish();
}

void RemoteSwitch::DropAnalyzerPort(const std::string& bridge, const std::string& address,
                                    TunnelKind kind) {
  wish_.tunnels.erase(TunnelPortName({bridge, kind, address}));
  Wish();
}

void RemoteSwitch::WantMirror(const std::string& bridge, const std::string& name,
                              WantedMirror mirror) {
  wish_.mirrors[{bridge, name}] = std::move(mirror);
  Wish();
}

void RemoteSwitch::DropMirror(const std::string& bridge, const std::string& name) {
  wish_.mirrors.erase({bridge, name});
  Wish();
}

void RemoteSwitch::WantConfig(const std::string& bridge, const std::string& key,
                              const std::string& value) {
  wish_.config[{bridge, key}] = value;
  Wish();
}

void RemoteSwitch::DropConfig(const std::string& bridge, const std::string& key) {
  wish_.config.erase({bridge, key});
  Wish();
}

void RemoteSwitch::Uninstall(Done done) {
  wish_ = SwitchWish();
  waiting_ends_.push_back({clock_.MonotonicNow() + options_.patience, std::move(done)});
  Wish();
}

// --- making it so ---

void RemoteSwitch::Work() {
  if (client_.is_loaded()) view_ = ReadSwitchView(client_.tables());
  if (listener_ != nullptr) listener_->OnRemoteSwitch(this);
  if (client_.is_loaded()) Reconcile();
  AnswerPorts();
  AnswerEnds();
  TellProblem();
  WakeLater();
}

void RemoteSwitch::Reconcile() {
  plan_ = PlanSwitch(view_, wish_, options_.owner);
  const Nanos now = clock_.MonotonicNow();
  if (plan_.operations.empty()) {
    was_as_wished_ = true;
    refusal_.clear();
    if (now - last_change_ > kPeaceAfter) pause_.Reset();
    return;
  }
  if (client_.has_lock() && !is_writing_ && now >= not_before_) Commit(plan_.operations);
}

void RemoteSwitch::Commit(Json operations) {
  is_writing_ = true;
  const bool is_repair = was_as_wished_;
  was_as_wished_ = false;
  operations.insert(operations.begin(), Json{{"op", "assert"}, {"lock", LockOf(options_.owner)}});
  client_.Transact(std::move(operations), [this, is_repair](const OvsdbOutcome& outcome) {
    is_writing_ = false;
    last_change_ = clock_.MonotonicNow();
    refusal_ = outcome.ok() ? "" : outcome.text;
    ++(outcome.ok() ? counters_.changes : counters_.refused);
    if (outcome.ok() && is_repair) ++counters_.repairs;
    // Whoever undoes what we do, or refuses it, is not asked without end.
    if (!outcome.ok() || is_repair) not_before_ = last_change_ + pause_.Next();
    work_event_.RunSoon();
  });
}

// --- answers ---

std::string RemoteSwitch::LateBecause() const {
  if (!client_.is_loaded()) return "its database is away (" + client_.state() + ")";
  if (!client_.has_lock()) return "another controller has the lock of its database";
  if (!refusal_.empty()) return "its database refuses: " + refusal_;
  return "it has not been taken up by the switch";
}

std::optional<Result<AnalyzerPort>> RemoteSwitch::AnswerOf(const WaitingPort& port) const {
  const std::string place = options_.name + ": ";
  if (!port.problem.empty()) return {Status::Error(place + port.problem)};
  const auto wished = wish_.tunnels.find(port.name);
  if (wished == wish_.tunnels.end()) {
    return {Status::Error(place + "the port " + port.name + " is no longer wanted")};
  }
  if (client_.is_loaded()) {
    const auto obstacle = plan_.obstacles.find(ObstacleKey("port", port.name));
    if (obstacle != plan_.obstacles.end()) return {Status::Error(place + obstacle->second)};
    const SwitchPort* const found = view_.FindPort(wished->second.bridge, port.name);
    if (found != nullptr && plan_.operations.empty()) {
      const SwitchInterface& one = found->interfaces[0];
      if (one.of_port != 0) return {AnalyzerPort{port.name, one.of_port}};
      if (!one.error.empty()) {
        return {Status::Error(place + "cannot take up the port " + port.name + ": " + one.error)};
      }
    }
  }
  if (clock_.MonotonicNow() < port.until) return std::nullopt;
  return {Status::Error(place + "there is no port " + port.name + ": " + LateBecause())};
}

void RemoteSwitch::AnswerPorts() {
  std::vector<std::pair<PortDone, Result<AnalyzerPort>>> answers;
  for (auto port = waiting_ports_.begin(); port != waiting_ports_.end();) {
    auto answer = AnswerOf(*port);
    if (!answer) {
      ++port;
      continue;
    }
    answers.emplace_back(std::move(port->done), std::move(*answer));
    port = waiting_ports_.erase(port);
  }
  for (const auto& [done, answer] : answers) done(answer);
}

void RemoteSwitch::AnswerEnds() {
  std::vector<std::pair<Done, Status>> answers;
  const bool is_empty = wish_.tunnels.empty() && wish_.mirrors.empty() && wish_.config.empty();
  const bool is_over = client_.is_loaded() && !is_writing_ && plan_.operations.empty();
  for (auto end = waiting_ends_.begin(); end != waiting_ends_.end();) {
    if (!is_empty) {
      answers.emplace_back(std::move(end->done),
                           Status::Error(options_.name + ": is wanted again"));
    } else if (is_over) {
      answers.emplace_back(std::move(end->done), Status::Ok());
    } else if (clock_.MonotonicNow() >= end->until) {
      answers.emplace_back(
          std::move(end->done),
          Status::Error(options_.name + ": what is ours may be left there: " + LateBecause()));
    } else {
      ++end;
      continue;
    }
    end = waiting_ends_.erase(end);
  }
  for (const auto& [done, status] : answers) done(status);
}

void RemoteSwitch::TellProblem() {
  problem_.clear();
  if (client_.is_loaded() && !plan_.operations.empty()) problem_ = refusal_;
  for (const auto& [key, why] : plan_.obstacles) {
    problem_ += (problem_.empty() ? "" : "; ") + key + ": " + why;
  }
}

void RemoteSwitch::WakeLater() {
  Nanos next = INT64_MAX;
  for (const WaitingPort& port : waiting_ports_) next = std::min(next, port.until);
  for (const WaitingEnd& end : waiting_ends_) next = std::min(next, end.until);
  const Nanos now = clock_.MonotonicNow();
  const bool pauses = client_.is_loaded() && !plan_.operations.empty() && not_before_ > now;
  if (pauses) next = std::min(next, not_before_);
  if (next != INT64_MAX) later_event_.RunAfter(std::max<Nanos>(next - now, kNanosPerMilli));
}

}  // namespace trumpet
