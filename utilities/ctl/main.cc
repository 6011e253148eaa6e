// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// trumpetctl: the event manager from the command line.

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

#include "utilities/ctl/commands.h"
#include "utilities/ctl/options.h"

namespace trumpet {
namespace {

std::string FromEnvironment(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

std::string ConfigPath() {
  const std::string home = FromEnvironment("XDG_CONFIG_HOME");
  return (home.empty() ? FromEnvironment("HOME") + "/.config" : home) + "/trumpet/trumpetctl.yaml";
}

// What was not written was not said.
int Finish(int status) {
  std::cout.flush();
  if (std::cout) return status;
  std::cerr << "trumpetctl: standard output cannot be written\n";
  return status == 0 ? 1 : status;
}

int Main(int argc, char** argv) {
  std::ifstream file(ConfigPath(), std::ios::binary);
  const std::string config((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
  const auto invocation = ParseCtlArguments(std::vector<std::string>(argv + 1, argv + argc),
                                            FromEnvironment, config, ConfigPath());
  if (!invocation) {
    std::cerr << "trumpetctl: " << invocation.message() << "\n";
    return 2;
  }
  if (!invocation->help.empty()) {
    std::cout << invocation->help;
    return Finish(0);
  }
  CtlTerminal terminal;
  terminal.in = &std::cin;
  terminal.out = &std::cout;
  terminal.err = &std::cerr;
  terminal.out_is_terminal = isatty(STDOUT_FILENO) == 1;
  terminal.out_has_colors = terminal.out_is_terminal && FromEnvironment("NO_COLOR").empty();
  terminal.err_is_terminal = isatty(STDERR_FILENO) == 1;
  return Finish(RunCtl(*invocation, terminal));
}

}  // namespace
}  // namespace trumpet

int main(int argc, char** argv) { return trumpet::Main(argc, argv); }
