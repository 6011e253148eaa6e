// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "utilities/replay/replay.h"

int main(int argc, char** argv) {
  return trumpet::RunReplay(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc),
                            stdout, stderr);
}
