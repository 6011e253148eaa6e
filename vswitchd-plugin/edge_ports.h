// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// EdgePorts: the datapath ports of a measurement program by which packets enter and leave the
// network that it measures.
//
// Threads: one writes, off the packet path; packet threads read, and see a change at their next
// packet.

#ifndef TRUMPET_VSWITCHD_PLUGIN_EDGE_PORTS_H
#define TRUMPET_VSWITCHD_PLUGIN_EDGE_PORTS_H

#include <array>
#include <atomic>
#include <cstdint>

namespace trumpet {

class EdgePorts {
 public:
  static constexpr uint32_t kMostPorts = 65536;  // no datapath port has a higher number

  bool Has(uint32_t port) const {
    return port < kMostPorts &&
           (words_[port / 64].load(std::memory_order_relaxed) >> port % 64 & 1) != 0;
  }
  void Set(uint32_t port, bool is_edge) {
    if (port >= kMostPorts) return;
    const uint64_t bit = uint64_t{1} << port % 64;
    if (is_edge) {
      words_[port / 64].fetch_or(bit, std::memory_order_relaxed);
    } else {
      words_[port / 64].fetch_and(~bit, std::memory_order_relaxed);
    }
  }

 private:
  std::array<std::atomic<uint64_t>, kMostPorts / 64> words_{};
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_EDGE_PORTS_H
