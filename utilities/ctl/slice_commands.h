// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The commands of trumpetctl that plan slices; those that need no controller.

#ifndef TRUMPET_UTILITIES_CTL_SLICE_COMMANDS_H
#define TRUMPET_UTILITIES_CTL_SLICE_COMMANDS_H

#include "utilities/ctl/commands.h"

namespace trumpet {

// Returns the exit status, as RunCtl() does.
int RunSliceCommand(const CtlInvocation& invocation, const CtlTerminal& terminal);

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_CTL_SLICE_COMMANDS_H
