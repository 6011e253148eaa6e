// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What trumpetctl --help prints.

#ifndef TRUMPET_UTILITIES_CTL_COMMAND_HELP_H
#define TRUMPET_UTILITIES_CTL_COMMAND_HELP_H

#include <string>

#include "utilities/ctl/command_table.h"

namespace trumpet {

// All commands, a line each, and the options of all.
std::string GeneralCtlHelp();
// Those whose names begin with these words, likewise; empty if there are none.
std::string CtlHelpOfAll(const std::string& words);
// One command, its arguments and options.
std::string CtlHelpOf(const CtlCommand& command);

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_CTL_COMMAND_HELP_H
