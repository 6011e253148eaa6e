// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ProgramCopies: what became of the packets that a measurement program has collected at a switch.
//
// Once the switch has taken in what was collected,
//
//   collected = lost + unbound + (sent + over_rate + failed of all endpoints)
//
// Threads: values; no state.

#ifndef TRUMPET_LIB_MODEL_MEASURE_COPIES_H
#define TRUMPET_LIB_MODEL_MEASURE_COPIES_H

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace trumpet {

// Of an endpoint that has an address.
struct EndpointCopies {
  uint64_t sent = 0;
  uint64_t over_rate = 0;  // beyond MeasurementPlace::copies_per_second
  uint64_t failed = 0;     // the machine did not take it, or the other end is not there

  void Add(const EndpointCopies& other) {
    sent += other.sent;
    over_rate += other.over_rate;
    failed += other.failed;
  }
};

struct ProgramCopies {
  uint64_t collected = 0;
  uint64_t lost = 0;                      // found no room on its way from the packet thread
  uint64_t unbound = 0;                   // for endpoints without an address: stayed at the switch
  std::vector<EndpointCopies> endpoints;  // in the program's order; none: none has an address

  void Add(const ProgramCopies& other) {
    collected += other.collected;
    lost += other.lost;
    unbound += other.unbound;
    if (endpoints.size() < other.endpoints.size()) endpoints.resize(other.endpoints.size());
    for (size_t i = 0; i < other.endpoints.size(); ++i) endpoints[i].Add(other.endpoints[i]);
  }
  // Of all endpoints together.
  EndpointCopies Sum() const {
    EndpointCopies sum;
    for (const EndpointCopies& endpoint : endpoints) sum.Add(endpoint);
    return sum;
  }
};

inline bool operator==(const EndpointCopies& a, const EndpointCopies& b) {
  return std::tie(a.sent, a.over_rate, a.failed) == std::tie(b.sent, b.over_rate, b.failed);
}

inline bool operator==(const ProgramCopies& a, const ProgramCopies& b) {
  return std::tie(a.collected, a.lost, a.unbound, a.endpoints) ==
         std::tie(b.collected, b.lost, b.unbound, b.endpoints);
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_MODEL_MEASURE_COPIES_H
