// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What must hold whatever a fuzzer brings; it ends the program if it does not.

#ifndef TRUMPET_LIB_BASE_FUZZ_REQUIRE_H
#define TRUMPET_LIB_BASE_FUZZ_REQUIRE_H

#include <cstdio>
#include <cstdlib>
#include <string>

namespace trumpet {

// `text` is what it was found in.
inline void Require(bool holds, const char* what, const std::string& text = "") {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", what, text.c_str());
  std::abort();
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_FUZZ_REQUIRE_H
