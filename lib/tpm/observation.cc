// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/observation.h"

#include <algorithm>
#include <utility>

#include "lib/base/hash.h"

namespace trumpet {
namespace {

struct OwnedBlock {
  Uint128 first;
  Uint128 last;
  uint8_t length;
  Owner owner;
};

std::vector<OwnedBlock> BlocksOf(const HostPlace& place, bool is_ipv6) {
  std::vector<OwnedBlock> blocks;
  const auto add = [&](const AddressSet& set, Owner owner) {
    for (const Prefix& prefix : set.prefixes) {
      if (prefix.is_ipv6 != is_ipv6) continue;
      blocks.push_back({FirstOf(prefix), LastOf(prefix), prefix.length, owner});
    }
  };
  add(place.monitored, Owner::kOther);
  add(place.own, Owner::kOwn);
  // Outer blocks before inner ones, and one's own after the same of others.
  std::sort(blocks.begin(), blocks.end(), [](const OwnedBlock& a, const OwnedBlock& b) {
    if (a.first != b.first) return a.first < b.first;
    return a.length != b.length ? a.length < b.length : a.owner < b.owner;
  });
  return blocks;
}

template <typename Number>
Number LoadNumber(const IpBytes& bytes) {
  Number number = 0;
  for (size_t i = 0; i < sizeof number; i++) number = static_cast<Number>(number << 8 | bytes[i]);
  return number;
}

uint64_t LoadMac(const MacBytes& bytes) {
  uint64_t mac = 0;
  for (const uint8_t byte : bytes) mac = mac << 8 | byte;
  return mac;
}

uint8_t CountedBy(Owner source, Owner destination, bool is_from_uplink) {
  bool at_source = true;
  bool at_destination = destination != Owner::kOther;
  if (is_from_uplink) {
    at_source = source == Owner::kNobody && destination != Owner::kOther;
    at_destination = destination == Owner::kOwn
                         ? source != Owner::kOwn
                         : source == Owner::kNobody && destination == Owner::kNobody;
  }
  return static_cast<uint8_t>((at_source ? kCountedAtSource : 0) |
                              (at_destination ? kCountedAtDestination : 0));
}

}  // namespace

Observation::Observation(const HostPlace& place, std::vector<uint32_t> uplinks, uint64_t hash_seed)
    : uplinks_(std::move(uplinks)),
      ipv4_(MakeOwners<uint32_t>(place, false)),
      ipv6_(MakeOwners<Uint128>(place, true)),
      hash_seed_(hash_seed) {
  std::sort(uplinks_.begin(), uplinks_.end());
  size_t slots = 16;
  while (slots < 2 * (place.own.macs.size() + place.monitored.macs.size())) slots *= 2;
  macs_.resize(slots);
  for (const uint64_t mac : place.own.macs) AddMac(mac, Owner::kOwn);
  for (const uint64_t mac : place.monitored.macs) AddMac(mac, Owner::kOther);
}

// Blocks nest or are apart, so those that hold an address form a stack, the longest prefix on top.
template <typename Number>
Observation::Owners<Number> Observation::MakeOwners(const HostPlace& place, bool is_ipv6) {
  std::vector<Number> starts{0};
  std::vector<Owner> owners{Owner::kNobody};
  const auto begin = [&](Uint128 at, Owner owner) {
    if (starts.back() == static_cast<Number>(at)) {
      owners.back() = owner;
    } else {
      starts.push_back(static_cast<Number>(at));
      owners.push_back(owner);
    }
  };
  std::vector<OwnedBlock> open;
  const auto close = [&] {
    const Uint128 last = open.back().last;
    open.pop_back();
    const Owner outer = open.empty() ? Owner::kNobody : open.back().owner;
    if (last != static_cast<Number>(~Number{0})) begin(last + 1, outer);
  };
  for (const OwnedBlock& block : BlocksOf(place, is_ipv6)) {
    while (!open.empty() && open.back().last < block.first) close();
    open.push_back(block);
    begin(block.first, block.owner);
  }
  while (!open.empty()) close();

  Owners<Number> result;
  std::vector<Number> kept;
  result.owners.clear();
  for (size_t i = 0; i < starts.size(); i++) {
    if (i != 0 && owners[i] == result.owners.back()) continue;
    kept.push_back(starts[i]);
    result.owners.push_back(owners[i]);
  }
  result.classes = ValueClasses<Number>(std::move(kept));
  return result;
}

size_t Observation::SlotOf(uint64_t mac) const {
  size_t slot = HashNumber(mac, hash_seed_) & (macs_.size() - 1);
  while (macs_[slot] != 0 && macs_[slot] >> 2 != mac) slot = (slot + 1) & (macs_.size() - 1);
  return slot;
}

// The first word counts.
void Observation::AddMac(uint64_t mac, Owner owner) {
  uint64_t& slot = macs_[SlotOf(mac)];
  if (slot == 0) slot = mac << 2 | static_cast<uint64_t>(owner);
}

bool Observation::IsUplink(uint32_t port) const {
  return std::binary_search(uplinks_.begin(), uplinks_.end(), port);
}

Owner Observation::OwnerOfIp(uint8_t family, const IpBytes& address) const {
  return family == 4 ? ipv4_.Of(LoadNumber<uint32_t>(address))
                     : ipv6_.Of(LoadNumber<Uint128>(address));
}

Owner Observation::OwnerOfMac(const MacBytes& mac) const {
  return static_cast<Owner>(macs_[SlotOf(LoadMac(mac))] & 3);
}

uint8_t Observation::CountedAt(const ParsedPacket& packet, bool is_from_uplink) const {
  const Headers& headers = packet.innermost;
  Owner source = Owner::kNobody;
  Owner destination = Owner::kNobody;
  if (headers.ip_family != 0) {
    source = OwnerOfIp(headers.ip_family, headers.src_ip);
    destination = OwnerOfIp(headers.ip_family, headers.dst_ip);
  } else if (headers.Has(Field::kSrcMac)) {
    source = OwnerOfMac(headers.src_mac);
    destination = OwnerOfMac(headers.dst_mac);
  }
  return CountedBy(source, destination, is_from_uplink);
}

bool Observation::CountsDirection(const FlowKey& flow, Observe observe) const {
  if (observe == Observe::kAll) return true;
  const Owner source = OwnerOfIp(flow.ip_family, flow.src_ip);
  const Owner destination = OwnerOfIp(flow.ip_family, flow.dst_ip);
  uint8_t counted = 0;
  if (source != Owner::kOther) counted |= CountedBy(source, destination, false);
  if (source != Owner::kOwn) counted |= CountedBy(source, destination, true);
  const uint8_t wanted = observe == Observe::kSource ? kCountedAtSource : kCountedAtDestination;
  return (counted & wanted) != 0;
}

}  // namespace trumpet
