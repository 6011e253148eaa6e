// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Arguments of the programs inside trumpet-analyzer: --name=value or --name value, and files.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_TRACES_ARGUMENTS_H
#define TRUMPET_CONTROLLER_TRACES_ARGUMENTS_H

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/status.h"
#include "lib/base/units.h"

namespace trumpet {

struct KnownArgument {
  std::string_view name;  // "--store"
  bool takes_value = true;
};

struct Arguments {
  std::vector<std::pair<std::string, std::string>> options;  // in their order
  std::vector<std::string> files;

  bool Has(std::string_view name) const;
};

Result<Arguments> ReadArguments(const std::vector<std::string>& words,
                                const std::vector<KnownArgument>& known);

// A whole program: -h and --help, which it knows besides `known`, show `usage`; `run` does what
// else is asked.  Returns the exit status.
int RunProgram(const std::vector<std::string>& words, std::vector<KnownArgument> known,
               const char* usage, const std::function<Status(const Arguments&)>& run,
               std::ostream* out, std::ostream* err);

// "NAME=VALUE" in two; the first is empty if there is no "=".
std::pair<std::string, std::string> SplitAtEquals(const std::string& text);
// Digits only, `least` to `most`; `what` begins the error.
Result<uint64_t> ReadCount(const std::string& what, const std::string& text, uint64_t least,
                           uint64_t most);
// "1500ms", "2s", "10us", "5ns"; at most an hour.
Result<Nanos> ReadSpan(const std::string& what, const std::string& text);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_ARGUMENTS_H
