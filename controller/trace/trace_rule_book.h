// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TraceRuleBook: the trace rules of a network as users have them: to put, to see, to remove.
//
// There is one set of rules, at all switches or at none (trace_rule_manager.h).
//
// Threads: one, that of the libevent loop.  Calls back never come from within a call.

#ifndef TRUMPET_CONTROLLER_TRACE_TRACE_RULE_BOOK_H
#define TRUMPET_CONTROLLER_TRACE_TRACE_RULE_BOOK_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "controller/store/event_store.h"
#include "lib/base/status.h"
#include "lib/model/trace_rule.h"

namespace trumpet {

// What is said of a rule is what was tried, not what was sent.
enum class TraceRuleState : uint8_t {
  kAway,     // the switch is not connected
  kPending,  // it has not got its rules yet
  kTesting,  // it has; no copy of a test packet has come yet
  kActive,   // one has
  kFailed,   // none does
};

const char* TraceRuleStateName(TraceRuleState state);

struct TraceRuleVerdict {
  TraceRuleState state = TraceRuleState::kTesting;
  std::string why;  // of kFailed, and perhaps of others
};

struct TraceRuleAtSwitch {
  std::string switch_name;
  TraceRuleVerdict verdict;
};

struct TraceRuleSetView {
  EventRecord record;
  TraceRules rules;
  std::string problem;                             // why a stored set does not run
  std::vector<std::vector<TraceRuleAtSwitch>> at;  // of each rule, by name of the switch
};

// Of a rule in the network: failed if it is at one switch, else what is the furthest from active.
// Switches that are away do not count while others are there.
TraceRuleVerdict TogetherOf(const std::vector<TraceRuleAtSwitch>& at);

class TraceRuleBook {
 public:
  // `is_conflict`: it cannot be done as things are now; otherwise what was asked for is wrong.
  struct Outcome {
    Status status = Status::Ok();
    bool is_conflict = false;
    bool is_new = false;  // Put(): there was none before
  };
  using Done = std::function<void(const Outcome&)>;

  virtual ~TraceRuleBook() = default;
  virtual void Put(TraceRules rules, const std::string& caller, Done done) = 0;
  // Of switches that are away they are removed when they come.
  virtual void Remove(Done done) = 0;
  // None if there are no rules.
  virtual std::optional<TraceRuleSetView> View() const = 0;
  virtual bool is_store_ready() const = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACE_TRACE_RULE_BOOK_H
