// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MeasuredEvent: the verdicts of one event whose predicate reads measured values (docs/adr/0048).
//
// What NetworkEvent is to events of packets, with one bucket and values instead of cells: `for`,
// ends of runs that somebody was told of, and the rate of reports work alike.  An interval that
// nobody read breaks a run, and in one in which no host has answered nothing is true.
//
// Threads: one.  Time: only what is passed in.

#ifndef TRUMPET_CONTROLLER_TEM_MEASURED_EVENT_H
#define TRUMPET_CONTROLLER_TEM_MEASURED_EVENT_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/tem/network_event.h"
#include "controller/tem/report_rate.h"
#include "lib/model/event_spec.h"
#include "lib/model/network_report.h"

namespace trumpet {

// What was read for one interval.
struct MeasuredFacts {
  std::map<MeasuredState, Number> values;  // those that are missing are undefined
  std::vector<std::string> silent;         // hosts, in any order, some twice
  uint32_t host_count = 0;                 // that owed an answer
  bool is_complete = true;                 // false also if nobody could be asked
  Nanos answered_ns = 0;                   // when the last answer came; 0: not all came
};

class MeasuredEvent {
 public:
  // Decides the interval that holds `from`, and later ones.
  MeasuredEvent(EventSpec spec, Nanos from);

  const EventSpec& spec() const { return spec_; }
  const std::vector<MeasuredState>& states() const { return states_; }
  // How long it waits for hosts after an interval.
  Nanos deadline_ns() const;

  // When the interval ends that is to be read next.
  Nanos NextEnd() const { return (next_ + 1) * spec_.interval_ns(); }
  // At NextEnd() or later: the end of the interval that is to be read now, the last that has
  // ended.  Those before it can be read no more.
  Nanos BeginInterval(Nanos now);
  // Its verdict.
  void Decide(const MeasuredFacts& facts, Nanos now, std::vector<NetworkReport>* reports);

  // Intervals in a row, up to the last one decided, in which the predicate was true.
  uint64_t run() const { return run_; }

  // The event ends: clears what somebody was told of.
  void TellEnd(Nanos now, std::vector<NetworkReport>* reports);

  // A controller before this one has told of the bucket.  It is cleared when it no longer
  // satisfies, or does not fire until then.
  void Inherit(Nanos until);

  const NetworkCounters& counters() const { return counters_; }

 private:
  NetworkReport MakeReport(Nanos now) const;
  bool MayStillGoOn(bool satisfies, const MeasuredFacts& facts) const;
  void TellClear(uint32_t reasons, const MeasuredFacts& facts, Nanos now,
                 std::vector<NetworkReport>* reports);

  const EventSpec spec_;
  const std::vector<MeasuredState> states_;
  int64_t next_;       // interval to be read next
  int64_t begun_ = 0;  // that was read, or is
  uint64_t run_ = 0;   // intervals in a row in which the predicate was true
  bool is_told_ = false;
  bool is_inherited_ = false;  // told of by another controller, and not by us yet
  Nanos inherited_until_ = 0;
  ReportRate rate_;
  NetworkCounters counters_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_MEASURED_EVENT_H
