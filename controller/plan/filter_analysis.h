// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What can be said of a filter from the sets that a packet's addresses lie in.
//
// The answer is sound, not complete: kNever and kAlways hold for every packet of the kind, kPerhaps
// says nothing.  Each test is judged by itself, so that two tests of one field, each possible but
// not both together, remain possible.
//
// Threads: values; no state.

#ifndef TRUMPET_CONTROLLER_PLAN_FILTER_ANALYSIS_H
#define TRUMPET_CONTROLLER_PLAN_FILTER_ANALYSIS_H

#include <cstdint>

#include "controller/plan/address_ranges.h"
#include "lib/model/filter.h"

namespace trumpet {

enum class Matching : uint8_t { kNever, kPerhaps, kAlways };

// Packets by their innermost headers.  What is not IP has its MACs for addresses.
enum class PacketKind : uint8_t { kIpv4, kIpv6, kOther };

// Packets of a kind whose innermost source and destination lie in these sets.
struct PacketSet {
  PacketKind kind = PacketKind::kIpv4;
  const AddressRanges* sources = nullptr;
  const AddressRanges* destinations = nullptr;
  // kOther: some have no MACs at all.
  bool may_lack_source = false;
  bool may_lack_destination = false;
};

Matching Analyze(const FilterExpr& filter, const PacketSet& packets);

// kIpv4, kIpv6 or kMac: what addresses of such packets are.
ValueKind AddressKindOf(PacketKind kind);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PLAN_FILTER_ANALYSIS_H
