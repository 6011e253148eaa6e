// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/rest_server.h"

#include <algorithm>
#include <set>
#include <utility>

#include "controller/rest/packet_downloads.h"
#include "controller/rest/report_streams.h"
#include "controller/rest/rest_call.h"
#include "controller/rest/trace_streams.h"
#include "lib/wire/address.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {
namespace {

constexpr char kSimulatePath[] = "/v1/simulate";

// Does the route's path stand for these segments?  `name` is what stands for {name}.
bool Matches(std::string_view path, const std::vector<std::string>& segments, std::string* name) {
  path.remove_prefix(1);
  for (const std::string& segment : segments) {
    const std::string_view piece = path.substr(0, path.find('/'));
    if (path.empty()) return false;
    if (piece == "{name}") {
      if (segment.empty()) return false;
      *name = segment;
    } else if (piece != segment) {
      return false;
    }
    path.remove_prefix(std::min(path.size(), piece.size() + 1));
  }
  return path.empty();
}

std::string Join(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

const std::vector<RestRoute>& RestServer::Routes() {
  static const std::vector<RestRoute> routes = {
      {"GET", "/v1/events", Role::kRead, true, " ", ListEvents},
      {"POST", "/v1/events", Role::kOperate, true, " replace ", AddEvents},
      {"GET", "/v1/events/{name}", Role::kRead, true, " ", ShowEvent},
      {"PUT", "/v1/events/{name}", Role::kOperate, true, " ", PutEvent},
      {"PATCH", "/v1/events/{name}", Role::kOperate, true, " ", PatchEvent},
      {"DELETE", "/v1/events/{name}", Role::kOperate, true, " ", DeleteEvent},
      {"GET", "/v1/events/{name}/hosts", Role::kRead, true, " ", ListEventHosts},
      {"POST", "/v1/check", Role::kRead, true, " ", CheckEvents},
      {"GET", "/v1/reports", Role::kRead, true, " from until event bucket order cursor limit ",
       ListReports},
      {"GET", "/v1/stream", Role::kRead, true, " kind slice event after ", StreamReports},
      {"GET", "/v1/hosts", Role::kRead, false, " ", ListHosts},
      {"GET", "/v1/hosts/{name}", Role::kRead, false, " ", ShowHost},
      {"GET", "/v1/topology", Role::kRead, false, " ", ShowTopology},
      {"PUT", "/v1/topology", Role::kAdmin, false, " ", PutTopology},
      {"POST", kSimulatePath, Role::kOperate, true, " events name ", Simulate},
      {"GET", "/v1/slices", Role::kRead, true, " ", ListCampaigns},
      {"POST", "/v1/slices/plan", Role::kRead, true, " ", PlanCampaign},
      {"GET", "/v1/slices/{name}", Role::kRead, true, " ", ShowCampaign},
      {"PUT", "/v1/slices/{name}", Role::kOperate, true, " ", PutCampaign},
      {"PATCH", "/v1/slices/{name}", Role::kOperate, true, " ", PatchCampaign},
      {"DELETE", "/v1/slices/{name}", Role::kOperate, true, " ", DeleteCampaign},
      {"POST", "/v1/slices/{name}/run", Role::kOperate, true, " ", RunCampaign},
      {"POST", "/v1/slices/{name}/stop", Role::kOperate, true, " ", StopCampaign},
      {"GET", "/v1/slices/{name}/results", Role::kRead, true, " ", ShowCampaignResults},
      {"GET", "/v1/slices/{name}/packets", Role::kOperate, true, " run ", DownloadPackets},
      {"GET", "/v1/measurements", Role::kRead, false, " ", ListMeasurements},
      {"GET", "/v1/measurements/{name}", Role::kRead, false, " ", ShowMeasurement},
      {"PUT", "/v1/measurements/{name}", Role::kOperate, false, " ", PutMeasurement},
      {"DELETE", "/v1/measurements/{name}", Role::kOperate, false, " ", DeleteMeasurement},
      {"GET", "/v1/measurements/{name}/read", Role::kRead, false, " variable key host top ",
       ReadMeasurement},
      {"POST", "/v1/measurements/{name}/ask", Role::kRead, false, " host ", AskMeasurement},
      {"GET", "/v1/traces", Role::kRead, true,
       " from until src dst protocol src_port dst_port verdict mark through min_hops cursor limit"
       " packets timeout estimate ",
       ListTraces},
      {"GET", "/v1/traces/stream", Role::kRead, true,
       " src dst protocol src_port dst_port verdict mark through min_hops packets ", StreamTraces},
      {"GET", "/v1/traces/{name}", Role::kRead, true, " packets timeout ", ShowTrace},
      {"GET", "/v1/counters/links", Role::kRead, false,
       " from until through step cursor limit timeout ", ShowLinkCounters},
      {"GET", "/v1/counters/traces", Role::kRead, true,
       " from until src dst protocol src_port dst_port verdict mark through min_hops step cursor"
       " limit timeout ",
       ShowTraceCounters},
      {"GET", "/v1/counters", Role::kRead, true, " ", ListCounters},
      {"POST", "/v1/counters", Role::kOperate, true, " ", AddCounter},
      {"GET", "/v1/counters/{name}", Role::kRead, true,
       " from until step stored cursor limit timeout ", ShowCounter},
      {"DELETE", "/v1/counters/{name}", Role::kOperate, true, " ", DeleteCounter},
      {"GET", "/v1/apps/{name}", Role::kRead, false, " from until at members earlier timeout ",
       RunTraceApp},
      {"GET", "/v1/apps/drops/probes", Role::kRead, true, " ", ListDropSearches},
      {"POST", "/v1/apps/drops/probes", Role::kOperate, true, " ", BeginDropSearch},
      {"GET", "/v1/apps/drops/probes/{name}", Role::kRead, true, " ", ShowDropSearch},
      {"DELETE", "/v1/apps/drops/probes/{name}", Role::kOperate, true, " ", StopDropSearch},
      {"GET", "/v1/bounces", Role::kRead, false, " ", ListBounces},
      {"POST", "/v1/bounces", Role::kOperate, false, " ", BeginBounce},
      {"GET", "/v1/bounces/{name}", Role::kRead, false, " ", ShowBounce},
      {"GET", "/v1/probes", Role::kRead, true, " ", ListProbes},
      {"POST", "/v1/probes", Role::kOperate, true, " ", BeginProbe},
      {"GET", "/v1/probes/{name}", Role::kRead, true, " ", ShowProbe},
      {"GET", "/v1/trace-rules", Role::kRead, false, " ", ListTraceRules},
      {"PUT", "/v1/trace-rules", Role::kAdmin, false, " ", PutTraceRules},
      {"DELETE", "/v1/trace-rules", Role::kAdmin, false, " ", DeleteTraceRules},
      {"GET", "/v1/trace-rules/{name}", Role::kRead, false, " ", ShowTraceRule},
      {"GET", "/v1/debug-marks", Role::kRead, false, " ", ListDebugMarks},
      {"PUT", "/v1/debug-marks/{name}", Role::kOperate, false, " ", PutDebugMark},
      {"DELETE", "/v1/debug-marks/{name}", Role::kOperate, false, " ", DeleteDebugMark},
      {"GET", "/v1/reshufflers", Role::kRead, false, " ", ListReshufflers},
      {"GET", "/v1/reshufflers/{name}", Role::kRead, false, " ", ShowReshuffler},
      {"GET", "/healthz", Role::kNobody, true, " ", ShowHealth},
      {"GET", "/readyz", Role::kNobody, true, " ", ShowReadiness},
      {"GET", "/metrics", Role::kRead, false, " ", ShowMetrics},
      {"GET", "/openapi.json", Role::kNobody, true, " ", ShowOpenApi},
  };
  return routes;
}

RestServer::RestServer(const RestParts& parts, RestOptions options, Access access)
    : parts_(parts),
      options_(std::move(options)),
      access_(std::move(access)),
      streams_(std::make_unique<ReportStreams>(this, parts, options_.max_streams)),
      simulations_(std::make_unique<Simulations>(parts.base, options_.simulation)),
      packets_(std::make_unique<PacketDownloads>(this, parts_)),
      trace_streams_(std::make_unique<TraceStreams>(this, parts_)),
      started_ns_(parts.clock->UnixNow()),
      watcher_(parts.base, [this] { Reload(); }) {
  HttpOwner* const self = this;
  http_ = std::make_unique<HttpServer>(parts.base, options_.http, self);
  watcher_.RunEvery(kNanosPerSecond);
}

RestServer::~RestServer() = default;

Result<std::unique_ptr<RestServer>> RestServer::Start(const RestParts& parts, RestOptions options) {
  Result<Access> access = Access::Open(options.access);
  if (!access.ok()) return access.status();
  std::unique_ptr<RestServer> server(new RestServer(parts, std::move(options), std::move(*access)));
  const Status listening = server->Listen();
  if (!listening.ok()) return listening;
  return server;
}

Status RestServer::Listen() {
  for (const std::string& text : options_.listen) {
    const Result<Address> address = ParsePassiveAddress(text, kDefaultRestPort);
    if (!address.ok()) return address.status();
    if (address->is_tls && tls_ == nullptr) {
      Result<std::unique_ptr<TlsContext>> tls = TlsContext::LoadForClients(options_.tls);
      if (!tls.ok()) return tls.status();
      tls_ = std::move(*tls);
    }
    const Result<uint16_t> port = http_->Listen(*address, address->is_tls ? tls_.get() : nullptr);
    if (!port.ok()) return port.status();
    ports_.push_back(*port);
  }
  return Status::Ok();
}

void RestServer::Reload() {
  const AccessCounters before = access_.counters();
  access_.ReloadIfChanged();
  if (!parts_.log) return;
  if (access_.counters().failed_reloads != before.failed_reloads) {
    parts_.log("err", "the old tokens stay in force: " + access_.problem());
  } else if (access_.counters().reloads != before.reloads) {
    parts_.log("info", "read " + std::to_string(access_.token_count()) + " tokens");
  }
}

void RestServer::Stop() {
  http_->StopListening();
  streams_->End();
  packets_->End();
  trace_streams_->End();
}

bool RestServer::MayUpload(std::string_view method, std::string_view target,
                           std::string_view authorization, const std::string& peer) {
  return method == "POST" && target.substr(0, target.find('?')) == kSimulatePath &&
         access_.WouldAllow(authorization, peer, Role::kOperate, parts_.clock->MonotonicNow(),
                            parts_.clock->UnixNow());
}

bool RestServer::MayGoOn(const HttpRequest& request) const {
  return access_.WouldAllow(request.header("authorization"), request.peer, Role::kRead,
                            parts_.clock->MonotonicNow(), parts_.clock->UnixNow());
}

// Streams are counted when they begin; how long they last says nothing about our work.
void RestServer::CountWhenAnswered(HttpExchange* exchange, const char* route) {
  const Nanos began_at = exchange->began_at();
  const std::string method = exchange->request().method;
  exchange->set_on_status([this, route, method, began_at](int status) {
    ++request_counts_[{route, method, status}];
    durations_.Add(parts_.clock->MonotonicNow() - began_at);
  });
}

void RestServer::Refuse(HttpExchange* exchange, const Grant& grant) {
  HttpReply answer = ProblemAnswer(grant.refusal, grant.why);
  if (grant.refusal == 401) answer.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (grant.refusal == 429) {
    answer.headers.emplace_back("Retry-After",
                                std::to_string(grant.retry_after / kNanosPerSecond + 1));
  }
  exchange->Answer(std::move(answer));
}

void RestServer::OnRequest(std::shared_ptr<HttpExchange> exchange) {
  const HttpRequest& request = exchange->request();
  const std::string method = request.is_head ? "GET" : request.method;
  std::set<std::string> allowed;
  for (const RestRoute& route : Routes()) {
    std::string name;
    if (!Matches(route.path, request.target.segments, &name)) continue;
    if (method == route.method) {
      CountWhenAnswered(exchange.get(), route.path);
      Call(route, std::move(name), std::move(exchange));
      return;
    }
    allowed.insert(route.method);
  }
  CountWhenAnswered(exchange.get(), "other");
  if (allowed.empty()) {
    AnswerProblem(exchange.get(), 404, "there is nothing at this path; see /openapi.json");
    return;
  }
  if (allowed.count("GET") > 0) allowed.insert("HEAD");
  allowed.insert("OPTIONS");
  HttpReply answer;
  if (method == "OPTIONS") {
    answer.status = 204;
  } else {
    answer = ProblemAnswer(405, "this path takes " + Join(allowed));
  }
  answer.headers.emplace_back("Allow", Join(allowed));
  exchange->Answer(std::move(answer));
}

void RestServer::Call(const RestRoute& route, std::string name,
                      std::shared_ptr<HttpExchange> exchange) {
  Grant grant;
  const bool is_open = route.handle == ShowMetrics && !options_.metrics_need_token;
  if (route.role != Role::kNobody && !is_open) {
    grant =
        access_.Check(exchange->request(), parts_.clock->MonotonicNow(), parts_.clock->UnixNow());
    if (grant.refusal == 0 && grant.role < route.role) {
      grant.refusal = 403;
      grant.why = std::string("this takes the role ") + RoleName(route.role) +
                  "; this token's is " + RoleName(grant.role);
    } else if (grant.refusal == 0 && !route.is_for_tenants && !grant.caller.tenant.empty()) {
      grant.refusal = 403;
      grant.why = "this is about the whole network; this token is a tenant's";
    }
  }
  if (grant.refusal != 0) {
    Refuse(exchange.get(), grant);
    return;
  }
  for (const auto& parameter : exchange->request().target.query) {
    if (std::string_view(route.parameters).find(" " + parameter.first + " ") ==
        std::string_view::npos) {
      AnswerProblem(exchange.get(), 400,
                    "'" + parameter.first + "' is not a parameter of this path");
      return;
    }
  }
  route.handle(RestCall{this, parts_, streams_.get(), simulations_.get(), packets_.get(),
                        trace_streams_.get(), std::move(exchange), std::move(grant.caller),
                        grant.role, std::move(name)});
}

}  // namespace trumpet
