// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/daemon/controller.h"

#include <openssl/rand.h>

#include <utility>

#include "controller/notify/notifier.h"
#include "controller/plan/slice/network_files.h"
#include "controller/store/memory_event_store.h"
#include "controller/store/memory_report_store.h"
#include "controller/store/ovsdb_event_store.h"
#include "controller/store/sqlite_report_store.h"
#include "lib/base/text_file.h"
#include "lib/wire/address.h"

namespace trumpet {
namespace {

constexpr char kMemory[] = "memory:";

constexpr size_t kMaxTopologyBytes = 64 << 20;

uint64_t RandomNumber() {
  uint64_t number = 0;
  while (number == 0) {
    if (RAND_bytes(reinterpret_cast<unsigned char*>(&number), sizeof number) != 1) return 0;
  }
  return number;
}

std::string ToJson(const std::vector<uint16_t>& ports) {
  std::string text;
  for (const uint16_t port : ports) text += (text.empty() ? "" : ", ") + std::to_string(port);
  return "[" + text + "]";
}

}  // namespace

Controller::Controller(event_base* base, ControllerConfig config, ControllerLog log)
    : base_(base), config_(std::move(config)), log_(std::move(log)) {}

Controller::~Controller() = default;

Result<std::unique_ptr<Controller>> Controller::Start(event_base* base, ControllerConfig config,
                                                      ControllerLog log) {
  std::unique_ptr<Controller> controller(new Controller(base, std::move(config), std::move(log)));
  Status status = controller->OpenStores();
  if (!status.ok()) return status;
  EventManagerOptions options = controller->config_.manager;
  options.network.hash_seed = RandomNumber();
  EventManagerParts parts;
  parts.base = base;
  parts.store = controller->event_store_.get();
  parts.reports = controller->hub_.get();
  parts.clock = &controller->clock_;
  parts.log = controller->log_;
  controller->manager_ = std::make_unique<EventManager>(parts, options);
  status = controller->ReadTopology();
  if (!status.ok()) return status;
  status = controller->Listen();
  if (!status.ok()) return status;
  status = controller->StartOpenflow();
  if (!status.ok()) return status;
  status = controller->StartSlices();
  if (!status.ok()) return status;
  controller->StartMeasurements();
  status = controller->StartNotifier();
  if (!status.ok()) return status;
  status = controller->FollowSwitches();
  if (!status.ok()) return status;
  controller->StartTraceRules();
  controller->StartProbes();
  controller->StartReshufflers();
  status = controller->ServeRest();
  if (!status.ok()) return status;
  controller->manager_->Start();
  return controller;
}

Status Controller::OpenStores() {
  if (!config_.reports.database.empty()) {
    SqliteReportStoreOptions options;
    options.path = config_.reports.database;
    options.limits = {config_.reports.max_bytes, config_.reports.keep_ns};
    options.log = log_;
    report_store_ = std::make_unique<SqliteReportStore>(base_, std::move(options));
  } else {
    report_store_ = std::make_unique<MemoryReportStore>(base_, ReportHub::kKept,
                                                        NumberOfTime(clock_.UnixNow()));
  }
  hub_ = std::make_unique<ReportHub>(report_store_.get());
  return OpenEvents();
}

Status Controller::OpenEvents() {
  const uint64_t id = RandomNumber() >> 1;  // OVSDB's integers have a sign
  if (id == 0) return Status::Error("no random numbers are to be had");
  if (config_.database == kMemory) {
    event_store_ = std::make_unique<MemoryEventStore>(base_, id);
    campaign_store_ = std::make_unique<MemoryEventStore>(base_, id);
    measurement_store_ = std::make_unique<MemoryEventStore>(base_, id);
    trace_rule_store_ = std::make_unique<MemoryEventStore>(base_, id);
    trace_counter_store_ = std::make_unique<MemoryEventStore>(base_, id);
    return Status::Ok();
  }
  auto remotes = ParseOvsdbRemotes(config_.database);
  if (!remotes.ok()) return Status::Error("database: " + remotes.message());
  OvsdbEventStoreOptions options;
  options.new_controller_id = id;
  options.client.seed = RandomNumber();
  for (const OvsdbRemote& remote : *remotes) {
    if (remote.kind != OvsdbRemote::Kind::kTls || database_tls_ != nullptr) continue;
    auto tls = TlsContext::Load(config_.database_tls);
    if (!tls.ok()) return Status::Error("database at " + remote.text + ": " + tls.message());
    database_tls_ = std::move(*tls);
    options.client.new_tls_connection = [this] {
      database_tls_->ReloadIfChanged(clock_.MonotonicNow());
      return database_tls_->NewConnection();
    };
  }
  options.client.remotes = std::move(*remotes);
  event_store_ = std::make_unique<OvsdbEventStore>(base_, options);
  options.table = kSliceTable;
  options.lock = "trumpet_slices";
  campaign_store_ = std::make_unique<OvsdbEventStore>(base_, options);
  options.table = kMeasurementTable;
  options.lock = "trumpet_measurements";
  measurement_store_ = std::make_unique<OvsdbEventStore>(base_, options);
  options.table = kTraceRulesTable;
  options.lock = "trumpet_trace_rules";
  trace_rule_store_ = std::make_unique<OvsdbEventStore>(base_, options);
  options.table = kTraceCounterTable;
  options.lock = "trumpet_trace_counters";
  trace_counter_store_ = std::make_unique<OvsdbEventStore>(base_, std::move(options));
  return Status::Ok();
}

// The owner of what we make in switches is known again after a restart: our name.
Status Controller::FollowSwitches() {
  RemoteSwitchOptions options;
  options.owner = config_.manager.name;
  options.seed = RandomNumber();
  for (const SwitchDatabaseConfig& one : config_.ovsdb.switches) {
    if (one.database.find("ssl:") == std::string::npos || switches_tls_ != nullptr) continue;
    auto tls = TlsContext::Load(config_.ovsdb.tls);
    if (!tls.ok()) return Status::Error("ovsdb: " + tls.message());
    switches_tls_ = std::move(*tls);
    options.new_tls_connection = [this] {
      switches_tls_->ReloadIfChanged(clock_.MonotonicNow());
      return switches_tls_->NewConnection();
    };
  }
  std::vector<WantedAnalyzerPort> ports;
  for (const OpenflowSwitchConfig& one : config_.openflow.switches) {
    if (one.analyzer.empty()) continue;
    ports.push_back({one.datapath_id, one.name, one.analyzer,
                     one.copy.is_erspan ? TunnelKind::kErspan : TunnelKind::kGre});
  }
  analyzer_ports_ = std::make_unique<AnalyzerPorts>(ports, log_);
  openflow_->FindMadePorts([this](uint64_t id) { return analyzer_ports_->NumberOf(id); });
  switch_databases_ =
      std::make_unique<RemoteSwitches>(base_, clock_, options, analyzer_ports_.get());
  for (const SwitchDatabaseConfig& one : config_.ovsdb.switches) {
    const Status status = switch_databases_->Add(one.name, one.database);
    if (!status.ok()) return Status::Error("ovsdb: " + status.message());
  }
  return Status::Ok();
}

// Events ask for hosts, and for nothing that LLDP tells.
void Controller::SetTopology(Topology topology) {
  manager_->SetTopology(topology);
  topology_.SetFile(std::move(topology));
  if (watch_ != nullptr) watch_->OnFile();
}

Topology Controller::CurrentTopology() const {
  Topology topology = manager_->topology();
  const Topology live = watch_ != nullptr ? watch_->Now() : topology_.topology();
  topology.switches = live.switches;
  topology.links = live.links;
  topology.lost_links = live.lost_links;
  return topology;
}

Status Controller::StartSlices() {
  SlicePart::Parts parts;
  parts.base = base_;
  parts.clock = &clock_;
  parts.events = event_store_.get();
  parts.campaigns = campaign_store_.get();
  parts.manager = manager_.get();
  parts.reports = hub_.get();
  parts.openflow = &openflow_->driver();
  parts.switches = &openflow_->net();
  parts.copy_flows_of = [this](const std::string& name) { return openflow_->CopyFlowsOf(name); };
  parts.name = config_.manager.name;
  parts.log = log_;
  auto slices = SlicePart::Start(parts, config_.slices, config_.analyzers);
  if (!slices.ok()) return slices.status();
  slices_ = std::move(*slices);
  campaigns().SetTopology(CurrentTopology());
  topology_.AddObserver(&campaigns());
  return Status::Ok();
}

// Who holds the lock of events installs the programs, too: agents have their session there.
void Controller::StartMeasurements() {
  MeasurementParts parts;
  parts.base = base_;
  parts.clock = &clock_;
  parts.store = measurement_store_.get();
  parts.hosts = manager_.get();
  parts.draw_seed = RandomNumber;
  parts.log = log_;
  measurements_ = std::make_unique<MeasurementManager>(parts);
  measurement_starter_ = std::make_unique<LoopEvent>(base_, [this, is_started = false]() mutable {
    const StoreState events = event_store_->state();
    if (events == StoreState::kReady && !is_started) measurements_->Start();
    if (events == StoreState::kStandby && is_started) measurements_->StandBy();
    if (events != StoreState::kAway) is_started = events == StoreState::kReady;
  });
  measurement_starter_->RunEvery(100 * kNanosPerMilli);
}

void Controller::StartTraceRules() {
  TraceRulePart::Parts parts;
  parts.base = base_;
  parts.clock = &clock_;
  parts.events = event_store_.get();
  parts.store = trace_rule_store_.get();
  parts.openflow = openflow_.get();
  parts.collector = &slices_->collector();
  parts.traces = slices_->traces();
  parts.topology = [this] { return CurrentTopology(); };
  parts.counters = trace_counter_store_.get();
  parts.seed = RandomNumber();
  parts.log = log_;
  trace_rules_ = std::make_unique<TraceRulePart>(parts);
}

void Controller::StartProbes() {
  ProbePart::Parts parts;
  parts.base = base_;
  parts.clock = &clock_;
  parts.openflow = openflow_.get();
  parts.collector = &slices_->collector();
  parts.traces = slices_->traces();
  parts.rules = &trace_rules_->manager();
  parts.topology = [this] { return CurrentTopology(); };
  parts.rate = config_.openflow.probe_rate;
  parts.prober_seed = RandomNumber();
  parts.bouncer_seed = RandomNumber();
  parts.drop_seed = RandomNumber();
  parts.log = log_;
  probes_ = std::make_unique<ProbePart>(parts);
}

void Controller::StartReshufflers() {
  ReshufflerPart::Parts parts;
  parts.base = base_;
  parts.clock = &clock_;
  parts.events = event_store_.get();
  parts.net = &openflow_->net();
  parts.collector = &slices_->collector();
  parts.openflow = &config_.openflow;
  parts.log = log_;
  reshufflers_ = std::make_unique<ReshufflerPart>(parts, config_.reshufflers);
}

Status Controller::StartNotifier() {
  if (config_.notify.receivers.empty()) return Status::Ok();
  notifier_ = std::make_unique<Notifier>(base_, hub_.get(), config_.notify, log_);
  return notifier_->Start();
}

Status Controller::ReadTopology() {
  if (config_.topology.empty()) return Status::Ok();
  const Result<std::string> text = ReadTextFile(config_.topology, kMaxTopologyBytes);
  if (!text.ok()) return text.status();
  if (text->size() > kMaxTopologyBytes) {
    return Status::Error(config_.topology + ": is larger than 64 MiB");
  }
  Result<Topology> topology = slice::ParseTopologyFile(*text, config_.topology);
  if (!topology.ok()) return topology.status();
  log_("info", "topology: " + std::to_string(topology->hosts.size()) + " hosts, " +
                   std::to_string(topology->switches.size()) + " switches");
  SetTopology(std::move(*topology));
  return Status::Ok();
}

Status Controller::Listen() {
  for (const std::string& text : config_.agents.listen) {
    const Result<Address> address = ParsePassiveAddress(text);
    if (!address.ok()) return address.status();
    if (address->is_tls && agents_tls_ == nullptr) {
      auto tls = TlsContext::Load(config_.agents.tls);
      if (!tls.ok()) return Status::Error("agents at " + text + ": " + tls.message());
      agents_tls_ = std::move(*tls);
    }
    const auto port = manager_->Listen(*address, address->is_tls ? agents_tls_.get() : nullptr);
    if (!port.ok()) return Status::Error("agents at " + text + ": " + port.message());
    agent_ports_.push_back(*port);
    log_("info", "agents: listening at " + text + ", port " + std::to_string(*port));
  }
  return Status::Ok();
}

Status Controller::StartOpenflow() {
  OpenflowConfig config = config_.openflow;
  AddReshufflers(config_.reshufflers, &config);
  auto openflow = OpenflowPart::Start(base_, std::move(config), clock_, RandomNumber(), log_);
  if (!openflow.ok()) return openflow.status();
  openflow_ = std::move(*openflow);
  openflow_->ActFor(event_store_.get());
  watch_ = std::make_unique<TopologyWatch>(base_, clock_, LinkDiscoveryOptions(), &openflow_->net(),
                                           &topology_, log_);
  watch_->SetQuietPorts([this](const OpenflowSwitch& which, uint32_t port) {
    const auto copies = openflow_->CopyPort(which.name());
    return copies && copies->port == port;
  });
  return Status::Ok();
}

Status Controller::ServeRest() {
  RestParts parts;
  parts.base = base_;
  parts.events = manager_.get();
  parts.reports = hub_.get();
  parts.campaigns = &campaigns();
  parts.packets = slices_->packets();
  parts.traces = slices_->traces();
  parts.measurements = measurements_.get();
  parts.trace_rules = &trace_rules_->manager();
  parts.trace_counters = &trace_rules_->counters();
  parts.probes = &probes_->prober();
  parts.bounces = &probes_->bouncer();
  parts.drops = &probes_->drops();
  parts.drop_reasons = &probes_->explainer();
  parts.reshufflers = &reshufflers_->manager();
  parts.clock = &clock_;
  parts.log = log_;
  parts.topology = [this] { return CurrentTopology(); };
  parts.set_topology = [this](Topology topology) { SetTopology(std::move(topology)); };
  parts.add_metrics = [this](MetricsText* text) { AddMetrics(text); };
  auto rest = RestServer::Start(parts, config_.rest);
  if (!rest.ok()) return Status::Error("REST: " + rest.message());
  rest_ = std::move(*rest);
  for (const uint16_t port : rest_->ports()) {
    log_("info", "REST: listening at port " + std::to_string(port));
  }
  return Status::Ok();
}

void Controller::AddMetrics(MetricsText* text) const {
  const EventStoreCounters store = event_store_->counters();
  text->Counter("trumpet_event_store_connections", "Connections made to the events' database.",
                store.connections);
  text->Counter("trumpet_event_store_transactions", "Changes sent to it.", store.transactions);
  text->Counter("trumpet_event_store_failures", "Changes that it refused.",
                store.failed_transactions);
  text->Counter("trumpet_event_store_malformed_records", "Rows that are no events.",
                store.malformed_records);
  AddSwitchMetrics(text);
  openflow_->AddMetrics(text);
  slices_->AddMetrics(text);
  trace_rules_->AddMetrics(text);
  probes_->AddMetrics(text);
  reshufflers_->AddMetrics(text);
  if (notifier_ == nullptr) return;
  const std::vector<ReceiverView> receivers = notifier_->Receivers();
  const auto family = [&](const char* name, MetricsText::Type type, const char* help, auto value) {
    text->Family(name, type, help);
    for (const ReceiverView& receiver : receivers) {
      text->Add({{"receiver", receiver.name}}, uint64_t{value(receiver)});
    }
  };
  using Type = MetricsText::Type;
  family("trumpet_notify_delivered", Type::kCounter, "Reports or alerts that a receiver has taken.",
         [](const ReceiverView& receiver) { return receiver.delivered; });
  family("trumpet_notify_dropped", Type::kCounter,
         "Reports that were given up, missed, or had no room.",
         [](const ReceiverView& receiver) { return receiver.dropped; });
  family("trumpet_notify_waiting", Type::kGauge, "Reports or alerts that wait for a receiver.",
         [](const ReceiverView& receiver) { return receiver.waiting; });
}

void Controller::AddSwitchMetrics(MetricsText* text) const {
  const LinkDiscoveryCounters& links = watch_->counters();
  text->Counter("trumpet_lldp_sent", "LLDP frames sent out of ports of switches.", links.sent);
  text->Counter("trumpet_lldp_accepted", "Those that came through a link.", links.accepted);
  text->Counter("trumpet_lldp_refused",
                "Frames forged, malformed, stale, or from ports that are not up.",
                links.forged + links.malformed + links.stale + links.from_unknown_ports);
  text->Counter("trumpet_lldp_from_edge_ports", "Frames of ours that came from edge ports.",
                links.from_edge_ports);
  uint64_t connected = 0;
  RemoteSwitchCounters all;
  for (const auto& [name, one] : switch_databases_->all()) {
    connected += one->is_connected();
    all.changes += one->counters().changes;
    all.refused += one->counters().refused;
    all.repairs += one->counters().repairs;
  }
  text->Gauge("trumpet_switch_databases_connected", "Switches whose database is followed.",
              connected);
  text->Counter("trumpet_switch_database_changes", "Changes made in them.", all.changes);
  text->Counter("trumpet_switch_database_refusals", "Changes that they refused.", all.refused);
  text->Counter("trumpet_switch_database_repairs",
                "Changes that put back what somebody had changed.", all.repairs);
}

void Controller::Reload() {
  rest_->Reload();
  const Status topology = ReadTopology();
  if (!topology.ok()) log_("err", "topology stays as it was: " + topology.message());
  if (notifier_ == nullptr) return;
  const Status notifier = notifier_->Reload();
  if (!notifier.ok()) log_("err", "notify: " + notifier.message());
}

void Controller::Stop() {
  rest_->Stop();
  slices_->Stop();
  manager_->Stop();
}

std::string Controller::PortsJson() const {
  return "{\"agents\": " + ToJson(agent_ports_) + ", \"analyzers\": " + ToJson(slices_->ports()) +
         ", \"openflow\": " + ToJson(openflow_->ports()) + ", \"rest\": " + ToJson(rest_->ports()) +
         ", \"samples\": " + ToJson(slices_->sample_ports()) + "}";
}

}  // namespace trumpet
