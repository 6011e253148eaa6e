// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Controller: the parts of trumpet-controller, wired together (docs/adr/0013).
//
// Threads: that of the libevent loop.  Lifetime: `base` must outlive it.

#ifndef TRUMPET_CONTROLLER_DAEMON_CONTROLLER_H
#define TRUMPET_CONTROLLER_DAEMON_CONTROLLER_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/daemon/config.h"
#include "controller/daemon/probe_part.h"
#include "controller/daemon/slice_part.h"
#include "controller/daemon/trace_rule_part.h"
#include "controller/measure/measurement_manager.h"
#include "controller/ovsdb/analyzer_ports.h"
#include "controller/ovsdb/remote_switches.h"
#include "controller/rest/rest_server.h"
#include "controller/store/event_store.h"
#include "controller/store/report_store.h"
#include "controller/tem/event_manager.h"
#include "controller/tem/report_hub.h"
#include "controller/topology/live_topology.h"
#include "controller/topology/topology_watch.h"
#include "lib/base/status.h"
#include "lib/wire/tls_context.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {

using ControllerLog = std::function<void(const char* level, const std::string& text)>;

class Notifier;

class Controller {
 public:
  // Listens at all addresses, and opens the stores.
  static Result<std::unique_ptr<Controller>> Start(event_base* base, ControllerConfig config,
                                                   ControllerLog log);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Reads the files again that may change while we run.
  void Reload();
  // Takes leave of the agents, which needs some more turns of the loop.
  void Stop();

  EventManager& events() { return *manager_; }
  ReportHub& reports() { return *hub_; }
  MeasurementManager& measurements() { return *measurements_; }
  CampaignManager& campaigns() { return slices_->campaigns(); }
  const Notifier* notifier() const { return notifier_.get(); }  // may be null
  TraceRulePart& trace_rules() { return *trace_rules_; }
  ReshufflerPart& reshufflers() { return *reshufflers_; }
  OpenflowPart& openflow() { return *openflow_; }
  const ControllerConfig& config() const { return config_; }
  // As the file, agents and LLDP tell it now.
  Topology CurrentTopology() const;
  // Switches whose databases are followed; those of the configuration.
  RemoteSwitches& switch_databases() { return *switch_databases_; }
  // What they have for analyzers.
  AnalyzerPorts& analyzer_ports() { return *analyzer_ports_; }
  // One JSON object: where we listen, port by port.
  std::string PortsJson() const;

 private:
  Controller(event_base* base, ControllerConfig config, ControllerLog log);
  Status OpenStores();
  Status OpenEvents();
  Status StartSlices();
  void StartMeasurements();
  void StartTraceRules();
  void StartProbes();
  void StartReshufflers();
  Status StartNotifier();
  Status ReadTopology();
  void SetTopology(Topology topology);
  Status FollowSwitches();
  Status Listen();
  Status ServeRest();
  Status StartOpenflow();
  void AddMetrics(MetricsText* text) const;
  void AddSwitchMetrics(MetricsText* text) const;

  event_base* const base_;
  const ControllerConfig config_;
  const ControllerLog log_;
  SystemWireClock clock_;
  std::unique_ptr<ReportStore> report_store_;
  std::unique_ptr<ReportHub> hub_;
  std::unique_ptr<EventStore> event_store_;
  std::unique_ptr<TlsContext> agents_tls_;
  std::unique_ptr<EventManager> manager_;
  std::unique_ptr<TlsContext> database_tls_;
  std::unique_ptr<Notifier> notifier_;
  std::unique_ptr<TlsContext> switches_tls_;
  std::unique_ptr<AnalyzerPorts> analyzer_ports_;
  std::unique_ptr<RemoteSwitches> switch_databases_;
  std::unique_ptr<EventStore> campaign_store_;
  std::unique_ptr<EventStore> measurement_store_;
  std::unique_ptr<EventStore> trace_rule_store_;
  std::unique_ptr<EventStore> trace_counter_store_;
  std::unique_ptr<MeasurementManager> measurements_;
  std::unique_ptr<LoopEvent> measurement_starter_;
  std::unique_ptr<SlicePart> slices_;  // observes the topology, drives by OpenFlow
  LiveTopology topology_;
  std::vector<uint16_t> agent_ports_;
  std::unique_ptr<OpenflowPart> openflow_;
  std::unique_ptr<TopologyWatch> watch_;
  std::unique_ptr<TraceRulePart> trace_rules_;   // observes nothing, asks switches and analyzers
  std::unique_ptr<ProbePart> probes_;            // likewise
  std::unique_ptr<ReshufflerPart> reshufflers_;  // likewise
  std::unique_ptr<RestServer> rest_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_DAEMON_CONTROLLER_H
