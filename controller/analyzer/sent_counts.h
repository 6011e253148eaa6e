// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SentCounts: how many copies of a switch were lost around a time, by what the switch has counted
// that it sent and what has come; for switches that do not number their copies.
//
// What is sent and not here in the end is lost: D(t), of all copies sent until t, which never
// falls. A switch's counter lags: at a time between `asked_at` and `told_at` it had what was sent
// until some time in the `lag` before.  So a reading says two things of D,
//
//     sent - came(told_at + margin)  <=  D(told_at + margin)      (its low bound)
//     sent - came(asked_at - lag)    >=  D(asked_at - lag)        (its high bound)
//
// and what was lost between two times is at most the least high bound behind them less the greatest
// low bound before them.  Where no copy was sent in the lag before both readings that is exact: a
// switch that is found to have lost nothing has lost nothing, however few copies there were.  Where
// copies come all the time it is off by those of a lag at most, a small share only over a long
// time; then the share of minutes is taken to hold at each of their moments.
//
// A high bound below a low one that was there before says that the counter lags more than was
// thought: then it is taken to, and begins anew.
//
// Threads: one.  Memory: 90 KB for each switch that was told of.

#ifndef TRUMPET_CONTROLLER_ANALYZER_SENT_COUNTS_H
#define TRUMPET_CONTROLLER_ANALYZER_SENT_COUNTS_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "controller/analyzer/set_back.h"
#include "lib/base/units.h"
#include "lib/model/slice_spec.h"

namespace trumpet {

class SentCounts {
 public:
  // Open vSwitch brings counters up to date twice a second.
  static constexpr Nanos kLag = 600 * kNanosPerMilli;
  static constexpr Nanos kMaxLag = 5 * kNanosPerSecond;
  // That a copy is on its way, and that clocks may be apart.
  static constexpr Nanos kMargin = 100 * kNanosPerMilli;
  static constexpr size_t kReadings = 1024;
  static constexpr Nanos kSettling = 1200 * kNanosPerMilli;

  SentCounts() : switches_(kMaxSwitchNumber + 1) {}

  // A copy of it came.  Nothing is kept of switches that were never told of.
  void Take(uint16_t switch_number, Nanos time) {
    if (switch_number <= kMaxSwitchNumber && switches_[switch_number] != nullptr) {
      Switch* const from = switches_[switch_number].get();
      if (WasSetBack(from->last_step * kStep, time)) BeginAnew(from, time);
      Note(from, time);
    }
  }
  // Of copies that it has sent in all; less than before: it began anew.
  void Tell(uint16_t switch_number, uint64_t sent, Nanos asked_at, Nanos told_at);
  // All copies that were stamped until `now` have been taken.  True: more is known than before.
  bool Advance(Nanos now) { return waiting_ > 0 && SettleAll(now); }

  struct Around {
    bool is_known = false;  // there are readings before and behind
    bool is_none = false;   // no copy was lost
    double least = 0;       // share of copies that were, at least and at most
    double most = 1;
  };
  Around Between(uint16_t switch_number, Nanos from, Nanos until) const;

  // It is told of at all.
  bool IsTold(uint16_t switch_number) const {
    return switch_number <= kMaxSwitchNumber && switches_[switch_number] != nullptr;
  }
  // Later readings say no more of what was sent until then, or not much: one of those behind it is
  // exact, or they reach kSettling further.
  bool IsSettled(uint16_t switch_number, Nanos until) const;
  // Since it was told of first, at least; beyond what the edges of time hide.
  uint64_t lost(uint16_t switch_number) const;

 private:
  static constexpr Nanos kStep = 10 * kNanosPerMilli;
  static constexpr size_t kSteps = 1024;  // what came in the last ten seconds

  struct Told {
    uint64_t sent = 0;
    Nanos asked_at = 0;
    Nanos told_at = 0;
  };
  // Of numbers that wrap: differences count.
  struct Reading {
    Nanos low_time = 0;
    Nanos high_time = 0;
    int64_t low = 0;  // the greatest so far
    int64_t own_low = 0;
    int64_t high = 0;
    int64_t came_by_low = 0;  // copies
    int64_t came_by_high = 0;
  };
  struct Switch {
    Nanos lag = kLag;
    Nanos since = 0;  // told of first; nothing is known of what came before
    int64_t came = 0;
    int64_t first_step = 0;                                     // that `steps` tells of
    int64_t last_step = 0;                                      // 0: no copy came yet
    std::vector<int64_t> steps = std::vector<int64_t>(kSteps);  // what had come at the end of each
    uint64_t latest_sent = 0;
    std::deque<Told> told;  // that copies have not been taken for yet
    std::deque<Reading> readings;
  };

  void BeginAnew(Switch* from, Nanos time);
  static void Note(Switch* from, Nanos time);
  static bool CameBy(const Switch& from, Nanos time, bool at_end, int64_t* came);
  bool SettleAll(Nanos now);
  static void Settle(Switch* from, const Told& told);
  static void Over(const Switch& from, size_t before, size_t behind, Around* around);

  std::vector<std::unique_ptr<Switch>> switches_;  // by number; null: not told of
  size_t waiting_ = 0;                             // told, of all switches
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_SENT_COUNTS_H
