// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Runs a measurement program over a capture, as on one switch or, if it has roles, on three in a
// row.

#ifndef TRUMPET_UTILITIES_REPLAY_PROGRAM_REPLAY_H
#define TRUMPET_UTILITIES_REPLAY_PROGRAM_REPLAY_H

#include <cstdio>

#include "lib/base/status.h"
#include "utilities/replay/replay_options.h"

namespace trumpet {

Status ReplayProgram(const ReplayOptions& options, std::FILE* out, std::FILE* err);

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_REPLAY_PROGRAM_REPLAY_H
