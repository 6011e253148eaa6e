// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as RoCE and as frames that stop a sender: what is said of them agrees with itself.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "lib/packet/roce.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> bytes(data, data + size);
  for (const auto begin : {trumpet::LayerKind::kEthernet, trumpet::LayerKind::kIpv4}) {
    trumpet::Layers layers;
    ReadLayers(bytes.data(), static_cast<uint32_t>(size), begin, {}, &layers);
    for (int first = 0; first < layers.count; ++first) {
      trumpet::RocePacket roce;
      const auto verdict = ReadRoce(bytes.data(), layers, first, &roce);
      const auto icrc = CheckIcrc(bytes.data(), layers, first);
      const auto control = ReadMacControl(bytes.data(), layers, first);
      const bool is_roce = verdict != trumpet::RoceVerdict::kOther;
      if (!is_roce && icrc != trumpet::IcrcVerdict::kUnknown) std::abort();
      if (is_roce && control) std::abort();
      if (verdict != trumpet::RoceVerdict::kRoce) continue;
      if (roce.queue_pair >> 24 != 0 || roce.sequence >> 24 != 0) std::abort();
      if (roce.payload_bytes > 65535 || roce.pad_bytes > 3) std::abort();
      if (trumpet::RoceOpcodeName(roce.opcode).empty()) std::abort();
    }
  }
  return 0;
}
