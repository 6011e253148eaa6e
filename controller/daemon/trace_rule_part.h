// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TraceRulePart: trace rules as the daemon has them: the manager with its switches, its store and
// the analyzers that tell which copies come and are told the network, commands and metrics
// (docs/trace-rules.md); and the counters of traces.
//
// Threads: that of the libevent loop.  Lifetime: what Parts name must outlive it.

#ifndef TRUMPET_CONTROLLER_DAEMON_TRACE_RULE_PART_H
#define TRUMPET_CONTROLLER_DAEMON_TRACE_RULE_PART_H

#include <cstdint>
#include <functional>
#include <vector>

#include "controller/daemon/daemon.h"
#include "controller/daemon/openflow_part.h"
#include "controller/rest/metrics_text.h"
#include "controller/slice/analyzer_collector.h"
#include "controller/slice/trace_asker.h"
#include "controller/store/event_store.h"
#include "controller/trace/sent_asker.h"
#include "controller/trace/trace_counter_book.h"
#include "controller/trace/trace_rule_manager.h"
#include "lib/base/loop_event.h"

namespace trumpet {

class TraceRulePart {
 public:
  struct Parts {
    event_base* base = nullptr;
    const WireClock* clock = nullptr;
    const EventStore* events = nullptr;  // who holds its lock installs trace rules
    EventStore* store = nullptr;         // of trace rules
    EventStore* counters = nullptr;      // of counters of traces
    OpenflowPart* openflow = nullptr;
    AnalyzerCollector* collector = nullptr;
    TraceAsker* traces = nullptr;  // whose analyzers are told the network
    std::function<Topology()> topology;
    uint64_t seed = 0;
    std::function<void(const char* level, const std::string& text)> log;
  };

  explicit TraceRulePart(const Parts& parts);
  TraceRulePart(const TraceRulePart&) = delete;
  TraceRulePart& operator=(const TraceRulePart&) = delete;

  TraceRuleManager& manager() { return manager_; }
  TraceCounterBook& counters() { return counters_; }
  void AddMetrics(MetricsText* text) const;
  // trace/rules-list.  The part must outlive it.
  std::vector<DaemonCommand> MakeCommands();

 private:
  static constexpr Nanos kTopologyAge = 2 * kNanosPerSecond;  // which may be large

  const Topology& RecentTopology();
  std::vector<TracePlace> Places();
  void TellNetwork();
  void TellCounters(const std::string& text);

  const Parts parts_;
  Topology topology_;
  Nanos topology_at_ = 0;  // monotonic; 0: not yet
  TraceRuleManager manager_;
  TraceCounterBook counters_;
  SentAsker sent_;
  bool is_started_ = false;
  bool has_told_ = true;  // it was not too large
  LoopEvent starter_;
  LoopEvent teller_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_DAEMON_TRACE_RULE_PART_H
