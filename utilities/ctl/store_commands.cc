// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ostream>
#include <string>
#include <vector>

#include "utilities/ctl/commands.h"

namespace trumpet {

// Stores are those of analyzers, and their program knows them; it is not in every $PATH.
int MigrateCtlStore(const CtlInvocation& invocation, const CtlTerminal& terminal) {
  std::vector<std::string> words = {"trumpet-analyzer", "migrate"};
  for (const char* option : {"from", "to", "progress"}) {
    if (invocation.Has(option)) {
      words.push_back("--" + std::string(option) + "=" + invocation.Get(option));
    }
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  terminal.out->flush();
  for (const char* program :
       {"trumpet-analyzer", "/usr/sbin/trumpet-analyzer", "/usr/local/sbin/trumpet-analyzer"}) {
    execvp(program, arguments.data());
  }
  *terminal.err << "trumpetctl: cannot run trumpet-analyzer: " << std::strerror(errno)
                << "; stores are migrated where an analyzer is installed\n";
  return 1;
}

}  // namespace trumpet
