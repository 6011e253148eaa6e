// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// LossyLink: one direction of an emulated link.  Frames read from one device are written to another
// one after a fixed delay, in order, unless they are lost at random.
//
// Threads: one; on the loop it was made with.

#ifndef TRUMPET_TESTS_SUPPORT_LOSSY_LINK_H
#define TRUMPET_TESTS_SUPPORT_LOSSY_LINK_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "lib/base/loop_event.h"
#include "lib/base/units.h"
#include "lib/packet/prefix.h"

struct event;

namespace trumpet::testing {

struct LinkQuality {
  Nanos delay = 0;
  double loss = 0;  // probability, 0 to 1
};

struct FrameCounts {
  uint64_t taken = 0;    // read; each is lost, overrun, refused, passed or still under way
  uint64_t lost = 0;     // as the quality says
  uint64_t overrun = 0;  // more under way than the link holds
  uint64_t refused = 0;  // by the device at the end
  uint64_t passed = 0;
};

struct LinkCounts {
  FrameCounts all;
  FrameCounts watched;         // those to the watched addresses
  Nanos longest_lateness = 0;  // of a frame beyond the link's delay: how far to trust the emulation
};

class LossyLink {
 public:
  static constexpr size_t kMaxUnderWay = 65536;

  // The descriptors stay open as long as the link; reads and writes must not block.
  LossyLink(event_base* base, int from, int to, const LinkQuality& quality, uint64_t seed,
            const std::optional<Prefix>& watched);
  ~LossyLink();

  const LinkCounts& counts() const { return counts_; }

 private:
  struct Held {
    Nanos due;
    bool is_watched;
    std::vector<uint8_t> bytes;
  };
  // Applies to the counts a frame belongs to.
  void Count(uint64_t FrameCounts::*counter, bool is_watched);
  void TakeFrames();
  void Take(const uint8_t* bytes, size_t length, Nanos now);
  void PassDue();
  bool IsWatched(const uint8_t* bytes, size_t length) const;

  const int from_;
  const int to_;
  const LinkQuality quality_;
  const std::optional<Prefix> watched_;
  std::mt19937_64 random_;
  std::deque<Held> under_way_;  // by due time: the delay is the same for all
  LinkCounts counts_;
  LoopEvent next_;
  event* readable_;
};

}  // namespace trumpet::testing

#endif  // TRUMPET_TESTS_SUPPORT_LOSSY_LINK_H
