// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/ovsdb/remote_switches.h"

#include <utility>

namespace trumpet {

RemoteSwitches::RemoteSwitches(event_base* base, const WireClock& clock,
                               RemoteSwitchOptions options, RemoteSwitchListener* listener)
    : base_(base),
      clock_(clock),
      options_(std::move(options)),
      listener_(listener),
      later_event_(base, [this] { RunLater(); }) {}

Status RemoteSwitches::Add(const std::string& name, const std::string& database) {
  const std::string place = "switch '" + name + "': ";
  if (switches_.count(name) != 0) return Status::Error(place + "another one has this name");
  if (switches_.size() >= kMaxRemoteSwitches) {
    return Status::Error(place + std::to_string(kMaxRemoteSwitches) + " switches are allowed");
  }
  auto remotes = ParseOvsdbRemotes(database);
  if (!remotes.ok()) return Status::Error(place + remotes.message());
  for (const OvsdbRemote& remote : *remotes) {
    if (remote.kind == OvsdbRemote::Kind::kTls && !options_.new_tls_connection) {
      return Status::Error(place + remote.text + " needs keys and certificates");
    }
  }
  RemoteSwitchOptions options = options_;
  options.name = name;
  options.remotes = std::move(*remotes);
  options.seed += switches_.size();
  switches_[name] = std::make_unique<RemoteSwitch>(base_, clock_, std::move(options), listener_);
  return Status::Ok();
}

RemoteSwitch* RemoteSwitches::Find(const std::string& name) const {
  const auto found = switches_.find(name);
  return found == switches_.end() ? nullptr : found->second.get();
}

void RemoteSwitches::Later(std::function<void()> action) {
  later_.push_back(std::move(action));
  later_event_.RunSoon();
}

void RemoteSwitches::RunLater() {
  std::vector<std::function<void()>> actions;
  actions.swap(later_);
  for (const auto& action : actions) action();
}

void RemoteSwitches::Uninstall(RemoteSwitch::Done done) {
  if (switches_.empty()) return Later([done = std::move(done)] { done(Status::Ok()); });
  // The answers share it.
  struct Round {
    size_t missing = 0;
    Status status = Status::Ok();
  };
  const auto round = std::make_shared<Round>();
  round->missing = switches_.size();
  for (const auto& [name, one] : switches_) {
    one->Uninstall([round, done](const Status& status) {
      if (round->status.ok()) round->status = status;
      if (--round->missing == 0) done(round->status);
    });
  }
}

}  // namespace trumpet
