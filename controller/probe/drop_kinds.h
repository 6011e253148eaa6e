// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The packets that a search for the cause of drops compares: those of a flow, and such as differ
// from them in one field.
//
// Fields that can be put in order are lines, with the flow's own value in the middle: a packet is
// so far from it on one side.  Of a port or a length that is the difference; of an address it is
// the number of the bit that is turned, counted from the last one, since whoever drops a block of
// addresses drops all that differ in its last bits only.  Protocol and DSCP have no order.
//
// Threads: values and pure functions.

#ifndef TRUMPET_CONTROLLER_PROBE_DROP_KINDS_H
#define TRUMPET_CONTROLLER_PROBE_DROP_KINDS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/packet/prefix.h"
#include "lib/packet/probe_frame.h"

namespace trumpet {

enum class DropField : uint8_t {
  kNone,  // the flow's own
  kSrcPort,
  kDstPort,
  kSrc,
  kDst,
  kProtocol,
  kBytes,
  kDscp,
  kTtl,
  kTcpFlags,
};

constexpr DropField kDropFields[] = {
    DropField::kSrcPort, DropField::kDstPort,  DropField::kSrc,
    DropField::kDst,     DropField::kProtocol, DropField::kBytes,
    DropField::kDscp,    DropField::kTtl,      DropField::kTcpFlags};

// As packets of probes have it: "srcPort".
const char* DropFieldName(DropField field);
// By which switches choose one of several equal ways.
bool IsHashed(DropField field);
bool IsOrdered(DropField field);

// What is suspected to be dropped.
struct DropSuspicion {
  ProbePacket packet;
  // Addresses that may be tried instead of the packet's; none: only its own.
  std::optional<Prefix> src_within;
  std::optional<Prefix> dst_within;
  uint8_t debug_dscp = 0;    // bits that are not the packet's own
  uint32_t count = 40;       // of the flow's own packets that are sent first
  bool was_dropped = false;  // there is a trace that says so
  uint64_t seed = 0;         // of the ports that are tried
};

enum class DropSide : uint8_t { kDown, kUp };

struct DropKind {
  DropField field = DropField::kNone;
  DropSide side = DropSide::kUp;
  uint32_t distance = 0;  // without an order: the value
  ProbePacket packet;
};

// How far packets can go on that side; 0: nowhere.
uint32_t MostDistance(const DropSuspicion& suspicion, DropField field, DropSide side);
// None: such a packet there cannot be, or it would not be like the flow's otherwise.
std::optional<DropKind> KindAt(const DropSuspicion& suspicion, DropField field, DropSide side,
                               uint32_t distance);
// Those that are tried first: a handful of each field.
std::vector<DropKind> FirstKinds(const DropSuspicion& suspicion);
// Between two distances, `most` of them, evenly.
std::vector<uint32_t> DistancesBetween(uint32_t near, uint32_t far, uint32_t most);

// The value in that field: "443", "10.0.2.7", "TCP", "+syn+ack".
std::string DropValue(const ProbePacket& packet, DropField field);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PROBE_DROP_KINDS_H
