// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/monitor_memory.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "lib/tpm/admission_filter.h"

namespace trumpet {
namespace {

// Upper bounds of what one record takes, index included.
constexpr uint64_t kFlowBytes = 184;  // entry and near cells, index, two lists of touched flows
constexpr uint64_t kConnectionBytes = 352;  // both lines of work, index
constexpr uint64_t kHistoryBytes = 32;      // a quarter of a block

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

}  // namespace

// A sixteenth for the ring, three eighths for flows and their usual statistics, a quarter for
// connections, an eighth for their history, the rest for statistics of more than a line.
MonitorOptions MonitorOptionsOf(const Settings& memory, const Settings& now, uint64_t hash_seed) {
  const uint64_t total = uint64_t{memory.memory_mb} << 20;
  MonitorOptions options;
  const uint64_t ring = std::clamp(total / 16, kSmallestRing, kLargestRing);
  options.ring_bytes = static_cast<uint32_t>(PowerOfTwoUpTo(ring));
  const uint64_t flows = std::min<uint64_t>(memory.max_flows, total * 3 / 8 / kFlowBytes);
  options.max_flows = static_cast<uint32_t>(flows);
  const uint64_t connections = std::min<uint64_t>(total / 4 / kConnectionBytes, 1u << 24);
  options.connections.max_connections = static_cast<uint32_t>(connections);
  const uint64_t history = std::min<uint64_t>(total / 8 / kHistoryBytes, 1u << 26);
  options.connections.max_history_records = static_cast<uint32_t>(history);
  options.admission.is_enabled = true;
  const uint64_t rest = total - options.ring_bytes - flows * kFlowBytes -
                        AdmissionFilter::BytesFor(flows) - connections * kConnectionBytes -
                        history * kHistoryBytes;
  options.stat_megabytes = static_cast<uint32_t>(std::max<uint64_t>(1, rest >> 20));
  options.connections.flow_timeout_ns = now.flow_timeout_ms * kNanosPerMilli;
  options.connections.burst_gap_ns = now.burst_gap_ns;
  options.connections.hash_seed = hash_seed;
  options.sweep_budget_ns = now.sweep_budget_us * kNanosPerMicro;
  AddPorts(now.vxlan_ports, &options.parse.vxlan_ports);
  AddPorts(now.geneve_ports, &options.parse.geneve_ports);
  return options;
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
