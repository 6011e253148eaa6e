// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ControllerConfig: /etc/trumpet/controller.yaml, which docs/controller.md explains key by key.
//
// Threads: values and pure functions.

#ifndef TRUMPET_CONTROLLER_DAEMON_CONFIG_H
#define TRUMPET_CONTROLLER_DAEMON_CONFIG_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "controller/daemon/openflow_part.h"
#include "controller/daemon/reshuffler_part.h"
#include "controller/daemon/slice_part.h"
#include "controller/notify/notify_options.h"
#include "controller/rest/rest_server.h"
#include "controller/tem/event_manager.h"
#include "lib/base/status.h"
#include "lib/wire/tls_context.h"

namespace trumpet {

struct AgentsConfig {
  std::vector<std::string> listen;  // "pssl:6650", "ptcp:0:127.0.0.1"
  TlsFiles tls;
};

struct ReportsConfig {
  std::string database;  // file; empty: reports are not kept
  Nanos keep_ns = 7 * 86400 * kNanosPerSecond;
  uint64_t max_bytes = 10'000'000'000;
};

// A switch whose database the controller changes.
struct SwitchDatabaseConfig {
  std::string name;
  std::string database;  // "unix:PATH", "tcp:...", "ssl:..."
};

struct OvsdbConfig {
  std::vector<SwitchDatabaseConfig> switches;
  TlsFiles tls;
};

struct ControllerConfig {
  // Of events: "memory:", or where an ovsdb-server is: "unix:PATH", "tcp:..", "ssl:...", several
  // with commas between.
  std::string database;
  TlsFiles database_tls;
  std::string topology;  // file; empty: none
  AgentsConfig agents;
  ReportsConfig reports;
  NotifyOptions notify;
  OvsdbConfig ovsdb;
  OpenflowConfig openflow;
  SlicesConfig slices;
  AnalyzersConfig analyzers;
  ReshufflersConfig reshufflers;
  RestOptions rest;
  EventManagerOptions manager;
};

// What holds where the file says nothing.  Paths begin with `config` and `state` directories.
ControllerConfig DefaultConfig(const std::string& config_directory,
                               const std::string& state_directory,
                               const std::string& run_directory);

// Reads a file's text over `config`; a line for each error, none of which changes anything.
Status ReadConfig(std::string_view text, std::string_view source_name, ControllerConfig* config);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_DAEMON_CONFIG_H
