// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RestServer: the controller's HTTP API (docs/rest.md; controller/rest/openapi.json is its exact
// description, and served by it).
//
// Threads: that of the libevent loop; nothing blocks.
// Lifetime: the parts must outlive it.  Calls back that come after its end do nothing.

#ifndef TRUMPET_CONTROLLER_REST_REST_SERVER_H
#define TRUMPET_CONTROLLER_REST_REST_SERVER_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "controller/plan/topology.h"
#include "controller/rest/access.h"
#include "controller/rest/http_server.h"
#include "controller/rest/metrics_text.h"
#include "controller/rest/simulations.h"
#include "controller/tem/event_manager.h"
#include "controller/tem/report_hub.h"
#include "lib/base/loop_event.h"
#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/wire/tls_context.h"

namespace trumpet {

class CampaignManager;
class MeasurementManager;
class PacketDownloads;
class PacketKeeper;
class BounceBook;
class DropBook;
class DropReasons;
class ProbeBook;
class ReportStreams;
class ReshufflerBook;
class TraceAsker;
class TraceCounterBook;
class TraceRuleBook;
class TraceStreams;

constexpr uint16_t kDefaultRestPort = 8650;

struct RestOptions {
  // "pssl:[PORT][:ADDRESS]", or without TLS "ptcp:[PORT]:127.0.0.1"; port 0 takes any free one.
  std::vector<std::string> listen;
  // Of pssl: addresses.  Without a CA certificate, clients need none themselves.
  TlsFiles tls;
  AccessOptions access;
  HttpLimits http;
  SimulationOptions simulation;
  bool metrics_need_token = true;
  size_t max_streams = 512;
};

struct RestParts {
  event_base* base = nullptr;
  EventManager* events = nullptr;
  ReportHub* reports = nullptr;
  CampaignManager* campaigns = nullptr;         // may be null: there are none
  PacketKeeper* packets = nullptr;              // may be null: there are none
  MeasurementManager* measurements = nullptr;   // may be null: there are none
  TraceRuleBook* trace_rules = nullptr;         // may be null: there are none
  TraceAsker* traces = nullptr;                 // may be null: there are none
  TraceCounterBook* trace_counters = nullptr;   // may be null: there are none
  ProbeBook* probes = nullptr;                  // may be null: there are none
  BounceBook* bounces = nullptr;                // likewise
  DropBook* drops = nullptr;                    // likewise
  DropReasons* drop_reasons = nullptr;          // may be null: nobody asks switches
  const ReshufflerBook* reshufflers = nullptr;  // may be null: there are none
  const WireClock* clock = nullptr;
  std::function<void(const char* level, const std::string& text)> log;  // "info", "warn", "err"
  // More for /metrics, of those that REST does not know.
  std::function<void(MetricsText*)> add_metrics;
  // Where the topology is kept, if not by the events: as it is now, and in whose place one comes.
  std::function<Topology()> topology;
  std::function<void(Topology)> set_topology;
};

struct RestRoute {
  const char* method;
  const char* path;  // "{name}" stands for one segment
  Role role;         // that it takes; kNobody: no token at all
  bool is_for_tenants;
  const char* parameters;  // of the query, each with a blank before and after it
  void (*handle)(const struct RestCall& call);
};

class RestServer final : private HttpOwner {
 public:
  static Result<std::unique_ptr<RestServer>> Start(const RestParts& parts, RestOptions options);
  ~RestServer() override;

  // In the order of RestOptions::listen.
  const std::vector<uint16_t>& ports() const { return ports_; }
  // Reads tokens again; keys and certificates are watched anyway.
  void Reload();
  // Takes no more connections, and ends streams.
  void Stop();

  static const std::vector<RestRoute>& Routes();

  // For /metrics.
  struct RequestKey {
    std::string route;
    std::string method;
    int status;
    bool operator<(const RequestKey& other) const {
      return std::tie(route, method, status) < std::tie(other.route, other.method, other.status);
    }
  };
  const std::map<RequestKey, uint64_t>& request_counts() const { return request_counts_; }
  const LatencyHistogram& durations() const { return durations_; }
  const HttpServer& http() const { return *http_; }
  const Access& access() const { return access_; }
  const PacketDownloads& packets() const { return *packets_; }
  Nanos started_ns() const { return started_ns_; }

  // May whoever showed these go on listening?
  bool MayGoOn(const HttpRequest& request) const;

 private:
  RestServer(const RestParts& parts, RestOptions options, Access access);
  Status Listen();
  void OnRequest(std::shared_ptr<HttpExchange> exchange) override;
  bool MayUpload(std::string_view method, std::string_view target, std::string_view authorization,
                 const std::string& peer) override;
  void CountWhenAnswered(HttpExchange* exchange, const char* route);
  void Refuse(HttpExchange* exchange, const Grant& grant);
  void Call(const RestRoute& route, std::string name, std::shared_ptr<HttpExchange> exchange);

  const RestParts parts_;
  const RestOptions options_;
  Access access_;
  std::unique_ptr<TlsContext> tls_;
  std::map<RequestKey, uint64_t> request_counts_;
  LatencyHistogram durations_;
  std::unique_ptr<ReportStreams> streams_;
  std::unique_ptr<Simulations> simulations_;
  std::unique_ptr<PacketDownloads> packets_;
  std::unique_ptr<TraceStreams> trace_streams_;
  std::unique_ptr<HttpServer> http_;
  std::vector<uint16_t> ports_;
  Nanos started_ns_;
  LoopEvent watcher_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_REST_SERVER_H
