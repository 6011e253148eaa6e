// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// trumpet-analyzer migrate: copies stored traces from one place to another.
//
// Threads: one; pure but for the places and the streams.

#ifndef TRUMPET_CONTROLLER_TRACES_MIGRATE_PROGRAM_H
#define TRUMPET_CONTROLLER_TRACES_MIGRATE_PROGRAM_H

#include <iosfwd>
#include <string>
#include <vector>

namespace trumpet {

// As RunTraceProgram().
int RunMigrateProgram(const std::vector<std::string>& words, std::ostream* out, std::ostream* err);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_MIGRATE_PROGRAM_H
