// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/ctl/command_help.h"

#include <algorithm>
#include <vector>

namespace trumpet {
namespace {

std::string PadTo(std::string text, size_t width) {
  text.resize(std::max(text.size() + 2, width), ' ');
  return text;
}

std::string DescribeOptions(const std::vector<CtlOption>& options) {
  std::string text;
  for (const CtlOption& option : options) {
    std::string left = std::string("  --") + option.name;
    if (option.value != nullptr) left += std::string("=") + option.value;
    text += PadTo(left, 26) + option.help + "\n";
  }
  return text;
}

std::string DescribeCommand(const CtlCommand& command) {
  return PadTo(std::string("  ") + command.name + " " + command.arguments, 34) + command.help +
         "\n";
}

}  // namespace

std::string CtlHelpOfAll(const std::string& words) {
  const std::string begin = words + " ";
  std::string text;
  for (const CtlCommand& command : CtlCommands()) {
    if (std::string(command.name).compare(0, begin.size(), begin) == 0) {
      text += DescribeCommand(command);
    }
  }
  if (text.empty()) return "";
  return "usage: trumpetctl [OPTION]... COMMAND [ARGUMENT]...\n\nCommands:\n" + text +
         "\nCOMMAND --help lists the options of one.\n\nOptions of all commands:\n" +
         DescribeOptions(CommonCtlOptions());
}

std::string GeneralCtlHelp() {
  std::string text =
      "trumpetctl: events of a network, and where they occur\n"
      "usage: trumpetctl [OPTION]... COMMAND [ARGUMENT]...\n\nCommands:\n";
  for (const CtlCommand& command : CtlCommands()) text += DescribeCommand(command);
  return text + "\nOptions of all commands:\n" + DescribeOptions(CommonCtlOptions()) +
         "\nTRUMPET_SERVER, TRUMPET_TOKEN_FILE and TRUMPET_CA say the same as options, and so do\n"
         "server, token-file, ca and output in ~/.config/trumpet/trumpetctl.yaml.\n"
         "Exit status: 0 done, 1 it could not be done, 2 wrong usage.\n";
}

std::string CtlHelpOf(const CtlCommand& command) {
  std::string text = std::string("trumpetctl ") + command.name + ": " + command.help +
                     "\nusage: trumpetctl " + command.name + " [OPTION]... " + command.arguments +
                     "\n";
  if (!command.options.empty()) text += "\nOptions:\n" + DescribeOptions(command.options);
  return text + "\nOptions of all commands:\n" + DescribeOptions(CommonCtlOptions());
}

}  // namespace trumpet
