// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What trumpetctl is told: by arguments, by the environment, by ~/.config/trumpet/trumpetctl.yaml;
// the first that says something holds.

#ifndef TRUMPET_UTILITIES_CTL_OPTIONS_H
#define TRUMPET_UTILITIES_CTL_OPTIONS_H

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/status.h"
#include "utilities/ctl/command_table.h"

namespace trumpet {

enum class OutputFormat : uint8_t { kTable, kJson, kYaml };

struct CtlInvocation {
  const CtlCommand* command = nullptr;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> options;    // of the command
  std::string server = "http://127.0.0.1:8650";  // where a controller is that was told nothing
  std::string token_file;
  std::string ca_file;
  OutputFormat output = OutputFormat::kTable;
  std::string help;  // to be printed instead of doing anything

  bool Has(const std::string& option) const { return options.count(option) != 0; }
  std::string Get(const std::string& option, const std::string& otherwise = "") const;
  // Of options that take numbers, which were in their range when the line was read.
  uint64_t Whole(const std::string& option, uint64_t otherwise) const;
  double Decimal(const std::string& option, double otherwise) const;
};

using Environment = std::function<std::string(const char* name)>;  // empty: not set

// Errors are mistakes in the usage.  `config_text` is that of the user's file, or empty.
Result<CtlInvocation> ParseCtlArguments(const std::vector<std::string>& arguments,
                                        const Environment& environment,
                                        std::string_view config_text,
                                        const std::string& config_name);

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_CTL_OPTIONS_H
