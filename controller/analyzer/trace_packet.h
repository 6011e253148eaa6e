// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TracePacket: what a trace says of its packet beside its way: addresses and ports, length, and
// whether it is one to keep in any case (marked by a host, of a protocol that runs the network, or
// a probe).
//
// Threads: pure functions.  Cost: no allocation.

#ifndef TRUMPET_CONTROLLER_ANALYZER_TRACE_PACKET_H
#define TRUMPET_CONTROLLER_ANALYZER_TRACE_PACKET_H

#include <cstddef>
#include <cstdint>

#include "lib/packet/flow_key.h"
#include "lib/packet/layers.h"

namespace trumpet {

// Bits of TracePacket::marks.
constexpr uint8_t kMarkConnection = 1;  // TCP with SYN, FIN or RST
constexpr uint8_t kMarkProtocol = 2;    // BGP, PAUSE and PFC, RoCE's CNP and NAK
constexpr uint8_t kMarkDebug = 4;       // by its DSCP
constexpr uint8_t kMarkSyn = 8;         // a connection begins: one of each direction
constexpr uint8_t kMarkProbe = 16;      // of the controller (lib/packet/probe_frame.h)
constexpr uint8_t kMarkIp = 128;        // it begins with IP, not with Ethernet

constexpr size_t kTracePacketBytes = 128;  // kept of it
// Of a protocol that runs the network: what it says is read from there, too.
constexpr size_t kControlPacketBytes = 1600;

struct TracePacket {
  FlowKey flow;             // of the innermost IP header; all 0: not IP
  uint32_t wire_bytes = 0;  // from its first header on
  uint8_t marks = 0;
};

// What runs the network, and what it says.
enum class ControlKind : uint8_t { kNone, kBgp, kPause, kPfc, kCnp, kNak };
struct ControlPacket {
  ControlKind kind = ControlKind::kNone;
  uint8_t priorities = 0;   // kPfc: those that it is about, a bit each
  uint8_t paused = 0;       // kPfc: those of them that shall stop
  uint16_t quanta = 0;      // kPause: 0 ends it
  uint32_t queue_pair = 0;  // kCnp, kNak: where it goes
  uint32_t sequence = 0;    // kNak: the packet that was expected, or not taken yet
};

// `layers` are those of `data`; the packet begins with the one at `first`, which there must be.
ControlPacket ReadControl(const uint8_t* data, const Layers& layers, int first);
// `debug_dscp`: bits of the DSCP, all of which a marked packet has; 0: none is marked.
TracePacket DescribePacket(const Frame& frame, const Layers& layers, int first, uint8_t debug_dscp);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_TRACE_PACKET_H
