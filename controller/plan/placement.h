// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Placement: the hosts that an event must go to, as their packets can match and are theirs to
// count.
//
// A host is left out only if no packet that it would count can match.  (Which packets those are:
// `observe`, docs/adr/0015.)  What is taken for granted: whatever enters a host through an edge
// port has a source address of that host, or of nobody in the topology.
//
// An event without granularity is decided in every interval, whether packets match or not.  So one
// of scope host goes to all hosts, and one of scope network to all if none of them can count.
//
// Threads: immutable once made; holds copies.
// Cost: Make: n log n in the prefixes.  HostsFor: at most hosts * nodes of the filter * log.

#ifndef TRUMPET_CONTROLLER_PLAN_PLACEMENT_H
#define TRUMPET_CONTROLLER_PLAN_PLACEMENT_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "controller/plan/address_ranges.h"
#include "controller/plan/topology.h"
#include "lib/model/event_spec.h"
#include "lib/model/host_place.h"

namespace trumpet {

class Placement {
 public:
  explicit Placement(const Topology& topology);

  // Positions in Topology::hosts, rising.
  std::vector<uint32_t> HostsFor(const EventSpec& event) const;

  // What the host of that position is to be told of itself and the others.
  HostPlace PlaceOf(uint32_t host) const;

  size_t host_count() const { return hosts_.size(); }

 private:
  static constexpr size_t kKinds = 3;  // of PacketKind

  struct Host {
    AddressSet own;
    AddressRanges addresses[kKinds];
  };

  std::vector<uint32_t> HostsThatCount(const EventSpec& event) const;
  bool CanCount(const Host& host, const EventSpec& event) const;
  bool CanMatch(const EventSpec& event, const AddressRanges (&sources)[kKinds],
                const AddressRanges (&destinations)[kKinds], bool may_lack_source,
                bool may_lack_destination) const;

  std::vector<Host> hosts_;
  AddressSet monitored_;  // of all hosts
  AddressRanges everywhere_[kKinds];
  AddressRanges nobodys_[kKinds];  // of no host
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PLAN_PLACEMENT_H
