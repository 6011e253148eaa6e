// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/placement.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "controller/plan/filter_analysis.h"

namespace trumpet {
namespace {

constexpr PacketKind kAllKinds[] = {PacketKind::kIpv4, PacketKind::kIpv6, PacketKind::kOther};

size_t IndexOf(PacketKind kind) { return static_cast<size_t>(kind); }

AddressRanges RangesOf(const AddressSet& set, PacketKind kind) {
  std::vector<AddressRange> ranges;
  if (kind == PacketKind::kOther) {
    for (const uint64_t mac : set.macs) ranges.push_back({mac, mac});
  }
  for (const Prefix& prefix : set.prefixes) {
    const PacketKind kind_of = prefix.is_ipv6 ? PacketKind::kIpv6 : PacketKind::kIpv4;
    if (kind_of == kind) ranges.push_back({FirstOf(prefix), LastOf(prefix)});
  }
  return AddressRanges(std::move(ranges));
}

template <typename T, typename Less>
void SortOut(std::vector<T>* values, Less less) {
  std::sort(values->begin(), values->end(), less);
  values->erase(std::unique(values->begin(), values->end()), values->end());
}

}  // namespace

// The addresses of a host are those of all its prefixes here, also where another one has a longer
// prefix: that can only place an event on a host too many.
Placement::Placement(const Topology& topology) {
  for (const TopologyHost& from : topology.hosts) {
    Host host;
    host.own = {from.prefixes, from.macs};
    for (const PacketKind kind : kAllKinds) {
      host.addresses[IndexOf(kind)] = RangesOf(host.own, kind);
    }
    monitored_.prefixes.insert(monitored_.prefixes.end(), from.prefixes.begin(),
                               from.prefixes.end());
    monitored_.macs.insert(monitored_.macs.end(), from.macs.begin(), from.macs.end());
    hosts_.push_back(std::move(host));
  }
  SortOut(&monitored_.prefixes, [](const Prefix& a, const Prefix& b) {
    if (a.is_ipv6 != b.is_ipv6) return b.is_ipv6;
    return a.address != b.address ? a.address < b.address : a.length < b.length;
  });
  SortOut(&monitored_.macs, [](uint64_t a, uint64_t b) { return a < b; });
  for (const PacketKind kind : kAllKinds) {
    AddressRanges& everywhere = everywhere_[IndexOf(kind)];
    everywhere = AddressRanges::All(AddressKindOf(kind));
    nobodys_[IndexOf(kind)] = everywhere.Without(RangesOf(monitored_, kind));
  }
}

// Without a granularity the predicate is about nothing at all, too, where no packet matches.
std::vector<uint32_t> Placement::HostsFor(const EventSpec& event) const {
  const bool is_of_each = event.scope == Scope::kHost;
  std::vector<uint32_t> found;
  if (!event.granularity.is_none() || !is_of_each) found = HostsThatCount(event);
  if (event.granularity.is_none() && (is_of_each || found.empty())) {
    found.resize(hosts_.size());
    std::iota(found.begin(), found.end(), 0);
  }
  return found;
}

// Packets between addresses of nobody may be any host's to count, whatever `observe` says.
std::vector<uint32_t> Placement::HostsThatCount(const EventSpec& event) const {
  bool is_for_all = false;
  switch (event.observe) {
    case Observe::kSource:
      is_for_all = CanMatch(event, nobodys_, everywhere_, true, true);
      break;
    case Observe::kDestination:
      is_for_all = CanMatch(event, nobodys_, nobodys_, true, true);
      break;
    case Observe::kAll:  // copies of packets come anywhere: floods, routers
      is_for_all = CanMatch(event, everywhere_, everywhere_, true, true);
      break;
  }
  std::vector<uint32_t> found;
  if (!is_for_all && event.observe == Observe::kAll) return found;
  for (uint32_t i = 0; i < hosts_.size(); ++i) {
    if (is_for_all || CanCount(hosts_[i], event)) found.push_back(i);
  }
  return found;
}

// Besides what any host may count.
bool Placement::CanCount(const Host& host, const EventSpec& event) const {
  if (event.observe == Observe::kSource) {
    return CanMatch(event, host.addresses, everywhere_, false, true);
  }
  return CanMatch(event, everywhere_, host.addresses, true, false) ||
         CanMatch(event, host.addresses, nobodys_, false, true);
}

bool Placement::CanMatch(const EventSpec& event, const AddressRanges (&sources)[kKinds],
                         const AddressRanges (&destinations)[kKinds], bool may_lack_source,
                         bool may_lack_destination) const {
  return std::any_of(std::begin(kAllKinds), std::end(kAllKinds), [&](PacketKind kind) {
    const size_t i = IndexOf(kind);
    const bool lacks = kind == PacketKind::kOther;
    const PacketSet packets{kind, &sources[i], &destinations[i], lacks && may_lack_source,
                            lacks && may_lack_destination};
    const bool has_any = (!sources[i].is_empty() || packets.may_lack_source) &&
                         (!destinations[i].is_empty() || packets.may_lack_destination);
    return has_any && Analyze(event.filter, packets) != Matching::kNever;
  });
}

HostPlace Placement::PlaceOf(uint32_t host) const { return {hosts_[host].own, monitored_}; }

}  // namespace trumpet
