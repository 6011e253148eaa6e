// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Which message may go which way, and when: what a Session holds both sides to.
//
// Threads: any; these are functions of the kind alone.

#ifndef TRUMPET_LIB_WIRE_MESSAGE_RULES_H
#define TRUMPET_LIB_WIRE_MESSAGE_RULES_H

#include <cstdint>

#include "lib/wire/message.h"

namespace trumpet {

// An agent's, or an analyzer's, to send once the session is established.
bool IsFromAgent(MessageKind kind);

// The controller's to send once the session is established.
bool IsFromController(MessageKind kind);

// Of what it is usual to send several, up to the end of the interval.
bool MayWait(MessageKind kind);

// The capability that both must have for it; 0: none.
uint64_t CapabilityFor(MessageKind kind);

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_MESSAGE_RULES_H
