// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What analyzers are told of slices, and what they tell of their copies.
//
// Threads: values; no state.

#ifndef TRUMPET_LIB_MODEL_SLICE_COPIES_H
#define TRUMPET_LIB_MODEL_SLICE_COPIES_H

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/units.h"
#include "lib/packet/prefix.h"

namespace trumpet {

// One query of a campaign in one slot.
struct ExpectedSlice {
  uint32_t tag = 0;
  uint64_t run = 0;    // of the campaign, given by the controller; rises
  uint32_t slot = 0;   // from 0
  uint32_t query = 0;  // of the run
  std::string name;    // of the query; may be empty
  bool is_confine = false;
  Prefix prefix;                       // of the destinations
  std::vector<std::string> path;       // MIRROR: routers in order; CONFINE: the region
  std::vector<std::string> locations;  // routers that copy; MIRROR: in order of the path
  std::vector<uint16_t> numbers;       // of the locations, as their copies carry them (SliceGreKey)
  Nanos start = 0;                     // wall clock
  Nanos end = 0;
};

// How long copies of a router take to the analyzer, as measured by probes.
struct CopyLatency {
  std::string switch_name;
  Nanos latency = 0;
  Nanos error = 0;  // the truth lies within latency +- error
};

// Copies of a slice that came from one switch, up to now.
struct SliceTally {
  uint32_t tag = 0;
  std::string switch_name;
  uint64_t packets = 0;
  uint64_t bytes = 0;       // of the packets copied, on the wire
  uint64_t copy_bytes = 0;  // with their tunnel headers: what the budget pays
  Nanos first = 0;          // arrival at the analyzer, wall clock of the controller
  Nanos last = 0;           // likewise
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MODEL_SLICE_COPIES_H
