// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MeasuredDesk: events with measured values on the loop.  At the end of an interval it has the
// states read that events need, each once for all events whose interval ends then, and gives the
// verdict of an event when all of its states have come, or at its deadline.
//
// Reads: at most kMaxReads at a time; those that find no place until the deadline of an event are
// missing in its verdict.
//
// Threads: that of the libevent loop.  Reports come from the loop, and from Tick().
// Lifetime: base and clock must outlive it; so must a source, until SetSource(nullptr).

#ifndef TRUMPET_CONTROLLER_TEM_MEASURED_DESK_H
#define TRUMPET_CONTROLLER_TEM_MEASURED_DESK_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/tem/measured_event.h"
#include "controller/tem/measured_source.h"
#include "lib/base/loop_event.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {

class MeasuredDesk {
 public:
  static constexpr size_t kMaxReads = 8;

  using Publish = std::function<void(const std::vector<NetworkReport>&)>;

  // `arms_timers`: else somebody calls Tick(), and nothing happens by itself.
  MeasuredDesk(event_base* base, const WireClock& clock, bool arms_timers, Publish publish);
  ~MeasuredDesk();

  // Null: there are no measurements.
  void SetSource(MeasuredSource* source);
  const MeasuredSource* source() const { return source_; }

  void Add(const EventSpec& spec);
  // Clears what was told of.
  void Remove(uint32_t event_id);
  // Null: there is none.
  MeasuredEvent* Find(uint32_t event_id);
  const MeasuredEvent* Find(uint32_t event_id) const;

  // Why it cannot be read at present; empty: it can.
  std::string ProblemOf(const EventSpec& spec) const;

  void Tick();

  NetworkCounters counters() const;  // of all events, those removed included
  uint64_t reads() const { return reads_; }

 private:
  struct OneRead {
    MeasuredState state;
    std::optional<uint64_t> number;          // while it is under way
    std::optional<MeasuredReading> reading;  // when it is over
  };
  // What is read at one instant.
  struct Round {
    std::vector<std::unique_ptr<OneRead>> reads;
    std::map<uint32_t, Nanos> deadlines;  // Unix time, of events that wait, by id
    Nanos last_answer_ns = 0;
  };

  void BeginRounds(Nanos now);
  bool BeginReads();
  void Begin(OneRead* read, Round* round);
  void DecideWhereDue(Nanos now);
  bool IsReady(const MeasuredEvent& event, const Round& round) const;
  MeasuredFacts FactsFor(const MeasuredEvent& event, const Round& round) const;
  void EndReads(Round* round);
  void HandOn();
  void Arm(Nanos now);

  const WireClock& clock_;
  const bool arms_timers_;
  const Publish publish_;
  MeasuredSource* source_ = nullptr;
  std::map<uint32_t, std::unique_ptr<MeasuredEvent>> events_;
  std::map<Nanos, Round> rounds_;  // by instant; those that wait for answers
  size_t under_way_ = 0;
  uint64_t reads_ = 0;
  NetworkCounters past_;  // of events that were removed
  std::vector<NetworkReport> reports_;
  LoopEvent soon_;
  LoopEvent timer_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_MEASURED_DESK_H
