// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// `trumpet-analyzer traces`: captures of copies, or of what came to each switch -> traces.
//
// Threads: one.  Returns when all is done.

#ifndef TRUMPET_CONTROLLER_TRACES_TRACE_PROGRAM_H
#define TRUMPET_CONTROLLER_TRACES_TRACE_PROGRAM_H

#include <iosfwd>
#include <string>
#include <vector>

namespace trumpet {

// `words` are the arguments behind "traces".  Returns the exit status: 1 after an error, which
// stands on `err`.
int RunTraceProgram(const std::vector<std::string>& words, std::ostream* out, std::ostream* err);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_TRACE_PROGRAM_H
