// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/daemon/config.h"

#include <utility>

#include "controller/daemon/config_reader.h"
#include "controller/ovsdb/remote_switches.h"
#include "lib/ovsdb/ovsdb_remote.h"
#include "lib/wire/address.h"

namespace trumpet {
namespace {

constexpr Nanos kSecond = kNanosPerSecond;
constexpr Nanos kDay = 86400 * kSecond;

void ReadTls(ConfigSection* section, TlsFiles* files) {
  section->Text("private_key", &files->private_key);
  section->Text("certificate", &files->certificate);
  section->Text("ca_certificate", &files->ca_certificate);
}

void ReadAgents(ConfigSection* section, ControllerConfig* config) {
  section->Texts("listen", &config->agents.listen);
  for (const std::string& address : config->agents.listen) {
    const auto parsed = ParsePassiveAddress(address);
    if (!parsed.ok()) section->ComplainOf("listen", parsed.message());
  }
  ReadTls(section, &config->agents.tls);
  EventManagerOptions& manager = config->manager;
  section->Bool("check_certificates", &manager.binds_hosts_to_certificates);
  section->Duration("forget_after", 0, 365 * kDay, &manager.forget_hosts_after_ns);
  section->Count("max_hosts", 1, 4096, &manager.network.max_hosts);
  manager.listener.max_sessions = manager.network.max_hosts;
}

void ReadRest(ConfigSection* section, RestOptions* rest) {
  section->Texts("listen", &rest->listen);
  for (const std::string& address : rest->listen) {
    const auto parsed = ParsePassiveAddress(address, kDefaultRestPort);
    if (!parsed.ok()) section->ComplainOf("listen", parsed.message());
  }
  ReadTls(section, &rest->tls);
  section->Text("tokens", &rest->access.token_file);
  section->Bool("trust_loopback", &rest->access.trusts_loopback);
  section->Bool("metrics_need_token", &rest->metrics_need_token);
  section->Count("max_connections", 1, 100'000, &rest->http.max_connections);
  section->Count("max_connections_per_address", 1, 100'000,
                 &rest->http.max_connections_per_address);
  section->Count("max_streams", 0, 100'000, &rest->max_streams);
  section->Text("simulator", &rest->simulation.program);
  section->Count("max_simulations", 0, 64, &rest->simulation.max_running);
  rest->http.max_uploads = rest->simulation.max_running;
}

void ReadReports(ConfigSection* section, ReportsConfig* reports) {
  section->Text("database", &reports->database);
  section->Duration("keep", kSecond, 3650 * kDay, &reports->keep_ns);
  section->Bytes("max_size", 1'000'000, 1'000'000'000'000'000, &reports->max_bytes);
}

void ReadEvents(ConfigSection* section, EventManagerOptions* manager) {
  section->Count("max", 1, 65536, &manager->max_events);
  section->Count("max_per_tenant", 1, 65536, &manager->max_events_per_tenant);
  section->Count("threshold_hosts", 0, 4096, &manager->max_threshold_hosts);
  size_t rate = manager->event.reports_per_second;
  section->Count("report_rate", 1, 1'000'000, &rate);
  manager->event.reports_per_second = static_cast<uint32_t>(rate);
  if (rate > 0) manager->event.report_burst = static_cast<uint32_t>(rate);
  uint64_t bytes = manager->network.budget.max_bytes;
  section->Bytes("max_waiting", 1'000'000, 1'000'000'000'000, &bytes);
  manager->network.budget.max_bytes = bytes;
  section->Count("max_buckets", 1, size_t{1} << 32, &manager->network.budget.max_buckets);
}

void ReadReceiver(ConfigSection* section, std::vector<NotifyReceiver>* receivers) {
  NotifyReceiver receiver;
  section->Text("name", &receiver.name);
  section->Text("url", &receiver.url);
  size_t format = 0;
  section->Choice("format", {"trumpet", "alertmanager"}, &format);
  receiver.format = format == 0 ? NotifyFormat::kTrumpet : NotifyFormat::kAlertmanager;
  section->Texts("events", &receiver.events);
  section->Text("tenant", &receiver.tenant);
  section->Pairs("headers", &receiver.headers);
  section->Pairs("header_files", &receiver.header_files);
  section->Text("ca_certificate", &receiver.ca_file);
  section->Text("certificate", &receiver.certificate_file);
  section->Text("private_key", &receiver.key_file);
  section->Duration("batch_window", 0, 60 * kSecond, &receiver.batch_window);
  section->Count("max_batch", 1, 100'000, &receiver.max_batch);
  section->Duration("timeout", kNanosPerMilli, 600 * kSecond, &receiver.timeout);
  section->Duration("first_retry", kNanosPerMilli, 3600 * kSecond, &receiver.first_retry);
  section->Duration("longest_retry", kNanosPerMilli, kDay, &receiver.longest_retry);
  section->Duration("give_up_after", kSecond, 30 * kDay, &receiver.give_up_after);
  section->Duration("resolve_after", kSecond, 30 * kDay, &receiver.resolve_after);
  const Status status = CheckReceiver(receiver);
  if (!status.ok()) section->Complain(status.message());
  for (const NotifyReceiver& other : *receivers) {
    if (other.name == receiver.name) section->ComplainOf("name", "another receiver has this name");
  }
  receivers->push_back(std::move(receiver));
}

void ReadNotify(ConfigSection* section, NotifyOptions* notify) {
  section->Text("directory", &notify->directory);
  section->Count("max_in_flight", 1, 1000, &notify->max_in_flight);
  section->Count("max_alerts", 1, 10'000'000, &notify->max_alerts);
  uint64_t bytes = notify->max_dead_letter_bytes;
  section->Bytes("max_dead_letters", 0, 1'000'000'000'000, &bytes);
  notify->max_dead_letter_bytes = bytes;
  notify->receivers.clear();
  section->Sections("receivers",
                    [&](ConfigSection* receiver) { ReadReceiver(receiver, &notify->receivers); });
}

void ReadSwitchDatabase(ConfigSection* section, std::vector<SwitchDatabaseConfig>* switches) {
  SwitchDatabaseConfig one;
  section->Text("name", &one.name);
  section->Text("database", &one.database);
  if (one.name.empty()) section->Complain("a switch needs a name");
  const auto remotes = ParseOvsdbRemotes(one.database);
  if (!remotes.ok()) section->ComplainOf("database", remotes.message());
  for (const SwitchDatabaseConfig& other : *switches) {
    if (other.name == one.name) section->ComplainOf("name", "another switch has this name");
  }
  if (switches->size() == kMaxRemoteSwitches) {
    section->Complain("there are more than " + std::to_string(kMaxRemoteSwitches) + " switches");
  }
  switches->push_back(std::move(one));
}

void ReadOvsdb(ConfigSection* section, OvsdbConfig* ovsdb) {
  ReadTls(section, &ovsdb->tls);
  ovsdb->switches.clear();
  section->Sections("switches",
                    [&](ConfigSection* one) { ReadSwitchDatabase(one, &ovsdb->switches); });
}

// Ports to analyzers are made in databases that we follow.
void CheckAnalyzers(ConfigSection* openflow, const ControllerConfig& config) {
  for (const OpenflowSwitchConfig& one : config.openflow.switches) {
    if (one.analyzer.empty() || !config.ovsdb.switches.empty()) continue;
    return openflow->ComplainOf("switches", "the port of '" + one.name +
                                                "' to its analyzer is made in the switch's "
                                                "database, and 'ovsdb: switches' names none");
  }
}

// A switch that both name is marked by its datapath, and its flows that copy are ours.
void JoinSwitches(ConfigSection* root, ControllerConfig* config) {
  for (OpenflowSwitchConfig& one : config->openflow.switches) {
    if (one.copy.switch_number == 0) continue;
    for (const DatapathSwitchConfig& marked : config->slices.switches) {
      if (marked.name != one.name) continue;
      one.is_marked = true;
      if (marked.place.number == one.copy.switch_number) continue;
      root->Complain("copies of switch '" + one.name + "' have the number " +
                     std::to_string(one.copy.switch_number) + " under openflow and " +
                     std::to_string(marked.place.number) + " under slices");
    }
  }
}

// Their bridges are among the switches that are spoken to with OpenFlow.
void JoinReshufflers(ConfigSection* root, ControllerConfig* config) {
  const std::string problem = ReshufflerProblem(config->reshufflers, config->openflow);
  if (!problem.empty()) root->Complain(problem);
  config->analyzers.ask_interval = AskInterval(config->reshufflers);
}

void ReadAll(ConfigSection* root, ControllerConfig* config) {
  root->Text("name", &config->manager.name);
  root->Text("database", &config->database);
  root->Text("topology", &config->topology);
  root->Section("analyzers",
                [&](ConfigSection* section) { ReadAnalyzers(section, &config->analyzers); });
  root->Section("agents", [&](ConfigSection* section) { ReadAgents(section, config); });
  root->Section("events", [&](ConfigSection* section) { ReadEvents(section, &config->manager); });
  root->Section("database_tls",
                [&](ConfigSection* section) { ReadTls(section, &config->database_tls); });
  root->Section("notify", [&](ConfigSection* section) { ReadNotify(section, &config->notify); });
  root->Section("ovsdb", [&](ConfigSection* section) { ReadOvsdb(section, &config->ovsdb); });
  root->Section("openflow", [&](ConfigSection* section) {
    ReadOpenflow(section, &config->openflow);
    CheckAnalyzers(section, *config);
  });
  root->Section("reports", [&](ConfigSection* section) { ReadReports(section, &config->reports); });
  root->Section("reshufflers",
                [&](ConfigSection* section) { ReadReshufflers(section, &config->reshufflers); });
  root->Section("slices", [&](ConfigSection* section) { ReadSlices(section, &config->slices); });
  root->Section("rest", [&](ConfigSection* section) { ReadRest(section, &config->rest); });
}

}  // namespace

ControllerConfig DefaultConfig(const std::string& config_directory,
                               const std::string& state_directory,
                               const std::string& run_directory) {
  ControllerConfig config;
  config.database = "unix:" + run_directory + "/db.sock";
  config.reports.database = state_directory + "/reports.db";
  config.agents.listen = {"pssl:" + std::to_string(kDefaultPort) + ":127.0.0.1"};
  config.agents.tls = {config_directory + "/controller-privkey.pem",
                       config_directory + "/controller-cert.pem", config_directory + "/ca.pem"};
  config.database_tls = config.agents.tls;
  config.ovsdb.tls = config.agents.tls;
  config.analyzers.tls = config.agents.tls;
  config.openflow.tls = config.agents.tls;
  config.notify.directory = state_directory + "/notify";
  config.rest.listen = {"ptcp:" + std::to_string(kDefaultRestPort) + ":127.0.0.1"};
  config.rest.tls = {config_directory + "/controller-privkey.pem",
                     config_directory + "/controller-cert.pem", ""};
  config.rest.simulation.program = TRUMPET_REPLAY;
  config.manager.name = "trumpet";
  config.manager.forget_hosts_after_ns = 600 * kSecond;
  return config;
}

Status ReadConfig(std::string_view text, std::string_view source_name, ControllerConfig* config) {
  const event_lang::Source source{source_name, text};
  const auto document = event_lang::ReadYaml(source);
  if (!document.ok()) return document.status();
  ControllerConfig read = *config;
  std::vector<std::string> errors;
  ConfigSection root(source, &*document, "", &errors);
  ReadAll(&root, &read);
  JoinSwitches(&root, &read);
  JoinReshufflers(&root, &read);
  root.Finish();
  if (errors.empty()) {
    *config = std::move(read);
    return Status::Ok();
  }
  return Status::Error(JoinErrors(errors));
}

}  // namespace trumpet
