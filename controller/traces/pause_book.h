// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PauseBook: for how long frames of PAUSE and PFC have stopped the ports of switches, for each
// priority, and where that is a storm.
//
// A frame that comes to a port asks the switch not to send there.  The time is in quanta of 512 bit
// times, so the speed of links must be given.  A storm is a span (`storm_time`, aligned to Unix
// time) in which the port was stopped for `storm_share` of the time or more; one that lasts for two
// spans is always seen.
//
// Threads: one.  Memory: `max_ports` entries; frames of further ones are counted as `not_kept`.
// Time: given; what steps back counts as the last time.

#ifndef TRUMPET_CONTROLLER_TRACES_PAUSE_BOOK_H
#define TRUMPET_CONTROLLER_TRACES_PAUSE_BOOK_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>

#include "controller/traces/roce_sight.h"
#include "lib/base/units.h"

namespace trumpet {

struct PauseOptions {
  uint64_t bits_per_second = 100000000000;
  double storm_share = 0.5;
  Nanos storm_time = 100 * kNanosPerMilli;
  size_t max_ports = 4096;
};

constexpr uint8_t kAllPriorities = 8;  // PAUSE stops all of them

// Where frames come in, and for which priority.
struct PausePlace {
  uint16_t switch_number = 0;
  uint32_t port = 0;
  uint8_t priority = 0;

  bool operator<(const PausePlace& other) const {
    return std::tie(switch_number, port, priority) <
           std::tie(other.switch_number, other.port, other.priority);
  }
};

struct PauseCounts {
  std::array<uint8_t, 6> source{};  // of the first frame
  uint64_t stops = 0;               // frames that stop, or prolong it
  uint64_t goes = 0;                // frames that end it
  uint64_t quanta = 0;
  uint64_t pairs = 0;  // stopped, and then told to go on before the time was over
  Nanos first = 0;
  Nanos last = 0;
  Nanos stopped = 0;  // in all
  uint64_t storm_spans = 0;
  Nanos storm_begin = 0;     // when it was stopped first, without going on for a span since
  Nanos storm_end = 0;       // of the last such span
  bool is_standing = false;  // stopped when the last frame of all was seen

  // Under way.
  Nanos begin = 0;  // of being stopped, with breaks of less than a span
  Nanos from = 0;   // not counted yet
  Nanos until = 0;
  int64_t span = 0;  // the number of the last one in which it was stopped
  Nanos in_span = 0;
};

class PauseBook {
 public:
  explicit PauseBook(const PauseOptions& options) : options_(options) {}

  void Take(const RoceSight& sight);
  // Up to the last frame of all.
  std::map<PausePlace, PauseCounts> Finish() const;

  uint64_t frames() const { return frames_; }
  uint64_t not_kept() const { return not_kept_; }

 private:
  void Stop(uint16_t quanta, Nanos now, PauseCounts* port) const;
  void CountUntil(Nanos now, PauseCounts* port) const;
  void CountSpan(int64_t span, Nanos stopped, PauseCounts* port) const;

  const PauseOptions options_;
  std::map<PausePlace, PauseCounts> ports_;
  Nanos now_ = INT64_MIN;
  uint64_t frames_ = 0;
  uint64_t not_kept_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_PAUSE_BOOK_H
