// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// For tests and fuzzers: whether two ways to read copies say the same.

#ifndef TRUMPET_CONTROLLER_ANALYZER_COPY_KIT_TEST_H
#define TRUMPET_CONTROLLER_ANALYZER_COPY_KIT_TEST_H

#include "controller/analyzer/trace_copy.h"

namespace trumpet {

inline bool AreSame(const TraceHop& a, const TraceHop& b) {
  return a.time == b.time && a.tag == b.tag && a.sequence == b.sequence &&
         a.switch_number == b.switch_number && a.ttl == b.ttl && a.outer_ttl == b.outer_ttl &&
         a.has_sequence == b.has_sequence;
}

inline bool AreSame(const TraceCopy& a, const TraceCopy& b) {
  return a.key == b.key && a.flow == b.flow && AreSame(a.hop, b.hop) &&
         a.packet.flow == b.packet.flow && a.packet.wire_bytes == b.packet.wire_bytes &&
         a.packet.marks == b.packet.marks && a.bytes == b.bytes && a.captured == b.captured;
}

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_COPY_KIT_TEST_H
