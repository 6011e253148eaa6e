// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RunCtl: does what a command line of trumpetctl says, by the controller's API.

#ifndef TRUMPET_UTILITIES_CTL_COMMANDS_H
#define TRUMPET_UTILITIES_CTL_COMMANDS_H

#include <iosfwd>
#include <string>

#include "utilities/ctl/options.h"

namespace trumpet {

struct CtlTerminal {
  std::istream* in = nullptr;
  std::ostream* out = nullptr;
  std::ostream* err = nullptr;
  bool out_has_colors = false;  // a terminal, and NO_COLOR is not set
  bool out_is_terminal = false;
  bool err_is_terminal = false;
};

// Returns the exit status: 0 done, 1 it could not be done, 2 wrong usage.
int RunCtl(const CtlInvocation& invocation, const CtlTerminal& terminal);

// Becomes trumpet-analyzer, which copies its traces from one place to another; returns if it
// cannot.
int MigrateCtlStore(const CtlInvocation& invocation, const CtlTerminal& terminal);

// RFC 3339 ("2026-11-21T12:00:00Z", "2026-11-21") or nanoseconds of Unix time, as the latter.
Result<std::string> ParseCtlTime(const std::string& text);

// Is what it is told about the token what it takes?
Status CheckCtlToken(const CtlInvocation& invocation);
// Of an invocation that has passed it: a new token, and what goes into the file of tokens.
Result<std::pair<std::string, std::string>> MakeCtlToken(const CtlInvocation& invocation);

// Puts `entry`, of a token of that name, at the end of a file of tokens, which is made if it is not
// there.  The file stays as it was if it would not be one afterwards.
Status AppendCtlToken(const std::string& path, const std::string& name, const std::string& entry);

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_CTL_COMMANDS_H
