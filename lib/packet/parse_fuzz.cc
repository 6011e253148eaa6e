// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a frame: no read out of bounds, and the same answer as the
// reference parser.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "lib/packet/reference_parse.h"

using trumpet::Describe;
using trumpet::Frame;
using trumpet::ParsedPacket;
using trumpet::ParseOptions;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> captured(data, data + size);
  const uint32_t length = static_cast<uint32_t>(size);
  const ParseOptions options;
  ParsedPacket packet;
  ParsePacket(Frame{captured.data(), length, length}, options, &packet);
  const std::string fast = Describe(packet);
  const std::string slow = Describe(ReferenceParse(captured, length, options));
  if (fast != slow) {
    std::fprintf(stderr, "ParsePacket:\n%sReferenceParse:\n%s", fast.c_str(), slow.c_str());
    std::abort();
  }
  return 0;
}
