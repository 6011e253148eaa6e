// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ReadInputFile: the text of a file that a command names.
//
// Threads: reads the file, so off the packet path.

#ifndef TRUMPET_VSWITCHD_PLUGIN_INPUT_FILE_H
#define TRUMPET_VSWITCHD_PLUGIN_INPUT_FILE_H

#include <string>

#include "lib/base/status.h"

namespace trumpet {

// At most 1 MiB, of a regular file with an absolute path.  The error names `what` ("events") and
// the path.
Result<std::string> ReadInputFile(const std::string& path, const std::string& what);

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_INPUT_FILE_H
