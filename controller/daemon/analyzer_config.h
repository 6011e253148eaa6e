// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// AnalyzerConfig: /etc/trumpet/analyzer.yaml, which docs/analyzer.md explains key by key.
//
// Threads: values and pure functions.

#ifndef TRUMPET_CONTROLLER_DAEMON_ANALYZER_CONFIG_H
#define TRUMPET_CONTROLLER_DAEMON_ANALYZER_CONFIG_H

#include <string>
#include <string_view>
#include <vector>

#include "controller/analyzer/analyzer.h"
#include "controller/analyzer/copy_receiver.h"
#include "controller/analyzer/dpdk_receiver.h"
#include "controller/traces/live_traces.h"
#include "lib/base/status.h"
#include "lib/wire/tls_context.h"

namespace trumpet {

struct AnalyzerConfig {
  std::string controller;  // "ssl:HOST[:PORT]", "tcp:127.0.0.1:PORT"
  TlsFiles tls;
  std::vector<std::string> interfaces;
  CopyReceiverOptions receiver;  // of each interface
  std::string dpdk_eal;          // arguments of DPDK's environment
  DpdkReceiverOptions dpdk;      // without ports: DPDK is not started
  AnalyzerOptions analyzer;
  LiveTracesOptions traces;  // no folder: none are made
};

AnalyzerConfig DefaultAnalyzerConfig(const std::string& config_directory,
                                     const std::string& state_directory);

// Reads a file's text over `config`; a line for each error, none of which changes anything.
Status ReadAnalyzerConfig(std::string_view text, std::string_view source_name,
                          AnalyzerConfig* config);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_DAEMON_ANALYZER_CONFIG_H
