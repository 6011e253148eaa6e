// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/ctl/slice_commands.h"

#include <cstdlib>
#include <ostream>

#include "utilities/ctl/slice_cases.h"

namespace trumpet {
namespace {

int Fail(const CtlTerminal& terminal, const std::string& text) {
  *terminal.err << "trumpetctl: " << text << "\n";
  return 1;
}

int Solve(const CtlInvocation& invocation, const CtlTerminal& terminal) {
  SliceCaseOptions options;
  options.topologies = invocation.Get("topologies", ".");
  options.source_name = "cases";
  const std::string seconds = invocation.Get("seconds", "5");
  char* end = nullptr;
  options.seconds = std::strtod(seconds.c_str(), &end);
  if (seconds.empty() || *end != '\0' || !(options.seconds > 0 && options.seconds <= 3600)) {
    return Fail(terminal, "--seconds is '" + seconds + "'; it takes more than 0, up to 3600");
  }
  const uint64_t wrong = AnswerSliceCases(*terminal.in, *terminal.out, options);
  if (wrong == 0) return 0;
  return Fail(terminal, std::to_string(wrong) + " lines are no cases; their answers say why");
}

}  // namespace

int RunSliceCommand(const CtlInvocation& invocation, const CtlTerminal& terminal) {
  return Solve(invocation, terminal);
}

}  // namespace trumpet
