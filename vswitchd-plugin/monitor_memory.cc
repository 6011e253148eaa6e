// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/monitor_memory.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "lib/tpm/peer_exchange.h"

namespace trumpet {
namespace {

constexpr uint64_t kSmallestRing = 64 << 10;
constexpr uint64_t kLargestRing = 8 << 20;

uint64_t PowerOfTwoUpTo(uint64_t value) {
  uint64_t power = 1;
  while (power * 2 <= value) power *= 2;
  return power;
}

void AddPorts(const std::vector<uint16_t>& more, std::array<uint16_t, kMaxTunnelPorts>* ports) {
  for (size_t i = 0; i < more.size() && i + 1 < ports->size(); ++i) (*ports)[i + 1] = more[i];
}

// With what the exchange between the threads takes: a mailbox, and the directory, which is shared
// but counted for each, as one of them may be the only one.
uint64_t BytesFor(const MonitorOptions& options) {
  return PacketMonitor::BytesFor(options) + PeerExchange::MailboxBytes() +
         PeerExchange::DirectoryBytes(options.connections.max_connections);
}

// Lowers the flows until all fits, and gives what is left to the statistics.
void FitInto(uint64_t total, MonitorOptions* options) {
  options->max_flows =
      static_cast<uint32_t>(std::min<uint64_t>(options->max_flows, total / BytesPerFlow()));
  while (BytesFor(*options) > total && options->max_flows > 1024) {
    options->max_flows = std::max(1024u, options->max_flows - options->max_flows / 64 - 1);
  }
  const uint32_t least = options->stat_megabytes;
  const uint64_t taken = BytesFor(*options);
  if (taken < total) options->stat_megabytes += static_cast<uint32_t>((total - taken) >> 20);
  while (BytesFor(*options) > total && options->stat_megabytes > least) {
    options->stat_megabytes -= options->stat_megabytes / 64 + 1;
  }
}

}  // namespace

uint64_t BytesPerFlow() {
  MonitorOptions options;
  options.max_flows = 1u << 20;
  const uint64_t less = PacketMonitor::BytesFor(options);
  options.max_flows = 1u << 21;
  return (PacketMonitor::BytesFor(options) - less) >> 20;
}

uint64_t BytesPerConnection() {
  MonitorOptions options;
  options.connections.max_connections = 1u << 20;
  const uint64_t less = PacketMonitor::BytesFor(options);
  options.connections.max_connections = 1u << 21;
  return (PacketMonitor::BytesFor(options) - less) >> 20;
}

// What is not said falls to: a sixteenth for the ring, another one for the sets of triggers, a
// quarter for connections, an eighth for their history, at least an eighth for statistics of more
// than a line, and the flows have the rest or, if they do not need it, the statistics.
MonitorOptions MonitorOptionsOf(const Settings& memory, const Settings& now, uint64_t hash_seed) {
  const uint64_t total = uint64_t{memory.memory_mb} << 20;
  MonitorOptions options;
  const uint64_t ring = memory.ring_kb != 0 ? std::min(uint64_t{memory.ring_kb} << 10, total / 8)
                                            : std::clamp(total / 16, kSmallestRing, kLargestRing);
  options.ring_bytes = static_cast<uint32_t>(PowerOfTwoUpTo(ring));
  options.set_kilobytes = static_cast<uint32_t>(total / 16 >> 10);
  const uint64_t connections = std::min<uint64_t>(total / 4 / BytesPerConnection(), 1u << 24);
  const uint64_t wanted = memory.max_connections != 0 ? memory.max_connections : connections;
  options.connections.max_connections = static_cast<uint32_t>(std::min(connections, wanted));
  const uint64_t history = std::min<uint64_t>(total / 8 / kBytesPerHistoryRecord, 1u << 26);
  options.connections.max_history_records = static_cast<uint32_t>(history);
  options.admission.is_enabled = true;
  options.stat_megabytes = std::max(1u, memory.memory_mb / 8);
  options.max_flows = memory.max_flows;
  FitInto(total, &options);
  options.touches_memory = true;
  options.takes_reserved_pages = memory.reserved_huge_pages;
  options.connections.flow_timeout_ns = now.flow_timeout_ms * kNanosPerMilli;
  options.connections.burst_gap_ns = now.burst_gap_ns;
  options.connections.hash_seed = hash_seed;
  options.sweep_budget_ns = now.sweep_budget_us * kNanosPerMicro;
  options.packet_budget_ns = now.packet_budget_us * kNanosPerMicro;
  options.watchdog_factor = now.watchdog_factor;
  options.parse = ParseOptionsOf(now);
  return options;
}

ParseOptions ParseOptionsOf(const Settings& settings) {
  ParseOptions parse;
  AddPorts(settings.vxlan_ports, &parse.vxlan_ports);
  AddPorts(settings.geneve_ports, &parse.geneve_ports);
  return parse;
}

// What the kernel says it can give without swapping.  It knows nothing of a control group's limit.
Status CheckMachineHas(uint64_t bytes) {
  std::FILE* file = std::fopen("/proc/meminfo", "re");
  if (file == nullptr) return Status::Ok();
  unsigned long long kib = 0;
  bool is_known = false;
  char line[128];
  while (!is_known && std::fgets(line, sizeof line, file) != nullptr) {
    is_known = std::sscanf(line, "MemAvailable: %llu kB", &kib) == 1;
  }
  std::fclose(file);
  if (!is_known || bytes <= uint64_t{kib} << 10) return Status::Ok();
  return Status::Error("it takes " + std::to_string(bytes >> 20) +
                       " MiB (trumpet-memory-mb), and the machine has " +
                       std::to_string(kib >> 10) + " MiB left");
}

// By the system call itself: libnuma would be one more library for one call.  Refusal (one node, no
// permission) leaves the memory where it would have been anyway.
MemoryPreference::MemoryPreference(int node) {
  unsigned long mask = 0;
  constexpr int kBits = static_cast<int>(sizeof mask * 8);
  if (node < 0 || node >= kBits) return;
  mask = 1ul << node;
  is_set_ = syscall(SYS_set_mempolicy, MPOL_PREFERRED, &mask, kBits) == 0;
}

MemoryPreference::~MemoryPreference() {
  if (is_set_) syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0);
}

}  // namespace trumpet
