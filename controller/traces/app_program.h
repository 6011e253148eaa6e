// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// `trumpet-analyzer app`: what the traces of a store say together.
//
// Threads: one.  Returns when all is done.

#ifndef TRUMPET_CONTROLLER_TRACES_APP_PROGRAM_H
#define TRUMPET_CONTROLLER_TRACES_APP_PROGRAM_H

#include <iosfwd>
#include <string>
#include <vector>

namespace trumpet {

// As RunTraceProgram().
int RunAppProgram(const std::vector<std::string>& words, std::ostream* out, std::ostream* err);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_APP_PROGRAM_H
