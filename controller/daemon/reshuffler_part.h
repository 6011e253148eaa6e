// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ReshufflerPart: reshufflers as the daemon has them: configuration, the manager with its switches
// and the analyzers whose sessions tell who is alive, commands and metrics (docs/reshuffler.md).
//
// Threads: that of the libevent loop.  Lifetime: what Parts name must outlive it.

#ifndef TRUMPET_CONTROLLER_DAEMON_RESHUFFLER_PART_H
#define TRUMPET_CONTROLLER_DAEMON_RESHUFFLER_PART_H

#include <functional>
#include <string>
#include <vector>

#include "controller/daemon/config_reader.h"
#include "controller/daemon/daemon.h"
#include "controller/daemon/openflow_part.h"
#include "controller/rest/metrics_text.h"
#include "controller/slice/analyzer_collector.h"
#include "controller/store/event_store.h"
#include "controller/trace/reshuffler_manager.h"
#include "lib/base/loop_event.h"

namespace trumpet {

struct ReshufflersConfig {
  std::vector<ReshufflerPlace> bridges;  // without their datapath ids
  std::vector<ReshuffleTarget> analyzers;
  AnalyzerHealthOptions health;
};

void ReadReshufflers(ConfigSection* section, ReshufflersConfig* config);
// What is wrong with the switches that are named, against those of OpenFlow; none: "".
std::string ReshufflerProblem(const ReshufflersConfig& config, const OpenflowConfig& openflow);
// What switches must have and know for them: before OpenflowPart begins.
void AddReshufflers(const ReshufflersConfig& config, OpenflowConfig* openflow);
// How often analyzers must be asked whether they are there.
Nanos AskInterval(const ReshufflersConfig& config);

class ReshufflerPart {
 public:
  struct Parts {
    event_base* base = nullptr;
    const WireClock* clock = nullptr;
    const EventStore* events = nullptr;  // who holds its lock gives out slots
    OpenflowNet* net = nullptr;
    const AnalyzerCollector* collector = nullptr;
    const OpenflowConfig* openflow = nullptr;  // for datapath ids
    std::function<void(const char* level, const std::string& text)> log;
  };

  ReshufflerPart(const Parts& parts, const ReshufflersConfig& config);
  ReshufflerPart(const ReshufflerPart&) = delete;
  ReshufflerPart& operator=(const ReshufflerPart&) = delete;

  const ReshufflerManager& manager() const { return manager_; }
  void AddMetrics(MetricsText* text) const;
  // reshuffler/list.  The part must outlive it.
  std::vector<DaemonCommand> MakeCommands();

 private:
  const Parts parts_;
  ReshufflerManager manager_;
  bool is_started_ = false;
  LoopEvent starter_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_DAEMON_RESHUFFLER_PART_H
