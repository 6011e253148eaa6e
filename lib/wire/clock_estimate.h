// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ClockEstimate: how far a peer's clock is ahead of ours, and how wrong that may be.
//
// Four stamps give a sample, as in NTP (RFC 5905): the question leaves at t1 and its answer is back
// at t4 on our clock; it came to the peer at t2 and the answer left at t3 on the peer's.  The
// offset is taken as ((t2 - t1) + (t3 - t4)) / 2, which is wrong by at most half of the delay
// (t4 - t1) - (t3 - t2), however unlike the two ways are.  Of the last samples the one that is
// least wrong counts; a sample gets worse as it ages, because clocks drift.
//
// A sample that contradicts the others means that one of the clocks was set: they are forgotten.

#ifndef TRUMPET_LIB_WIRE_CLOCK_ESTIMATE_H
#define TRUMPET_LIB_WIRE_CLOCK_ESTIMATE_H

#include <array>
#include <cstddef>
#include <cstdint>

#include "lib/base/units.h"

namespace trumpet {

class ClockEstimate {
 public:
  static constexpr size_t kSampleCount = 16;
  static constexpr int64_t kDriftPpm = 200;  // of two clocks that each keep to 100

  // t1, t2, t3 as above; `round_trip` is t4 - t1, measured on a clock that nobody sets, and `now`
  // the end of it on that clock.  False, and nothing changes, if no clocks give such stamps.
  bool Add(Nanos t1, Nanos t2, Nanos t3, Nanos round_trip, Nanos now);
  void Clear() { count_ = 0; }

  bool has_estimate() const { return count_ > 0; }
  // The last time it took to the peer and back, without its stay there.
  Nanos last_rtt() const { return last_rtt_; }
  // The peer's clock less ours.
  Nanos OffsetAt(Nanos now) const { return Best(now).offset; }
  // The offset is wrong by at most this.
  Nanos BoundAt(Nanos now) const { return BoundOf(Best(now), now); }
  uint64_t steps_seen() const { return steps_seen_; }

 private:
  struct Sample {
    Nanos offset;
    Nanos delay;
    Nanos at;
  };

  static Nanos BoundOf(const Sample& sample, Nanos now);
  const Sample& Best(Nanos now) const;  // only if has_estimate()

  std::array<Sample, kSampleCount> samples_{};
  size_t count_ = 0;
  size_t next_ = 0;
  Nanos last_rtt_ = 0;
  uint64_t steps_seen_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_CLOCK_ESTIMATE_H
