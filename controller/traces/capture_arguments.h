// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What arguments say of captures, and of the switches that they are from.
//
// Threads: pure functions, which read the topology's file.

#ifndef TRUMPET_CONTROLLER_TRACES_CAPTURE_ARGUMENTS_H
#define TRUMPET_CONTROLLER_TRACES_CAPTURE_ARGUMENTS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/plan/topology.h"
#include "controller/traces/arguments.h"
#include "controller/traces/switch_book.h"
#include "lib/base/status.h"

namespace trumpet {

struct PlacedCapture {
  std::string path;                       // - is standard input
  std::optional<uint16_t> switch_number;  // whose frames it has, as they came; none: copies
};

struct CaptureArguments {
  std::vector<PlacedCapture> captures;  // at least one
  SwitchBook switches;
  std::optional<Topology> topology;

  std::vector<std::string> paths() const;
};

// Of --switch=NAME=NUMBER, --topology=FILE, --hop=NAME=CAPTURE and the files.  Switches that have a
// number there have it before those of the topology, and those of hops, get theirs.
Result<CaptureArguments> ReadCaptureArguments(const Arguments& arguments);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_CAPTURE_ARGUMENTS_H
