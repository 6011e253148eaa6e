// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ProgramRounds: hosts that were told to run a program, or to run it no more, and what they say.
//
// A round that turns a program on ends with the first host that does not do it; one that turns a
// program off waits for all.  A host that says nothing for kPatience does not answer.
//
// Threads: that of the loop.  Ends of rounds are never told from within a call.

#ifndef TRUMPET_CONTROLLER_MEASURE_PROGRAM_ROUNDS_H
#define TRUMPET_CONTROLLER_MEASURE_PROGRAM_ROUNDS_H

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "lib/base/loop_event.h"
#include "lib/base/units.h"
#include "lib/wire/message.h"

namespace trumpet {

class ProgramRounds {
 public:
  static constexpr Nanos kPatience = 5 * kNanosPerSecond;

  // `error`: of the first host that failed; empty: all have done it.
  using Done = std::function<void(const std::string& error)>;

  explicit ProgramRounds(event_base* base);

  void Begin(const ProgramName& program, bool is_on, const std::set<std::string>& hosts, Done done);
  void OnAck(const std::string& host, const ProgramAck& ack);
  void OnHostGone(const std::string& host);
  // Ends all rounds.
  void Abort(const std::string& error);

  bool IsTurningOn(const ProgramName& program) const;

 private:
  struct Round {
    ProgramName program;
    bool is_on = false;
    std::set<std::string> waiting;  // for these
    std::string error;
    Done done;
    std::unique_ptr<LoopEvent> timer;
  };

  void Settle(Round* round, const std::string& host, const std::string& error);
  void Finish();

  event_base* const base_;
  std::vector<std::unique_ptr<Round>> rounds_;
  LoopEvent finisher_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_MEASURE_PROGRAM_ROUNDS_H
