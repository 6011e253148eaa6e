// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// KnownCaptures: which captures a store has links of, so that nobody counts them twice.
//
// Captures that are analyzed together are known by what they contain, in any order.
//
// Threads: one; it reads the captures.

#ifndef TRUMPET_CONTROLLER_TRACES_KNOWN_CAPTURES_H
#define TRUMPET_CONTROLLER_TRACES_KNOWN_CAPTURES_H

#include <string>
#include <utility>
#include <vector>

#include "lib/base/status.h"

namespace trumpet {

class KnownCaptures {
 public:
  // "-" among the paths cannot be read twice: then they are never known.
  static Result<KnownCaptures> Read(const std::string& folder,
                                    const std::vector<std::string>& paths);

  bool are_known() const { return are_known_; }
  // Adds them to captures.txt in the folder, a line each.
  Status Keep() const;

 private:
  KnownCaptures(std::string path, std::string hash)
      : path_(std::move(path)), hash_(std::move(hash)) {}

  std::string path_;
  std::string hash_;  // empty: cannot be known
  bool are_known_ = false;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_KNOWN_CAPTURES_H
