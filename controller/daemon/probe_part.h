// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ProbePart: whatever sends packets of its own into the network, in trumpet-controller
// (docs/probes.md).  All of it together keeps to one rate.
//
// Threads: that of the libevent loop.  Lifetime: what Parts name must outlive it.

#ifndef TRUMPET_CONTROLLER_DAEMON_PROBE_PART_H
#define TRUMPET_CONTROLLER_DAEMON_PROBE_PART_H

#include <cstdint>
#include <functional>
#include <string>

#include "controller/daemon/openflow_part.h"
#include "controller/plan/topology.h"
#include "controller/probe/bouncer.h"
#include "controller/probe/drop_debugger.h"
#include "controller/probe/drop_explainer.h"
#include "controller/probe/prober.h"
#include "controller/rest/metrics_text.h"
#include "controller/slice/analyzer_collector.h"
#include "controller/slice/trace_asker.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {

class ProbePart {
 public:
  struct Parts {
    event_base* base = nullptr;
    const WireClock* clock = nullptr;
    OpenflowPart* openflow = nullptr;
    AnalyzerCollector* collector = nullptr;
    TraceAsker* traces = nullptr;
    const TraceRuleBook* rules = nullptr;
    std::function<Topology()> topology;  // as it is now
    uint32_t rate = Prober::kDefaultRate;
    uint64_t prober_seed = 0;  // all unknown to those who send packets
    uint64_t bouncer_seed = 0;
    uint64_t drop_seed = 0;
    std::function<void(const char* level, const std::string& text)> log;
  };

  explicit ProbePart(const Parts& parts);

  Prober& prober() { return prober_; }
  Bouncer& bouncer() { return bouncer_; }
  DropDebugger& drops() { return drops_; }
  DropExplainer& explainer() { return explainer_; }
  void AddMetrics(MetricsText* text) const;

 private:
  Prober prober_;
  Bouncer bouncer_;
  DropDebugger drops_;
  DropExplainer explainer_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_DAEMON_PROBE_PART_H
