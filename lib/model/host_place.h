// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// HostPlace: whose addresses are where, as one host needs it to know which packets are its to
// count (docs/adr/0015).

#ifndef TRUMPET_LIB_MODEL_HOST_PLACE_H
#define TRUMPET_LIB_MODEL_HOST_PLACE_H

#include <cstdint>
#include <vector>

#include "lib/packet/prefix.h"

namespace trumpet {

struct AddressSet {
  std::vector<Prefix> prefixes;
  std::vector<uint64_t> macs;  // 48 bits each

  bool operator==(const AddressSet& other) const {
    return prefixes == other.prefixes && macs == other.macs;
  }
};

// An address belongs to whoever has the longest prefix that holds it; what is own and monitored
// alike is own.
struct HostPlace {
  AddressSet own;        // of the workloads behind this host's edge ports
  AddressSet monitored;  // of those of all monitored hosts; this one's may be among them

  bool operator==(const HostPlace& other) const {
    return own == other.own && monitored == other.monitored;
  }
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MODEL_HOST_PLACE_H
