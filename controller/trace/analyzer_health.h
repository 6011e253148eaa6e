// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// AnalyzerHealth: which analyzers are alive, by when each was last heard.
//
//   away       not connected
//   silent     connected, and nothing has come from it for so long
//   returning  heard again, not long enough to be believed
//   alive
//
// Whoever asks must come round often: silence is what passes between two looks, at most kMaxStep
// each, so that a controller that was held up itself takes nobody for dead.
//
// In the beginning everybody who is heard is believed at once, until all are alive or the time for
// that is over; before that is_settled() is false, and nobody should act on who is not there yet.
//
// Threads: one.

#ifndef TRUMPET_CONTROLLER_TRACE_ANALYZER_HEALTH_H
#define TRUMPET_CONTROLLER_TRACE_ANALYZER_HEALTH_H

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/units.h"

namespace trumpet {

// An analyzer that is connected.
struct AnalyzerSign {
  std::string name;
  Nanos last_heard_at = 0;  // monotonic
};

struct AnalyzerHealthOptions {
  Nanos silence = 600 * kNanosPerMilli;
  Nanos return_after = 3 * kNanosPerSecond;
  Nanos settle = 10 * kNanosPerSecond;  // for those that must find the controller first
};

enum class AnalyzerState : uint8_t { kAway, kSilent, kReturning, kAlive };

const char* AnalyzerStateName(AnalyzerState state);

class AnalyzerHealth {
 public:
  static constexpr Nanos kMaxStep = 100 * kNanosPerMilli;

  AnalyzerHealth(const std::vector<std::string>& names, const AnalyzerHealthOptions& options);

  void Update(Nanos now, const std::vector<AnalyzerSign>& signs);

  bool is_settled() const { return is_settled_; }
  AnalyzerState state(size_t analyzer) const { return members_[analyzer].state; }
  bool is_alive(size_t analyzer) const { return state(analyzer) == AnalyzerState::kAlive; }
  std::vector<bool> Alive() const;
  // Monotonic; 0: never.
  Nanos last_heard_at(size_t analyzer) const { return members_[analyzer].heard_at; }

 private:
  struct Member {
    std::string name;
    AnalyzerState state = AnalyzerState::kAway;
    Nanos heard_at = 0;
    Nanos quiet = 0;
    Nanos steady = 0;  // of kReturning
  };

  void Look(Member* member, const AnalyzerSign* sign, Nanos step) const;

  const AnalyzerHealthOptions options_;
  std::vector<Member> members_;
  Nanos updated_at_ = 0;
  Nanos age_ = 0;
  bool is_settled_ = false;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACE_ANALYZER_HEALTH_H
