// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MeasurementPlace: what a measurement program is told of the place of its switch in the network.
//
// Threads: values; no state.

#ifndef TRUMPET_LIB_MODEL_MEASURE_PLACE_H
#define TRUMPET_LIB_MODEL_MEASURE_PLACE_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trumpet {

constexpr size_t kMaxEdgePorts = 1024;
// Copies of one program that leave the switch in a second.
constexpr uint32_t kDefaultCopiesPerSecond = 10000;
constexpr uint32_t kMaxCopiesPerSecond = 100000;

// By names of endpoints; lib/wire/copy_address.h says how an address is written.
using EndpointAddresses = std::map<std::string, std::string>;

// Said by who installs the program.
struct MeasurementPlace {
  // Names of ports, or patterns with * and ?; those that do not exist yet count later.  An empty
  // list: the switch has none.  None: all ports but uplinks and tunnels.
  std::optional<std::vector<std::string>> edges;
  std::optional<uint8_t> switch_id;  // what switch.id reads as
  bool is_lab = false;               // header checksums may be used (lib/measure/carried_tags.h)
  EndpointAddresses endpoints;       // copies for others stay at the switch
  uint32_t copies_per_second = kDefaultCopiesPerSecond;  // not 0
  // No packet begins to carry tags in its header yet: not all switches run the program.
  bool holds_tags = false;

  bool tells_of_copies() const {
    return !endpoints.empty() || copies_per_second != kDefaultCopiesPerSecond;
  }
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MODEL_MEASURE_PLACE_H
