// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TemNetwork: a controller, its hosts and those who read its reports, on one loop.
//
// Waits that last two minutes, and answers that are no success, end the program.

#ifndef TRUMPET_TESTS_BENCH_TEM_NETWORK_H
#define TRUMPET_TESTS_BENCH_TEM_NETWORK_H

#include <event2/event.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/loop_event.h"
#include "lib/wire/wire_clock.h"
#include "tests/bench/tem_daemon.h"
#include "tests/bench/tem_host.h"

struct bufferevent;

namespace trumpet {

// Of a report, when its reader had it: instants of Unix time.
struct TemReport {
  Nanos end_ns;       // of its interval
  Nanos detected_ns;  // of its verdict
  Nanos told_ns;      // when its line was read
  bool is_complete;
};

class TemNetwork {
 public:
  explicit TemNetwork(const TemDaemonOptions& options);
  ~TemNetwork();
  TemNetwork(const TemNetwork&) = delete;
  TemNetwork& operator=(const TemNetwork&) = delete;

  // Hosts that come all at once.
  void AddHosts(size_t count);
  size_t connected() const;
  std::vector<std::unique_ptr<TemHost>>& hosts() { return hosts_; }
  uint64_t bytes_to_controller() const;

  // GET, or POST of a body of YAML; the body of the answer.
  nlohmann::json Get(const std::string& path) { return Ask("GET", path, ""); }
  nlohmann::json Post(const std::string& path, const std::string& yaml) {
    return Ask("POST", path, yaml);
  }
  // The value of a metric that has no labels.
  double Metric(const std::string& name);
  // Until all hosts run the event and have said so.
  void WaitUntilApplied(const std::string& event);

  // Reads /v1/stream from now on.
  void AddReader();
  std::vector<TemReport> told;  // to all readers, in the order of their coming

  void RunUntil(const std::function<bool()>& done);
  void RunUntilTime(Nanos unix_ns);
  // Looks at what has come, and waits for nothing.
  void RunReady();

  TemDaemon& daemon() { return daemon_; }
  const WireClock& clock() const { return clock_; }

 private:
  struct Exchange;
  class Alarm;

  bufferevent* Connect();
  std::string AskText(const std::string& method, const std::string& path, const std::string& body);
  nlohmann::json Ask(const std::string& method, const std::string& path, const std::string& body) {
    return nlohmann::json::parse(AskText(method, path, body));
  }
  void OnLine(std::string_view line, Nanos now);
  static void OnReadable(bufferevent* stream, void* self);

  TemDaemon daemon_;
  SystemWireClock clock_;
  OwnedLoop base_;
  std::unique_ptr<Alarm> alarm_;
  std::unique_ptr<TlsContext> tls_;
  std::vector<bufferevent*> readers_;
  std::vector<std::unique_ptr<TemHost>> hosts_;
};

// What this process took of the processors so far.
Nanos OwnCpu();

[[noreturn]] void GiveUp(const std::string& why);

}  // namespace trumpet

#endif  // TRUMPET_TESTS_BENCH_TEM_NETWORK_H
