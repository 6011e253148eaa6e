// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Observation: which packets are this host's to count, so that each counts at one place of a
// network of monitored hosts (docs/adr/0015).
//
// The answer depends on whether a packet came through an uplink, and on whose its innermost
// addresses are: IP addresses, or the MACs of what is not IP.  So all packets of a flow table entry
// that came the same way share it.
//
//                       observe: source          observe: destination
//   from an edge port   all                      destination is own or nobody's
//   from an uplink      source is nobody's and   destination is own and the source is not, or both
//                       destination not another  are nobody's
//                       host's
//
// Threads: immutable once made; shared by the packet threads.
// Cost: IsUplink: once per batch.  CountedAt: once per flow of IP; of what is not IP, two look-ups
// in a hash table for each packet.

#ifndef TRUMPET_LIB_TPM_OBSERVATION_H
#define TRUMPET_LIB_TPM_OBSERVATION_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/model/event_spec.h"
#include "lib/model/host_place.h"
#include "lib/packet/flow_key.h"
#include "lib/packet/parsed_packet.h"
#include "lib/tpm/value_classes.h"

namespace trumpet {

// Whose an address is.
enum class Owner : uint8_t { kNobody, kOther, kOwn };

// Bits of CountedAt().
constexpr uint8_t kCountedAtSource = 1;
constexpr uint8_t kCountedAtDestination = 2;

class Observation {
 public:
  // `uplinks`: datapath ports.  `hash_seed` guards the table of MACs against chosen ones.
  Observation(const HostPlace& place, std::vector<uint32_t> uplinks, uint64_t hash_seed);

  bool IsUplink(uint32_t port) const;
  uint8_t CountedAt(const ParsedPacket& packet, bool is_from_uplink) const;
  // Is the direction of a connection counted here?  By the addresses alone, from the way that its
  // packets should have come; of a source that is nobody's, if either way would do.
  bool CountsDirection(const FlowKey& flow, Observe observe) const;

  Owner OwnerOfIp(uint8_t family, const IpBytes& address) const;
  Owner OwnerOfMac(const MacBytes& mac) const;

 private:
  // Of one family: addresses cut where the owner changes.
  template <typename Number>
  struct Owners {
    Owner Of(Number address) const { return owners[classes.ClassOf(address)]; }
    ValueClasses<Number> classes;
    std::vector<Owner> owners{Owner::kNobody};
  };

  template <typename Number>
  static Owners<Number> MakeOwners(const HostPlace& place, bool is_ipv6);
  void AddMac(uint64_t mac, Owner owner);
  size_t SlotOf(uint64_t mac) const;

  std::vector<uint32_t> uplinks_;  // rising
  Owners<uint32_t> ipv4_;
  Owners<Uint128> ipv6_;
  uint64_t hash_seed_;
  std::vector<uint64_t> macs_;  // open addressing: MAC * 4 + owner; 0: empty
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_OBSERVATION_H
