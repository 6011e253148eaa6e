// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/session_verdict.h"

namespace trumpet {
namespace {

constexpr uint64_t kFlaps = 2;

// Who was silent for longer than the hold time; -1: nobody.
int SilentSide(const BgpConnection& connection, Nanos now) {
  const auto hold = connection.hold_seconds();
  if (!hold || *hold == 0) return -1;
  for (const int side : {0, 1}) {
    if (connection.Silence(side, now) > *hold * kNanosPerSecond) return side;
  }
  return -1;
}

// Something was carried, and no message of it could be read.
int UnreadSide(const BgpSession& session) {
  for (const int side : {0, 1}) {
    const BgpSideSums sums = session.sums(side);
    if (sums.carried_bytes > 0 && sums.messages == 0) return side;
  }
  return -1;
}

int OnlySide(const BgpSession& session) {
  for (const int side : {0, 1}) {
    if (session.sums(1 - side).packets == 0) return side;
  }
  return -1;
}

void FindConnection(const BgpSession& session, SessionState* state) {
  for (const auto& [ports, connection] : session.connections()) {
    if (connection.established() != 0) {
      state->connection = &connection;
    } else if (!connection.has_collided()) {
      const bool has_one = state->connection != nullptr && state->connection->established() != 0;
      if (!has_one) state->connection = &connection;
    }
  }
  if (state->connection == nullptr) state->connection = &session.connections().back().second;
  if (state->connection->established() == 0) return;
  state->attempts = session.outcomes().connections - state->connection->number();
}

SessionVerdict VerdictOfEnd(const BgpConnection& connection) {
  const bool is_hold_timer = connection.close() == BgpClose::kNotification &&
                             connection.notification().code == kBgpHoldTimerExpired;
  return is_hold_timer ? SessionVerdict::kHoldTimer : SessionVerdict::kClosed;
}

}  // namespace

SessionState JudgeSession(const BgpSession& session, Nanos now) {
  SessionState state;
  FindConnection(session, &state);
  const BgpConnection& connection = *state.connection;
  const bool is_open = connection.close() == BgpClose::kNone;
  state.is_up = is_open && connection.established() != 0;
  state.side = OnlySide(session);
  if (state.side >= 0) {
    state.verdict = SessionVerdict::kOneWay;
    return state;
  }
  state.side = UnreadSide(session);
  if (state.side >= 0) {
    state.verdict = SessionVerdict::kNotRead;
    return state;
  }
  state.side = state.is_up ? SilentSide(connection, now) : -1;
  if (session.outcomes().ended >= kFlaps) {
    state.verdict = SessionVerdict::kFlapping;
  } else if (state.side >= 0) {
    state.verdict = SessionVerdict::kSilent;
  } else if (state.is_up) {
    state.verdict = SessionVerdict::kEstablished;
  } else if (connection.established() != 0) {
    state.verdict = VerdictOfEnd(connection);
  } else if (!is_open) {
    state.verdict = SessionVerdict::kRefused;
  }
  return state;
}

}  // namespace trumpet
