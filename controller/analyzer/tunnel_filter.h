// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// OnlyTunnels: which frames may hold copies of packets, as a program that the kernel runs for
// packet sockets, and PassesFilter() where no kernel comes before us.
//
// Threads: constants and pure functions.

#ifndef TRUMPET_CONTROLLER_ANALYZER_TUNNEL_FILTER_H
#define TRUMPET_CONTROLLER_ANALYZER_TUNNEL_FILTER_H

#include <cstddef>

#include "lib/packet/parse.h"

struct bpf_insn;

namespace trumpet {

struct TunnelFilter {
  const bpf_insn* code = nullptr;  // lasts as long as the program
  size_t count = 0;
};

// GRE over IPv4 and IPv6; with `and_udp` VXLAN and Geneve at their usual ports, too.
TunnelFilter OnlyTunnels(bool and_udp);

// Lets through what the kernel would, which takes a VLAN tag off before it looks.
bool PassesFilter(TunnelFilter filter, const Frame& frame);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_TUNNEL_FILTER_H
