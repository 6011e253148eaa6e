// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ControllerSet: the trigger set of the controller, put together from its parts.
//
// A set counts when its last part has come.  One that is not understood (changes to a base that is
// not here, parts out of order, too large) changes nothing, and the answer says why.
//
// Threads: the agent.  Memory: at most kMaxTriggerChanges events with kMaxNodes nodes of trees in
// all, some 150 bytes each, twice while a set comes.

#ifndef TRUMPET_VSWITCHD_PLUGIN_CONTROLLER_SET_H
#define TRUMPET_VSWITCHD_PLUGIN_CONTROLLER_SET_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/wire/message.h"

namespace trumpet {

class ControllerSet {
 public:
  static constexpr size_t kMaxNodes = 1u << 20;

  using Triggers = std::map<uint32_t, Trigger>;

  // What the controller is to be answered.
  struct Taken {
    uint64_t generation = 0;
    std::string refusal;            // empty: the set is taken
    std::vector<uint32_t> changed;  // events that were put
    uint64_t controller_id = 0;     // whose it is
    uint64_t session = 0;           // in which it came, as the link counts them
  };

  // A session with that controller begins: parts of before are forgotten.
  void BeginSession(uint64_t controller_id);
  // Nothing as long as parts are missing.
  std::optional<Taken> Take(TriggerSet part);
  // The controller is no longer ours.
  void Forget();

  const Triggers& triggers() const { return triggers_; }
  uint64_t controller_id() const { return controller_id_; }  // that made it; 0: there is no set
  uint64_t generation() const { return generation_; }

 private:
  std::string WhyNot(const TriggerSet& part) const;
  Taken Finish();

  Triggers triggers_;
  uint64_t controller_id_ = 0;
  uint64_t generation_ = 0;
  uint64_t session_controller_id_ = 0;
  std::optional<TriggerSet> coming_;
  size_t coming_nodes_ = 0;
  uint64_t refused_ = 0;  // generation whose further parts are passed over
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_CONTROLLER_SET_H
