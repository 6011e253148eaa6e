// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ReadTextFile: a file as a whole, up to a limit.

#ifndef TRUMPET_LIB_BASE_TEXT_FILE_H
#define TRUMPET_LIB_BASE_TEXT_FILE_H

#include <cstddef>
#include <string>

#include "lib/base/status.h"

namespace trumpet {

// At most one byte more than `max_bytes`, by which the caller knows that it is too long.
Result<std::string> ReadTextFile(const std::string& path, size_t max_bytes);

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_TEXT_FILE_H
