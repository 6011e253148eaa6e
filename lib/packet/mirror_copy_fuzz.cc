// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a copied packet: no read out of bounds, and what is inside lies within the frame.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "lib/packet/mirror_copy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> bytes(data, data + size);
  const auto length = static_cast<uint32_t>(size);
  for (const uint32_t cut : {0u, 100u}) {
    trumpet::MirrorCopy copy;
    const trumpet::Frame frame{bytes.data(), length, length + cut};
    if (ReadMirrorCopy(frame, &copy) != trumpet::CopyVerdict::kCopy) continue;
    const size_t begin = static_cast<size_t>(copy.inner - bytes.data());
    if (copy.inner_captured == 0 || begin + copy.inner_captured > size ||
        copy.inner_bytes < copy.inner_captured || copy.session > 0x3ff || copy.index > 0xfffff) {
      std::abort();
    }
  }
  return 0;
}
