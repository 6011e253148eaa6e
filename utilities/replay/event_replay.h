// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Runs events over captures, with the measurement programs that they read.

#ifndef TRUMPET_UTILITIES_REPLAY_EVENT_REPLAY_H
#define TRUMPET_UTILITIES_REPLAY_EVENT_REPLAY_H

#include <cstdio>

#include "lib/base/status.h"
#include "utilities/replay/replay_options.h"

namespace trumpet {

Status ReplayEvents(const ReplayOptions& options, std::FILE* out, std::FILE* err);

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_REPLAY_EVENT_REPLAY_H
