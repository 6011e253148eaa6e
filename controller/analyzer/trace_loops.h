// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Copies that a switch made more than once of a packet: because it is in a loop, or for other
// reasons.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_ANALYZER_TRACE_LOOPS_H
#define TRUMPET_CONTROLLER_ANALYZER_TRACE_LOOPS_H

#include <algorithm>

#include "controller/analyzer/trace_judge.h"

namespace trumpet {

inline bool IsSamePort(const TraceHop& a, const TraceHop& b) {
  return a.switch_number == b.switch_number && a.tag == b.tag;
}

inline bool Contains(const TraceStage& stage, uint16_t switch_number) {
  return std::find(stage.begin(), stage.end(), switch_number) != stage.end();
}

// Two copies are of the same port of a switch.
bool HasRepeats(const TracePass& pass);
// The packet, of which hops are in the order of their copies, is in a loop, of which `loop` and
// `loop_kind` tell then.
bool FindLoop(TracePass* pass);
// Of each port the first copy stays; the others are its duplicates.
void RemoveRepeats(TracePass* pass);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_TRACE_LOOPS_H
