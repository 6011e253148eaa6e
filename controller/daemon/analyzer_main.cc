// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// trumpet-analyzer: takes the copies that switches make, of slices and by trace rules, as a daemon.

#include <event2/event.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/analyzer/copy_receiver.h"
#include "controller/analyzer/dpdk_eal.h"
#include "controller/analyzer/dpdk_receiver.h"
#include "controller/daemon/analyzer_commands.h"
#include "controller/daemon/analyzer_config.h"
#include "controller/daemon/config_reader.h"
#include "controller/daemon/daemon.h"
#include "controller/daemon/process.h"
#include "controller/store/clickhouse_place.h"
#include "controller/traces/app_program.h"
#include "controller/traces/migrate_program.h"
#include "controller/traces/query_program.h"
#include "controller/traces/roce_program.h"
#include "controller/traces/trace_program.h"
#include "controller/traces/trace_service.h"
#include "lib/base/loop_event.h"
#include "lib/wire/address.h"

namespace trumpet {
namespace {

constexpr char kSynopsis[] =
    "trumpet-analyzer: takes the copies that switches make, and tells what they say\n"
    "usage: trumpet-analyzer [OPTION]...\n"
    "       trumpet-analyzer traces [OPTION]... [CAPTURE]...   (--help tells more)\n"
    "       trumpet-analyzer query --store=DIRECTORY [OPTION]...\n"
    "       trumpet-analyzer migrate --from=PLACE --to=PLACE\n"
    "       trumpet-analyzer app drops|loops|ecmp|latency|roce|sessions --store=DIRECTORY\n"
    "           [OPTION]...\n"
    "       trumpet-analyzer roce [OPTION]... CAPTURE...\n";

const DaemonProgram& Program() {
  static const DaemonProgram program = {
      kSynopsis,
      {{"config", "FILE", "configuration (default: analyzer.yaml in /etc/trumpet)"},
       {"check-config", "", "say what is wrong with it, and exit"},
       {"name", "NAME", "of this analyzer, as in its certificate"},
       {"controller", "ADDRESS", "go there: ssl:HOST[:PORT], tcp:127.0.0.1:PORT"},
       {"interface", "NAME", "take the copies that arrive there"},
       {"dpdk-port", "NAME", "take those that arrive at this port of DPDK"},
       {"dpdk-eal", "ARGUMENTS", "start DPDK with these, between blanks"},
       {"packets", "DIRECTORY", "keep packets there; empty: do not keep any"}}};
  return program;
}

Result<AnalyzerConfig> MakeConfig(const Daemon& daemon) {
  const DaemonDirectories directories = Daemon::directories();
  AnalyzerConfig config = DefaultAnalyzerConfig(directories.config, directories.state);
  std::string path = directories.config + "/analyzer.yaml";
  const bool is_asked_for = daemon.TakeOption("config", &path);
  const Result<std::string> text = ReadConfigText(path, is_asked_for);
  if (!text.ok()) return text.status();
  const Status read = ReadAnalyzerConfig(*text, path, &config);
  if (!read.ok()) return read;
  daemon.TakeOption("name", &config.analyzer.name);
  daemon.TakeOption("controller", &config.controller);
  daemon.TakeOption("packets", &config.analyzer.archive.directory);
  std::string interface;
  if (daemon.TakeOption("interface", &interface)) config.interfaces = {interface};
  std::string port;
  if (daemon.TakeOption("dpdk-port", &port)) config.dpdk.ports = {port};
  daemon.TakeOption("dpdk-eal", &config.dpdk_eal);
  if (!config.dpdk.ports.empty() && !HasDpdk()) {
    return Status::Error("DPDK's port " + config.dpdk.ports.front() +
                         ": this trumpet-analyzer was built without DPDK");
  }
  return config;
}

// Before the start the log goes to the terminal, too, and would say it once more.
int Refuse(const std::string& text) {
  std::fprintf(stderr, "trumpet-analyzer: %s\n", text.c_str());
  return 1;
}

int Fail(const std::string& text) {
  const int status = Refuse(text);
  Daemon::Log(TRUMPET_LOG_ANALYZER, "err", text);
  return status;
}

Status Connect(const AnalyzerConfig& config, std::unique_ptr<TlsContext>* tls, Analyzer* analyzer) {
  const Result<Address> address = ParseActiveAddress(config.controller);
  if (!address.ok()) return address.status();
  if (address->is_tls) {
    auto loaded = TlsContext::Load(config.tls);
    if (!loaded.ok()) return Status::Error(config.controller + ": " + loaded.message());
    *tls = std::move(*loaded);
  }
  return analyzer->Connect(*address, tls->get());
}

Status MakeTraces(event_base* base, AnalyzerConfig* config, const WireClock& clock,
                  std::unique_ptr<LiveTraces>* traces) {
  if (config->traces.store.folder.empty()) return Status::Ok();
  config->traces.maker.copies.seed = config->analyzer.book.seed;
  config->receiver.wants_udp_tunnels = true;
  // Each answers for its own traces: two must not have the same ones.
  std::string* const servers = &config->traces.servers;
  if (!servers->empty() && servers->find("database=") == servers->npos) {
    *servers += ",database=" + DatabaseOfAnalyzer(config->analyzer.name);
  }
  auto made = LiveTraces::Open(
      base, config->traces, [&clock] { return clock.UnixNow(); },
      Daemon::Logger(TRUMPET_LOG_ANALYZER));
  if (!made.ok()) return made.status();
  *traces = std::move(*made);
  return Status::Ok();
}

// Where frames come from.
struct Capture {
  std::vector<std::unique_ptr<CopyReceiver>> interfaces;
  std::unique_ptr<DpdkEal> eal;
  std::unique_ptr<DpdkReceiver> dpdk;
  std::vector<NamedSource> sources;
};

Status ReceiveByDpdk(event_base* base, const AnalyzerConfig& config, const TakeFrames& take,
                     Capture* capture) {
  if (config.dpdk.ports.empty()) return Status::Ok();
  auto eal = DpdkEal::Start(config.dpdk_eal, Daemon::Logger(TRUMPET_LOG_ANALYZER));
  if (!eal.ok()) return eal.status();
  capture->eal = std::move(*eal);
  DpdkReceiverOptions options = config.dpdk;
  options.wants_udp_tunnels = config.receiver.wants_udp_tunnels;
  auto dpdk = DpdkReceiver::Open(base, *capture->eal, options, take);
  if (!dpdk.ok()) return dpdk.status();
  capture->dpdk = std::move(*dpdk);
  const std::vector<CopySource*> ports = capture->dpdk->Sources();
  for (size_t i = 0; i < ports.size(); ++i)
    capture->sources.push_back({options.ports[i], ports[i]});
  return Status::Ok();
}

// `traces` may be null.
Status Receive(event_base* base, const AnalyzerConfig& config, Analyzer* analyzer,
               LiveTraces* traces, Capture* capture) {
  const auto take = [=](const TimedFrame* frames, size_t count) {
    std::array<bool, kReceiveBurst> is_taken{};
    if (traces != nullptr) traces->Take(frames, count, is_taken.data());
    for (size_t i = 0; i < count; ++i) {
      if (!is_taken[i]) analyzer->TakeFrame(frames[i].frame, frames[i].time);
    }
  };
  for (const std::string& interface : config.interfaces) {
    CopyReceiverOptions options = config.receiver;
    options.interface = interface;
    auto receiver = CopyReceiver::Open(base, options, take);
    if (!receiver.ok()) return receiver.status();
    capture->interfaces.push_back(std::move(*receiver));
    capture->sources.push_back({interface, capture->interfaces.back().get()});
  }
  return ReceiveByDpdk(base, config, take, capture);
}

int Main(int argc, char** argv) {
  Daemon daemon(argc, argv, Program());
  Result<AnalyzerConfig> config = MakeConfig(daemon);
  if (!config.ok()) return Refuse(config.message());
  if (daemon.options().count("check-config") != 0) return 0;
  daemon.Start();
  const OwnedLoop base = NewPreciseLoop();
  if (base == nullptr) return Fail("libevent has no way to wait");
  uint64_t& seed = config->analyzer.book.seed;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&seed), sizeof seed) != 1) {
    return Fail("no random numbers are to be had");
  }
  config->analyzer.connector.seed = seed;
  const SystemWireClock clock;
  std::unique_ptr<TlsContext> tls;
  Analyzer analyzer(base.get(), config->analyzer, clock, Daemon::Logger(TRUMPET_LOG_ANALYZER));
  std::unique_ptr<LiveTraces> traces;
  Status status = MakeTraces(base.get(), &*config, clock, &traces);
  if (!status.ok()) return Fail(status.message());
  std::unique_ptr<TraceService> service;
  if (traces != nullptr) {
    service = std::make_unique<TraceService>(
        base.get(), traces.get(), [&](const Message& message) { analyzer.Send(message); });
    analyzer.Serve(service->Sideline());
  }
  Capture capture;
  status = Receive(base.get(), *config, &analyzer, traces.get(), &capture);
  if (!status.ok()) return Fail(status.message());
  status = Connect(*config, &tls, &analyzer);
  if (!status.ok()) return Fail(status.message());
  Process process(base.get(), {[&] { analyzer.Stop(); }, [] {}});
  daemon.OnExit([&process] { process.Leave(); });
  for (DaemonCommand& command : MakeAnalyzerCommands(&analyzer, &capture.sources)) {
    daemon.Add(std::move(command));
  }
  for (DaemonCommand& command : MakeTraceCommands(traces.get())) daemon.Add(std::move(command));
  daemon.OnFigures([&] { return MakeAnalyzerFigures(analyzer, capture.sources, traces.get()); });
  status = daemon.Serve(base.get());
  if (!status.ok()) return Fail(status.message());
  daemon.Ready();
  process.Run();
  daemon.Stop();
  return 0;
}

}  // namespace
}  // namespace trumpet

int main(int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  const std::vector<std::string> words(argv + std::min(argc, 2), argv + argc);
  if (word == "app") return trumpet::RunAppProgram(words, &std::cout, &std::cerr);
  if (word == "roce") return trumpet::RunRoceProgram(words, &std::cout, &std::cerr);
  if (word == "traces") return trumpet::RunTraceProgram(words, &std::cout, &std::cerr);
  if (word == "migrate") return trumpet::RunMigrateProgram(words, &std::cout, &std::cerr);
  if (word == "query") return trumpet::RunQueryProgram(words, &std::cout, &std::cerr);
  return trumpet::Main(argc, argv);
}
