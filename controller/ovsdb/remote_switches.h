// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RemoteSwitches: the switches whose databases a controller follows.
//
// Threads: that of the libevent loop.  Lifetime: as RemoteSwitch.
// Memory: kMaxRemoteSwitches times that of a RemoteSwitch.

#ifndef TRUMPET_CONTROLLER_OVSDB_REMOTE_SWITCHES_H
#define TRUMPET_CONTROLLER_OVSDB_REMOTE_SWITCHES_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/ovsdb/remote_switch.h"

namespace trumpet {

constexpr size_t kMaxRemoteSwitches = 1024;

class RemoteSwitches {
 public:
  // `options` are those of each switch; its name and remotes are given with it.  The listener may
  // be null.
  RemoteSwitches(event_base* base, const WireClock& clock, RemoteSwitchOptions options,
                 RemoteSwitchListener* listener);

  // Begins to follow one; `database` is written as ParseOvsdbRemotes() has it.
  Status Add(const std::string& name, const std::string& database);

  RemoteSwitch* Find(const std::string& name) const;  // null: there is none

  // Of all; the first error is told when all have answered.
  void Uninstall(RemoteSwitch::Done done);

  const std::map<std::string, std::unique_ptr<RemoteSwitch>>& all() const { return switches_; }

 private:
  void Later(std::function<void()> action);
  void RunLater();

  event_base* const base_;
  const WireClock& clock_;
  const RemoteSwitchOptions options_;
  RemoteSwitchListener* const listener_;
  std::vector<std::function<void()>> later_;
  LoopEvent later_event_;
  std::map<std::string, std::unique_ptr<RemoteSwitch>> switches_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_OVSDB_REMOTE_SWITCHES_H
