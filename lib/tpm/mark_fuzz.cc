// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as slices and batches: see slice_script_test.h.

#include <cstdio>
#include <cstdlib>

#include "lib/tpm/slice_script_test.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  trumpet::fuzz::Bytes in(data, size);
  const std::string wrong = trumpet::fuzz::SliceScript(&in).Run();
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "mark_fuzz: %s\n", wrong.c_str());
  std::abort();
}
