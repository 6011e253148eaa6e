// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// VerdictDesk: NetworkVerdicts on the loop.  What hosts deliver goes in as messages; what comes out
// goes to a VerdictSink, in turns of bounded work.
//
// Threads: that of the libevent loop.  Calls of the sink come from the loop, and from Tick().
// Lifetime: base, clock and sink must outlive it.

#ifndef TRUMPET_CONTROLLER_TEM_VERDICT_DESK_H
#define TRUMPET_CONTROLLER_TEM_VERDICT_DESK_H

#include <cstdint>
#include <memory>
#include <vector>

#include "controller/tem/latency_histogram.h"
#include "controller/tem/network_verdicts.h"
#include "lib/base/loop_event.h"
#include "lib/wire/message.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {

class VerdictSink {
 public:
  virtual ~VerdictSink() = default;
  // In the order of the verdicts; of several events.
  virtual void OnNetworkReports(const std::vector<NetworkReport>& reports) = 0;
  virtual void OnShareOrder(const ShareOrder& order) = 0;
  // Of several hosts.
  virtual void OnPollOrders(std::vector<PollOrder> orders) = 0;
};

class VerdictDesk {
 public:
  // `arms_timers`: else somebody calls Tick(), and nothing happens by itself.
  VerdictDesk(event_base* base, const WireClock& clock, const NetworkOptions& options,
              bool arms_timers, VerdictSink* sink);

  NetworkVerdicts& verdicts() { return verdicts_; }
  const NetworkVerdicts& verdicts() const { return verdicts_; }
  // Where orders go that come of calls to verdicts(): they are handed on in the next turn.
  NetworkOutput* output() { return &output_; }

  void Take(uint32_t host, const Partials& partials);
  void Take(uint32_t host, const HostReport& report);  // with words, of an event of the network
  void Take(uint32_t host, const FlowStates& states);
  void Take(uint32_t host, const IntervalEnd& end);
  void Take(uint32_t host, const PollOrder& order, const PollAnswer& answer);

  // There may be something to do: a turn comes soon, one for all calls of this turn of the loop.
  void Touch();
  void Tick();

  const VerdictLatencies& latencies() const { return latencies_; }
  uint64_t turns() const { return turns_; }

 private:
  static constexpr size_t kReportsPerTurn = 1024;
  // A turn looks at all events.  With thousands of them, and hosts that end their intervals one by
  // one, the next one waits as long as the last one took, so that half of the time is for others.
  static constexpr Nanos kLongestWait = 2 * kNanosPerMilli;

  void Turn();
  bool RunOnce();
  void HandOn();
  void CountLatencies(const std::vector<NetworkReport>& reports);

  const WireClock& clock_;
  const bool arms_timers_;
  VerdictSink* const sink_;
  NetworkVerdicts verdicts_;
  NetworkOutput output_;
  bool is_touched_ = false;
  Nanos last_turn_ns_ = 0;  // how long it took
  Nanos last_turn_at_ = 0;  // monotonic, when it ended
  VerdictLatencies latencies_;
  uint64_t turns_ = 0;
  LoopEvent soon_;
  LoopEvent later_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_VERDICT_DESK_H
