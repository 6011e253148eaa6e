// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Triggers of the workload.
//
// Counts, volumes and losses by turns (trigger number mod 3) over groups of destinations that tile
// 10.0.4.0 - 10.1.3.255.  The triggers of a group differ in their mask (pattern = trigger number
// mod patterns), so a packet matches all those of its group and a look-up must search all patterns.
// Pattern p masks the 32 bits of both ports with 0xffffffff << (p mod 32) and takes the first p /
// 32 bits of the source.

#ifndef TRUMPET_TESTS_BENCH_TRIGGERS_H
#define TRUMPET_TESTS_BENCH_TRIGGERS_H

#include <cstdint>
#include <vector>

#include "lib/model/event_spec.h"
#include "tests/bench/workload.h"

namespace trumpet::bench {

// What the packets of a trigger are told apart by.
enum class Buckets { kNone, kDst24, kFiveTuple };

struct TriggersSpec {
  uint32_t triggers = 4096;
  uint32_t per_packet = 8;  // how many of them each packet matches
  uint32_t patterns = 32;   // distinct masks
  Encapsulation encapsulation = Encapsulation::kIpv4;
  int64_t threshold = 80000000;  // never reached
  Buckets buckets = Buckets::kNone;

  uint32_t groups() const { return triggers / per_packet; }
  uint32_t group_size() const { return kDestinations / groups(); }  // in addresses
};

enum class TriggerType { kPackets, kVolume, kLoss };

// A trigger as plain numbers; prefixes of addresses, a prefix of both ports.
struct PlainTrigger {
  TriggerType type;
  uint32_t group;
  uint32_t dst;  // the first of group_size() addresses
  uint32_t ports;
  uint32_t port_mask;
  uint32_t src;
  uint32_t src_mask;
};

PlainTrigger TriggerNumber(const TriggersSpec& spec, uint32_t number);

// Trigger q becomes event first_id + q.
std::vector<EventSpec> MakeEvents(const TriggersSpec& spec, uint32_t first_id);

// An event that counts the packets of each 5-tuple.
EventSpec MakePerFlowEvent(uint32_t id, int64_t threshold);

// An event that counts the packets to the /24 of 10.0.4.0.
EventSpec MakeSubnetEvent(uint32_t id, Encapsulation encapsulation);

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_TRIGGERS_H
