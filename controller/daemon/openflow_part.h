// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// OpenflowPart: OpenFlow as the daemon has it: configuration, connections, the driver of slices,
// commands and metrics (docs/openflow.md).
//
// Threads: that of the libevent loop.

#ifndef TRUMPET_CONTROLLER_DAEMON_OPENFLOW_PART_H
#define TRUMPET_CONTROLLER_DAEMON_OPENFLOW_PART_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/daemon/config_reader.h"
#include "controller/daemon/daemon.h"
#include "controller/openflow/openflow_net.h"
#include "controller/plan/topology.h"
#include "controller/rest/metrics_text.h"
#include "controller/slice/datapath_driver.h"
#include "controller/slice/openflow_driver.h"
#include "controller/store/event_store.h"
#include "controller/trace/trace_rule_manager.h"
#include "lib/base/loop_event.h"
#include "lib/base/status.h"
#include "lib/wire/tls_context.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {

struct OpenflowSwitchConfig {
  std::string name;
  uint64_t datapath_id = 0;
  std::string connect;     // "tcp:127.0.0.1:6653", "ssl:HOST"; empty: it comes to us
  OpenflowCopyPort copy;   // number 0: it takes no slices by OpenFlow
  std::string analyzer;    // address; empty: `copy` names the port, else it is made in the database
  bool is_marked = false;  // by its datapath: it has the flows of copy_flows.h
};

struct OpenflowConfig {
  std::vector<std::string> listen;  // "pssl:6653", "ptcp:6653:127.0.0.1"; none: nowhere
  TlsFiles tls;
  size_t max_switches = 1024;
  uint32_t probe_rate = 100;      // packets of probes per second, of all switches together
  std::vector<Prefix> analyzers;  // besides those of the switches: copies go to them, too
  std::vector<OpenflowSwitchConfig> switches;
  // Of reshufflers, by datapath id (reshuffler_part.h).
  std::map<uint64_t, std::vector<OpenflowRule>> standing_rules;
  std::map<uint64_t, OpenflowClaim> more_claims;
};

void ReadOpenflow(ConfigSection* section, OpenflowConfig* config);

class OpenflowPart {
 public:
  using Log = OpenflowNet::Log;

  // Listens, and begins to connect.
  static Result<std::unique_ptr<OpenflowPart>> Start(event_base* base, OpenflowConfig config,
                                                     const WireClock& clock, uint64_t seed,
                                                     Log log);

  // Once that store is ready for us, slices, bounces and flows of probes at switches are ours to
  // end; before, and while another controller has it, they are left alone.
  void ActFor(const EventStore* events);
  OpenflowNet& net() { return *net_; }
  SliceDriver& driver() { return *driver_; }
  const std::vector<uint16_t>& ports() const { return ports_; }
  // Asks for the ports to analyzers that are made in databases, by the bridge's datapath id; 0:
  // there is none.
  using MadePort = std::function<uint32_t(uint64_t datapath_id)>;
  void FindMadePorts(MadePort made_port) { made_port_ = std::move(made_port); }
  // The switches that copy, with the prefixes of hosts behind each as their own.
  std::vector<TracePlace> TracePlaces(const Topology& topology) const;
  // Where the switch sends copies; none if there is no such port now.
  std::optional<OpenflowCopyPort> CopyPort(const std::string& name) const;
  CopyFlowState CopyFlowsOf(const std::string& switch_name) const;
  void AddMetrics(MetricsText* text) const;
  // openflow/list, openflow/show, openflow/purge.  The part must outlive them.
  std::vector<DaemonCommand> MakeCommands();

 private:
  OpenflowPart(event_base* base, OpenflowConfig config, Log log)
      : base_(base), config_(std::move(config)), log_(std::move(log)) {}
  Status Open();
  Result<TlsContext*> Tls();
  std::string ListText() const;
  std::string ListJson() const;
  void Show(const std::string& name, CommandReply reply) const;
  void Purge(const std::string& name, CommandReply reply);
  void LookAtMadePorts();
  bool HasCopyFlows(const OpenflowSwitchConfig& one) const;

  // The flows that copy to a port that is made in a database, and may be another one tomorrow.
  struct MadeFlows {
    uint32_t port = 0;  // that they lead to; 0: they are not there yet
    bool is_asked_for = false;
    bool is_purged = false;
    std::string problem;  // that was told
  };

  event_base* const base_;
  const OpenflowConfig config_;
  const Log log_;
  MadePort made_port_;
  std::unique_ptr<TlsContext> tls_;
  std::unique_ptr<OpenflowNet> net_;
  std::unique_ptr<OpenflowDriver> driver_;
  std::map<uint64_t, MadeFlows> made_flows_;  // by datapath id
  std::unique_ptr<LoopEvent> looking_;        // at made ports
  bool is_acting_ = false;
  std::unique_ptr<LoopEvent> starter_;
  std::vector<uint16_t> ports_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_DAEMON_OPENFLOW_PART_H
