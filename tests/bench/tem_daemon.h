// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TemDaemon: trumpet-controller for bench-tem, as an administrator runs it: with a configuration
// file, certificates, an ovsdb-server that keeps its events and a file that keeps its reports.
//
// Environment: top_builddir and top_srcdir; what is missing, or does not start, ends the program.

#ifndef TRUMPET_TESTS_BENCH_TEM_DAEMON_H
#define TRUMPET_TESTS_BENCH_TEM_DAEMON_H

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "lib/base/units.h"
#include "lib/ovsdb/ovsdb_server_test.h"
#include "lib/wire/test_certificates_test.h"

namespace trumpet {

struct TemDaemonOptions {
  uint32_t threshold_hosts = 4;
  bool keeps_reports = true;
  uint64_t max_report_mb = 10000;
};

class TemDaemon {
 public:
  explicit TemDaemon(const TemDaemonOptions& options);
  ~TemDaemon();
  TemDaemon(const TemDaemon&) = delete;
  TemDaemon& operator=(const TemDaemon&) = delete;

  // kill -9; and again, at the same ports, with what its database holds.
  void Kill();
  void Start();
  // Does it serve?  Asked again and again after Start().
  bool IsReady();

  pid_t pid() const { return pid_; }
  uint16_t agent_port() const { return agent_port_; }
  uint16_t rest_port() const { return rest_port_; }
  const TlsFiles& host_files() const { return host_files_; }

  // Of all its threads so far.
  Nanos cpu() const;
  // "VmRSS", "VmHWM"
  double MemoryMb(const std::string& key) const;

 private:
  void WriteConfig(const TemDaemonOptions& options) const;

  TempFolder folder_;
  TestAuthority hosts_ca_;
  TestAuthority controllers_ca_;
  TlsFiles host_files_;
  TlsFiles own_files_;
  OvsdbTestServer database_;
  pid_t pid_ = -1;
  uint16_t agent_port_ = 0;
  uint16_t rest_port_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_TESTS_BENCH_TEM_DAEMON_H
