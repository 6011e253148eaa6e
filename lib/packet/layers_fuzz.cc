// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as layers: each lies behind the one before it and within what was captured.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "lib/packet/layers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> bytes(data, data + size);
  for (const auto first : {trumpet::LayerKind::kEthernet, trumpet::LayerKind::kIpv4}) {
    trumpet::Layers layers;
    ReadLayers(bytes.data(), static_cast<uint32_t>(size), first, {}, &layers);
    uint32_t at = 0;
    for (int i = 0; i < layers.count; ++i) {
      const trumpet::Layer& layer = layers.list[static_cast<size_t>(i)];
      if (layer.at != at || layer.kind == trumpet::LayerKind::kPayload) std::abort();
      at += layer.bytes;
    }
    const bool is_within = layers.payload_at >= at && layers.payload_at <= layers.payload_end &&
                           layers.payload_end <= size;
    if (at > size || !is_within) std::abort();
  }
  return 0;
}
