// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Round trips of packets that bounced: a switch sent each out of a port, the switch at the other
// end sent it back, and the first switch made a copy both times.  The two copies take the same way
// to the analyzer, so the difference of their arrivals is the round trip, by one clock.
//
// Threads: values and pure functions.

#ifndef TRUMPET_CONTROLLER_PROBE_BOUNCE_FINDINGS_H
#define TRUMPET_CONTROLLER_PROBE_BOUNCE_FINDINGS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lib/base/units.h"
#include "lib/wire/slice_message.h"

namespace trumpet {

// The TTL of packets that go out; one less has come back.
constexpr uint8_t kBounceTtl = 64;

struct BounceCopy {
  uint32_t packet = 0;  // of the bounce
  bool is_back = false;
  Nanos time = 0;  // when it came to the analyzer
  std::string analyzer = {};
};

// What each analyzer has.
using BounceRecords = std::map<std::string, std::vector<PacketRecord>>;

// Those of the packets of bounce `id` that this switch has copied.
std::vector<BounceCopy> ReadBounceCopies(const BounceRecords& records, uint64_t id,
                                         const std::string& switch_name);

struct BounceBucket {
  Nanos below = 0;  // a power of two; half as much at least
  uint32_t count = 0;
};

struct BounceFindings {
  uint32_t returned = 0;
  uint32_t lost = 0;        // copied as they went out, and not as they came back
  uint32_t not_copied = 0;  // as they went out
  // Whose copies came to two analyzers, one each: they came back, and nobody knows how long it
  // took.
  uint32_t apart = 0;
  // Of those that returned; 0 if there are none.  Percentiles are round trips that there were.
  Nanos min = 0;
  Nanos p50 = 0;
  Nanos p99 = 0;
  Nanos max = 0;
  Nanos mean = 0;
  std::vector<BounceBucket> histogram;  // from the shortest to the longest
};

// Of `sent` packets.  Round trips are between two copies that came to one analyzer, whichever it
// was.  Where there are several copies of a kind the first one counts.
BounceFindings ConcludeBounce(const std::vector<BounceCopy>& copies, uint32_t sent);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PROBE_BOUNCE_FINDINGS_H
