// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Why a connection ended, in words for people.
//
// Threads: any; no state.

#ifndef TRUMPET_LIB_WIRE_STREAM_END_H
#define TRUMPET_LIB_WIRE_STREAM_END_H

#include <string>

#include "lib/wire/session.h"

struct bufferevent;

namespace trumpet {

struct StreamEnd {
  CloseCause cause = CloseCause::kByPeer;  // kTls, kConnect or kByPeer
  std::string text;
};

// For a callback of libevent that was told of error, end or timeout in `what`: the first thing that
// it calls, because errno tells half of it.  `is_connecting`: we were, perhaps to a name that
// nobody knows.
StreamEnd WhyStreamEnded(bufferevent* stream, int what, bool is_connecting);

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_STREAM_END_H
