// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// trumpet-controller: the event manager, as a daemon.

#include <event2/event.h>
#include <sys/resource.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "controller/daemon/config.h"
#include "controller/daemon/config_reader.h"
#include "controller/daemon/control_commands.h"
#include "controller/daemon/controller.h"
#include "controller/daemon/daemon.h"
#include "controller/daemon/process.h"
#include "controller/daemon/switch_commands.h"
#include "lib/base/loop_event.h"

namespace trumpet {
namespace {

constexpr char kSynopsis[] =
    "trumpet-controller: events of a network, from the hosts that count its packets\n"
    "usage: trumpet-controller [OPTION]...\n";

const DaemonProgram& Program() {
  static const DaemonProgram program = {
      kSynopsis,
      {{"config", "FILE", "configuration (default: controller.yaml in /etc/trumpet)"},
       {"check-config", "", "say what is wrong with it, and exit"},
       {"db", "REMOTE", "database of events; memory: forgets them at the end"},
       {"agents", "ADDRESS", "listen there for agents: pssl:[PORT][:HOST], ptcp:PORT:127.0.0.1"},
       {"rest", "ADDRESS", "serve the HTTP API there: pssl:[PORT][:HOST], ptcp:PORT:127.0.0.1"},
       {"tokens", "FILE", "who may use it"},
       {"topology", "FILE", "hosts and their prefixes"},
       {"reports-db", "FILE", "keep reports there; empty: do not keep any"},
       {"ports-file", "FILE", "write there, as JSON, which ports were taken"}}};
  return program;
}

Result<ControllerConfig> MakeConfig(const Daemon& daemon) {
  const DaemonDirectories directories = Daemon::directories();
  ControllerConfig config = DefaultConfig(directories.config, directories.state, directories.run);
  std::string path = directories.config + "/controller.yaml";
  const bool is_asked_for = daemon.TakeOption("config", &path);
  const Result<std::string> text = ReadConfigText(path, is_asked_for);
  if (!text.ok()) return text.status();
  const Status read = ReadConfig(*text, path, &config);
  if (!read.ok()) return read;
  daemon.TakeOption("db", &config.database);
  daemon.TakeOption("topology", &config.topology);
  daemon.TakeOption("reports-db", &config.reports.database);
  std::string agents;
  if (daemon.TakeOption("agents", &agents)) config.agents.listen = {agents};
  std::string rest;
  if (daemon.TakeOption("rest", &rest)) config.rest.listen = {rest};
  daemon.TakeOption("tokens", &config.rest.access.token_file);
  return config;
}

// Before the start the log goes to the terminal, too, and would say it once more.
int Refuse(const std::string& text) {
  std::fprintf(stderr, "trumpet-controller: %s\n", text.c_str());
  return 1;
}

int Fail(const std::string& text) {
  const int status = Refuse(text);
  Daemon::Log(TRUMPET_LOG_CONTROLLER, "err", text);
  return status;
}

// Every host and every client takes a file descriptor.  The usual soft limit, 1024, is less than
// the hosts that the configuration allows.
void RaiseFileLimit() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

void AddCommands(Daemon* daemon, Controller* controller) {
  EventManager* const events = &controller->events();
  const ReportHub* const reports = &controller->reports();
  const Notifier* const notifier = controller->notifier();
  const auto topology = [controller] { return controller->CurrentTopology(); };
  for (DaemonCommand& command : MakeControlCommands(events, reports, notifier, topology)) {
    daemon->Add(std::move(command));
  }
  for (DaemonCommand& command :
       MakeSwitchCommands(&controller->switch_databases(), &controller->analyzer_ports())) {
    daemon->Add(std::move(command));
  }
  for (DaemonCommand& command : controller->openflow().MakeCommands()) {
    daemon->Add(std::move(command));
  }
  for (DaemonCommand& command : controller->trace_rules().MakeCommands()) {
    daemon->Add(std::move(command));
  }
  for (DaemonCommand& command : controller->reshufflers().MakeCommands()) {
    daemon->Add(std::move(command));
  }
  for (DaemonCommand& command : MakeMeasurementCommands(&controller->measurements())) {
    daemon->Add(std::move(command));
  }
  for (DaemonCommand& command : MakeSliceCommands(&controller->campaigns())) {
    daemon->Add(std::move(command));
  }
  daemon->OnFigures([=] { return MakeDaemonFigures(*events, *reports, notifier); });
}

int Main(int argc, char** argv) {
  Daemon daemon(argc, argv, Program());
  const Result<ControllerConfig> config = MakeConfig(daemon);
  if (!config.ok()) return Refuse(config.message());
  if (daemon.options().count("check-config") != 0) return 0;
  daemon.Start();
  RaiseFileLimit();
  const OwnedLoop base = NewPreciseLoop();
  if (base == nullptr) return Fail("libevent has no way to wait");
  auto controller = Controller::Start(base.get(), *config, Daemon::Logger(TRUMPET_LOG_TEM));
  if (!controller.ok()) return Fail(controller.message());
  Controller* const running = controller->get();
  Process process(base.get(), {[running] { running->Stop(); }, [running] { running->Reload(); }});
  daemon.OnExit([&process] { process.Leave(); });
  AddCommands(&daemon, controller->get());
  const Status served = daemon.Serve(base.get());
  if (!served.ok()) return Fail(served.message());
  const auto ports_file = daemon.options().find("ports-file");
  if (ports_file != daemon.options().end()) {
    std::ofstream(ports_file->second) << (*controller)->PortsJson() << "\n";
  }
  daemon.Ready();
  process.Run();
  daemon.Stop();
  return 0;
}

}  // namespace
}  // namespace trumpet

int main(int argc, char** argv) { return trumpet::Main(argc, argv); }
