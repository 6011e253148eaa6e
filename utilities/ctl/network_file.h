// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Maps from files.

#ifndef TRUMPET_UTILITIES_CTL_NETWORK_FILE_H
#define TRUMPET_UTILITIES_CTL_NETWORK_FILE_H

#include <string>

#include "controller/plan/slice/network.h"

namespace trumpet {

// The whole of a file of at most `most_bytes`.
Result<std::string> ReadBoundedFile(const std::string& path, size_t most_bytes);

// By the ending of its name: .edges, .gml, .yaml or .yml.
Result<slice::Network> ReadNetworkFile(const std::string& path);

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_CTL_NETWORK_FILE_H
