// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes: DecodeLldp() stays within them, and believes only what EncodeLldp() writes.

#include <cstdint>
#include <cstdlib>

#include "controller/topology/lldp.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  trumpet::LldpIdentity identity;
  identity.speaker = 1;
  trumpet::LldpProbe probe;
  if (trumpet::DecodeLldp(data, size, identity, &probe) != trumpet::LldpVerdict::kOurs) return 0;
  const auto frame = trumpet::EncodeLldp(probe, identity);
  trumpet::LldpProbe again;
  if (trumpet::DecodeLldp(frame.data(), frame.size(), identity, &again) !=
          trumpet::LldpVerdict::kOurs ||
      again.from != probe.from || again.nonce != probe.nonce) {
    std::abort();
  }
  return 0;
}
