// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CarrierPorts: the ports of the switch at whose other end a switch does as this one does: takes
// shims (lib/measure/carrier_shim.h) off frames as they come, and puts them on as they leave.
//
// Which ports these are is said by trumpet-carriers, and true whether programs are installed and
// the monitor runs or not: a shim that stayed would be seen by lookups.  Frames become no longer
// than the port's MTU allows, counted without an exception for VLAN tags.
//
// Threads: Configure(), Refresh() and Remove() the main thread; the rest any, packet threads among
// them, which see a change at their next packet.

#ifndef TRUMPET_VSWITCHD_PLUGIN_CARRIER_PORTS_H
#define TRUMPET_VSWITCHD_PLUGIN_CARRIER_PORTS_H

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/measure/carrier_shim.h"
#include "vswitchd-plugin/edge_ports.h"
#include "vswitchd-plugin/glue.h"
#include "vswitchd-plugin/host.h"
#include "vswitchd-plugin/port_table.h"

namespace trumpet {

class CarrierPorts {
 public:
  struct Counters {
    uint64_t lost = 0;     // values that packets had brought, and that could not go on
    uint64_t escaped = 0;  // packets that looked like ones with shims
    uint64_t exposed = 0;  // likewise, and found no room for an escape
  };

  // `host` and `ports` must outlive the object.
  CarrierPorts(const Host* host, const PortTable* ports) : host_(host), ports_(ports) {}

  // Patterns of names, and what the switches share as a secret.
  void Configure(const std::vector<std::string>& patterns, const std::string& key);
  // Looks at which ports there are, and at their MTUs.
  void Refresh();
  void Remove(uint32_t port);

  bool has_any_named() const { return has_any_named_.load(std::memory_order_relaxed); }
  // 0: the port is none.
  uint32_t Mtu(uint32_t port) const {
    return port < EdgePorts::kMostPorts ? mtus_[port].load(std::memory_order_relaxed) : 0;
  }
  uint32_t Take(const ShimFrame& frame, trumpet_carried* carried) const;
  bool NeedsShims(const trumpet_sent_frame& frame) const;
  trumpet_shims Put(const trumpet_sent_frame& frame);
  Counters counters() const;

 private:
  // Of a port whose MTU is not known: nothing fits.
  static constexpr uint16_t kUnknownMtu = 1;

  uint64_t key() const { return key_.load(std::memory_order_relaxed); }

  const Host* const host_;
  const PortTable* const ports_;
  std::vector<std::string> patterns_;
  std::atomic<bool> has_any_named_{false};
  std::atomic<uint64_t> key_{0};
  std::atomic<uint64_t> lost_{0};
  std::atomic<uint64_t> escaped_{0};
  std::atomic<uint64_t> exposed_{0};
  std::array<std::atomic<uint16_t>, EdgePorts::kMostPorts> mtus_{};
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_CARRIER_PORTS_H
