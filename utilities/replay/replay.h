// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// trumpet-replay as a function, so that tests can call it.

#ifndef TRUMPET_UTILITIES_REPLAY_REPLAY_H
#define TRUMPET_UTILITIES_REPLAY_REPLAY_H

#include <cstdio>
#include <string>
#include <vector>

namespace trumpet {

constexpr int kExitOk = 0;
constexpr int kExitInput = 1;
constexpr int kExitUsage = 2;

// Runs the command with the arguments after its name; reports go to `out`, messages to `err`.
// Returns the exit status.
int RunReplay(const std::vector<std::string>& arguments, std::FILE* out, std::FILE* err);

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_REPLAY_REPLAY_H
