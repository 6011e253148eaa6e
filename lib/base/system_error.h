// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SystemError: what the last call of the system failed with (errno), behind what was being done.

#ifndef TRUMPET_LIB_BASE_SYSTEM_ERROR_H
#define TRUMPET_LIB_BASE_SYSTEM_ERROR_H

#include <cerrno>
#include <cstring>
#include <string>

#include "lib/base/status.h"

namespace trumpet {

inline Status SystemError(const std::string& what) {
  return Status::Error(what + ": " + std::strerror(errno));
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_SYSTEM_ERROR_H
