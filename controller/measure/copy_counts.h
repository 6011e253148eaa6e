// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CopyCounts: what hosts tell of the packets that a measurement has collected, added up.
//
// A total never falls: what a host had told before it began anew, or before it went, stays in it.
//
// Threads: values; no state.  Memory: two lists of the program's endpoints for each host.

#ifndef TRUMPET_CONTROLLER_MEASURE_COPY_COUNTS_H
#define TRUMPET_CONTROLLER_MEASURE_COPY_COUNTS_H

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "lib/wire/program_message.h"

namespace trumpet {

class CopyCounts {
 public:
  // `endpoint_count`: of the program; a host may say anything.
  void Take(const std::string& host, const ProgramCounts& counts, size_t endpoint_count);

  // As it has told last; nothing if it has told nothing.
  std::optional<ProgramCopies> Of(const std::string& host) const;
  ProgramCopies Total() const;

 private:
  struct Host {
    Nanos since = 0;
    ProgramCopies now;
    ProgramCopies before;  // it began anew
  };
  std::map<std::string, Host> hosts_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_MEASURE_COPY_COUNTS_H
