// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// trumpet-analyzer roce: the RoCEv2 debugger over captures of all packets.
//
// Threads: one.

#ifndef TRUMPET_CONTROLLER_TRACES_ROCE_PROGRAM_H
#define TRUMPET_CONTROLLER_TRACES_ROCE_PROGRAM_H

#include <iosfwd>
#include <string>
#include <vector>

namespace trumpet {

// 0, or 1 and a line of why.  `words` are those behind "roce".
int RunRoceProgram(const std::vector<std::string>& words, std::ostream* out, std::ostream* err);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_ROCE_PROGRAM_H
