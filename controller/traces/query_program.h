// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// `trumpet-analyzer query`: traces of a store, as JSON and as a capture.
//
// Threads: one.  Returns when all is done.

#ifndef TRUMPET_CONTROLLER_TRACES_QUERY_PROGRAM_H
#define TRUMPET_CONTROLLER_TRACES_QUERY_PROGRAM_H

#include <iosfwd>
#include <string>
#include <vector>

namespace trumpet {

// As RunTraceProgram().
int RunQueryProgram(const std::vector<std::string>& words, std::ostream* out, std::ostream* err);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_QUERY_PROGRAM_H
