// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// StoredSegment: what a stored packet is to its connection: numbers, flags, and what it carries, as
// much of that as was kept.
//
// Threads: pure function.

#ifndef TRUMPET_CONTROLLER_TRACES_STORED_SEGMENT_H
#define TRUMPET_CONTROLLER_TRACES_STORED_SEGMENT_H

#include <cstdint>
#include <optional>

#include "controller/store/trace_store.h"

namespace trumpet {

struct StoredSegment {
  uint32_t sequence = 0;
  uint8_t flags = 0;
  const uint8_t* data = nullptr;  // borrowed from the trace
  uint32_t captured = 0;          // of `bytes`
  uint32_t bytes = 0;             // as IP states
};

// Of the innermost IP header; nullopt: it is not TCP, or less of it was kept than a header.
std::optional<StoredSegment> ReadStoredSegment(const StoredTrace& trace);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_STORED_SEGMENT_H
