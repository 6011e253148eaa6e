// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a copy for a trace: no read out of bounds, the origin fits its bits, and the short
// way to read it agrees with the long one.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "controller/analyzer/copy_kit_test.h"
#include "controller/analyzer/trace_copy.h"
#include "controller/analyzer/usual_copy.h"
#include "lib/model/slice_spec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> bytes(data, data + size);
  const auto length = static_cast<uint32_t>(size);
  trumpet::TraceCopy copy;
  const trumpet::TraceVerdict verdict = ReadTraceCopy({bytes.data(), length, length}, 1, {}, &copy);
  // The short way says the same as the long one, or nothing.
  trumpet::TraceCopy usual;
  const bool is_usual = ReadUsualCopy({bytes.data(), length, length}, 1, {}, &usual);
  trumpet::TraceCopy any;
  const trumpet::TraceVerdict same = ReadAnyTraceCopy({bytes.data(), length, length}, 1, {}, &any);
  if (same != verdict || (is_usual && verdict != trumpet::TraceVerdict::kCopy)) std::abort();
  if (is_usual && !AreSame(usual, any)) std::abort();
  trumpet::TraceCopy frame;
  ReadTraceFrame({bytes.data(), length, length}, 1, 7, {}, &frame);
  if (frame.captured > length) std::abort();
  if (verdict != trumpet::TraceVerdict::kCopy) return 0;
  if (copy.hop.tag > trumpet::kMaxSliceTag || copy.hop.time != 1) std::abort();
  return 0;
}
