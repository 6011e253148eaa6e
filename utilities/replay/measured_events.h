// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MeasuredEvents: events that read measurement programs, decided over a capture as a controller
// decides them (controller/tem/measured_event.h), whose hosts answer at once.
//
// At the end of an interval a program has measured all packets before that instant, and none after.
// As with other events, intervals run from that of the first packet to that of the last.
//
// Order of calls for each packet: StartAt() if it is the first, See(), DecideUntil() its time,
// Add().
//
// Threads: the caller's.  Lifetime: programs must outlive it.

#ifndef TRUMPET_UTILITIES_REPLAY_MEASURED_EVENTS_H
#define TRUMPET_UTILITIES_REPLAY_MEASURED_EVENTS_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/tem/measured_event.h"
#include "lib/base/status.h"
#include "lib/model/report.h"
#include "utilities/replay/program_run.h"

namespace trumpet {

// The programs of a run by name.
using ProgramRuns = std::map<std::string, std::unique_ptr<ProgramRun>>;

// What is wrong with a state that an event reads of them; empty: nothing.
std::string ProblemOfMeasured(const ProgramRuns& programs, const MeasuredState& state,
                              uint32_t interval_ms);

class MeasuredEvents {
 public:
  // An event, and its place among all, by which reports of the same instant are sorted.
  struct Placed {
    EventSpec spec;
    size_t place = 0;
  };
  // From the instant `at` on, these are installed; those that were keep their runs.
  struct Change {
    Nanos at = 0;
    std::vector<Placed> events;
  };
  using Sink = std::function<Status(const Report& report)>;

  // `changes`: by time.  Reports come by end and place; an error ends the run.
  MeasuredEvents(ProgramRuns* programs, std::vector<Change> changes, Sink sink);

  // The capture begins; changes up to then come before it.
  void StartAt(Nanos first_packet, const std::vector<Placed>& first);
  // There is a packet at that time, the last one so far.
  void See(Nanos packet) { last_packet_ = packet; }
  // Decides what ends before `end`, or then for events of lower places, as far as there are
  // packets.
  Status DecideBefore(Nanos end, size_t place);
  Status DecideUntil(Nanos end) { return DecideBefore(end, SIZE_MAX); }
  void Add(const TimedFrame& frame, const PacketMeta& meta);

  uint64_t intervals_decided() const { return intervals_decided_; }
  uint64_t reports() const { return reports_; }

 private:
  struct Live {
    size_t place = 0;
    std::unique_ptr<MeasuredEvent> event;
    uint64_t packets_seen = 0;  // when it was decided last, plus 1
  };

  void Install(const std::vector<Placed>& events, Nanos from);
  Live* NextToEnd();
  Status Decide(Live* live, Nanos until);
  const Number& Read(const MeasuredState& state);

  ProgramRuns& programs_;
  const std::vector<Change> changes_;
  const Sink sink_;
  size_t next_change_ = 0;
  std::map<uint32_t, Live> live_;  // by id
  Nanos last_packet_ = INT64_MIN;
  uint64_t packets_ = 0;                    // that programs have measured
  std::map<MeasuredState, Number> values_;  // read since the last of them
  uint64_t intervals_decided_ = 0;
  uint64_t reports_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_REPLAY_MEASURED_EVENTS_H
