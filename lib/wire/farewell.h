// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Why a session ended or was refused, and that in words: "too slow: peer reads too slowly".
//
// Threads: any; these are functions of the message alone.

#ifndef TRUMPET_LIB_WIRE_FAREWELL_H
#define TRUMPET_LIB_WIRE_FAREWELL_H

#include <cstddef>
#include <cstdint>
#include <string>

#include "lib/wire/message.h"

namespace trumpet {

enum class CloseCause : uint8_t {
  kByUs,              // Close() was called
  kByPeer,            // the connection ended without a word
  kBye,               // the peer took its leave; the text says why
  kRefused,           // the controller did not take us in
  kConnect,           // there was no connection at all
  kTls,               // not whom we believe, or not speaking TLS
  kProtocol,          // the peer sent what is not allowed
  kHandshakeTimeout,  // no hello in time
  kFrameTimeout,      // a frame was begun and not ended in time
  kKeepAliveTimeout,  // a question of ours was not answered: half open, stalled, or not reading
  kStuck,             // even what must be sent did not fit into the queue
};
constexpr size_t kCloseCauseCount = 11;

// "by-us", "keep-alive-timeout", ...
const char* CloseCauseName(CloseCause cause);

std::string FarewellOf(ByeReason reason, const std::string& text);
std::string FarewellOf(const Bye& bye);
std::string FarewellOf(const Refusal& refusal);

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_FAREWELL_H
