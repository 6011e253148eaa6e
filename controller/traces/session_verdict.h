// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What a session of BGP came to, and on which of its connections that rests.
//
// Threads: pure function.

#ifndef TRUMPET_CONTROLLER_TRACES_SESSION_VERDICT_H
#define TRUMPET_CONTROLLER_TRACES_SESSION_VERDICT_H

#include <array>
#include <cstddef>
#include <string_view>

#include "controller/traces/bgp_sessions.h"

namespace trumpet {

// From what is worst to what is well.
enum class SessionVerdict : uint8_t {
  kFlapping,   // it was established and ended, twice or more
  kHoldTimer,  // ended, for one side had heard nothing
  kClosed,     // ended otherwise
  kSilent,     // established, and one side has said nothing for longer than the hold time
  kRefused,    // never established: one side closed what the other had opened
  kOneWay,     // only packets of one side were seen
  kNotRead,    // none of one side's messages could be read
  kOpening,    // not established yet
  kEstablished,
};
constexpr std::array<std::string_view, 9> kSessionVerdicts = {
    "flapping", "hold_timer", "closed",  "silent",     "refused",
    "one_way",  "not_read",   "opening", "established"};

struct SessionState {
  SessionVerdict verdict = SessionVerdict::kOpening;
  // The last one that was established, else the last one that did not just make room for another
  // one; never null, but for a session without a connection, which there is none of.
  const BgpConnection* connection = nullptr;
  uint64_t attempts = 0;  // behind it, if it was established
  int side = -1;          // kOneWay: who was seen; kNotRead, kSilent: whose
  bool is_up = false;
};

// `now`: until when packets were looked at.
SessionState JudgeSession(const BgpSession& session, Nanos now);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_SESSION_VERDICT_H
