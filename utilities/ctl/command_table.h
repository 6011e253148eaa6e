// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The commands of trumpetctl, with their arguments and options: what it takes, what its help and
// its completion list.

#ifndef TRUMPET_UTILITIES_CTL_COMMAND_TABLE_H
#define TRUMPET_UTILITIES_CTL_COMMAND_TABLE_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "utilities/ctl/option_range.h"

namespace trumpet {

constexpr uint32_t kMaxSwitchPort = 0xfeff;  // of those that IN_PORT has room for

// An option of one command, or of all.
struct CtlOption {
  const char* name;   // "replace"
  const char* value;  // "FILE"; null: it takes none
  const char* help;
  OptionRange numbers = {};  // that the value is one of; checked when the line is read
};

struct CtlCommand {
  const char* name;       // "event add"
  const char* arguments;  // "FILE..."
  const char* help;       // one line
  size_t min_arguments;
  size_t max_arguments;
  std::vector<CtlOption> options;
};

const std::vector<CtlCommand>& CtlCommands();
const std::vector<CtlOption>& CommonCtlOptions();

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_CTL_COMMAND_TABLE_H
