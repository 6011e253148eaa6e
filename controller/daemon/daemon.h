// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Daemon: what makes trumpet-controller one of Open vSwitch's family: its flags, log, pid file and
// control socket (`ovs-appctl -t trumpet-controller ...`), on Open vSwitch's own library.
//
//   Daemon daemon(argc, argv, program);       // -h, -V and mistakes end the process here
//   ... read the configuration ...
//   daemon.Start();                           // may fork: no thread, no event_base before this
//   event_base* base = event_base_new();
//   daemon.Add({"event/list", "[json]", 0, 1, handler});
//   daemon.Serve(base);
//   daemon.Ready();                           // whoever started it with --detach goes on
//   event_base_dispatch(base);
//   daemon.Stop();
//
// Threads: that of the libevent loop, except Log().  A control thread of Open vSwitch's library
// runs beside it from Serve() to Stop(); handlers are called from the loop all the same. Signals:
// SIGTERM and SIGINT end the process at once, without Stop(), unless the program handles them in
// its loop after Start() (evsignal_new()); SIGPIPE is ignored.

#ifndef TRUMPET_CONTROLLER_DAEMON_DAEMON_H
#define TRUMPET_CONTROLLER_DAEMON_DAEMON_H

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/daemon/command_relay.h"
#include "controller/daemon/ovs_daemon.h"
#include "lib/base/status.h"

struct event_base;

namespace trumpet {

struct DaemonOption {
  std::string name;   // "config", of --config=FILE
  std::string value;  // "FILE"; empty: it takes none
  std::string help;   // one line
};

struct DaemonProgram {
  std::string synopsis;  // first lines of --help, with a newline at the end
  std::vector<DaemonOption> options;
};

struct DaemonCommand {
  std::string name;   // "event/show"
  std::string usage;  // "[json] NAME"
  int min_args = 0;
  int max_args = 0;
  CommandHandler handler;
};

struct DaemonDirectories {
  std::string config;  // /etc/trumpet; TRUMPET_SYSCONFDIR
  std::string state;   // /var/lib/trumpet; TRUMPET_STATEDIR
  std::string run;     // /run/openvswitch; OVS_RUNDIR
  std::string log;     // /var/log/openvswitch; OVS_LOGDIR
};

// What coverage/show and memory/show say.
struct DaemonFigures {
  std::array<uint64_t, TRUMPET_COUNTER_COUNT> totals{};        // [TRUMPET_COUNTER_reports]
  std::vector<std::pair<std::string, unsigned>> memory_usage;  // {"events", 12}
};

// As EventManagerParts::log: level "err", "warn", "info" or "dbg".
using LogFunction = std::function<void(const char* level, const std::string& text)>;

class Daemon {
 public:
  // Ends the process on -h, -V and mistakes.  One a process.
  Daemon(int argc, char** argv, const DaemonProgram& program);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // Options that were given, with their values; of an option given twice the last one.
  const std::map<std::string, std::string>& options() const { return options_; }
  // Whether an option was given; then its value is put there.
  bool TakeOption(const char* name, std::string* value) const {
    const auto found = options_.find(name);
    if (found == options_.end()) return false;
    *value = found->second;
    return true;
  }
  // What is no option.
  const std::vector<std::string>& arguments() const { return arguments_; }
  static DaemonDirectories directories();

  // Ends the process with a message when it cannot.
  void Start();
  // Before Serve().
  void Add(DaemonCommand command);
  // What `exit` does; it is answered by Stop().  Before Serve().
  void OnExit(std::function<void()> leave) { leave_ = std::move(leave); }
  // Asked every five seconds, and at memory/show.  Before Serve().
  void OnFigures(std::function<DaemonFigures()> figures) { figures_ = std::move(figures); }
  Status Serve(event_base* base);
  // Whoever started us goes on; systemd is told, too.
  void Ready();
  void Stop();

  static void Log(trumpet_log_module module, const char* level, const std::string& text);
  static LogFunction Logger(trumpet_log_module module);

 private:
  void TellFigures() const;

  std::map<std::string, std::string> options_;
  std::vector<std::string> arguments_;
  std::vector<DaemonCommand> commands_;
  std::function<void()> leave_;
  std::function<DaemonFigures()> figures_;
  std::unique_ptr<CommandRelay> relay_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_DAEMON_DAEMON_H
