// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RestCall: one request that has been let in and routed, with what its handler needs.
//
// Handlers answer at once, or keep `exchange` for a call back; nothing else of a call may be kept
// beyond the handler's return, for the server may have ended by then.
//
// Threads: that of the libevent loop.

#ifndef TRUMPET_CONTROLLER_REST_REST_CALL_H
#define TRUMPET_CONTROLLER_REST_REST_CALL_H

#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "controller/rest/access.h"
#include "controller/rest/http_exchange.h"
#include "controller/rest/problem.h"
#include "controller/rest/rest_server.h"

namespace trumpet {

struct CampaignView;
class PacketDownloads;
class ReportStreams;
class Simulations;
class TraceStreams;

using Json = nlohmann::ordered_json;

struct RestCall {
  RestServer* server;
  const RestParts& parts;
  ReportStreams* streams;
  Simulations* simulations;
  PacketDownloads* packets;
  TraceStreams* trace_streams;
  std::shared_ptr<HttpExchange> exchange;
  Caller caller;
  Role role;
  std::string name;  // what stands for {name} in the route's path

  const HttpRequest& request() const { return exchange->request(); }
  bool has(const std::string& parameter) const;
  std::string query(const std::string& parameter) const;
};

void AnswerJson(HttpExchange* exchange, int status, const Json& json);
void AnswerProblem(HttpExchange* exchange, int status, const std::string& detail);

// Reads a parameter that is a number, or leaves `*value`; false, and answered, if it is none.
bool ReadNumber(const RestCall& call, const std::string& parameter, uint64_t max, uint64_t* value);
// Likewise "true" and "false".
bool ReadFlag(const RestCall& call, const std::string& parameter, bool* value);

// The campaign, if the caller may see it; none, and answered, otherwise.
std::optional<CampaignView> FindCampaignOrAnswer(const RestCall& call);

// The handlers, by their routes (rest_server.cc).
void ListEvents(const RestCall& call);
void AddEvents(const RestCall& call);
void ShowEvent(const RestCall& call);
void PutEvent(const RestCall& call);
void PatchEvent(const RestCall& call);
void DeleteEvent(const RestCall& call);
void ListEventHosts(const RestCall& call);
void CheckEvents(const RestCall& call);
void ListReports(const RestCall& call);
void StreamReports(const RestCall& call);
void ListHosts(const RestCall& call);
void ShowHost(const RestCall& call);
void ShowTopology(const RestCall& call);
void PutTopology(const RestCall& call);
void Simulate(const RestCall& call);
void ListCampaigns(const RestCall& call);
void PlanCampaign(const RestCall& call);
void ShowCampaign(const RestCall& call);
void PutCampaign(const RestCall& call);
void PatchCampaign(const RestCall& call);
void DeleteCampaign(const RestCall& call);
void RunCampaign(const RestCall& call);
void StopCampaign(const RestCall& call);
void ShowCampaignResults(const RestCall& call);
void DownloadPackets(const RestCall& call);
void ListMeasurements(const RestCall& call);
void ShowMeasurement(const RestCall& call);
void PutMeasurement(const RestCall& call);
void DeleteMeasurement(const RestCall& call);
void ReadMeasurement(const RestCall& call);
void AskMeasurement(const RestCall& call);
void ListTraces(const RestCall& call);
void ShowTrace(const RestCall& call);
void StreamTraces(const RestCall& call);
void ShowLinkCounters(const RestCall& call);
void ShowTraceCounters(const RestCall& call);
void ListCounters(const RestCall& call);
void AddCounter(const RestCall& call);
void ShowCounter(const RestCall& call);
void DeleteCounter(const RestCall& call);
void RunTraceApp(const RestCall& call);
void ListDropSearches(const RestCall& call);
void BeginDropSearch(const RestCall& call);
void ShowDropSearch(const RestCall& call);
void StopDropSearch(const RestCall& call);
void ListBounces(const RestCall& call);
void BeginBounce(const RestCall& call);
void ShowBounce(const RestCall& call);
void ListProbes(const RestCall& call);
void BeginProbe(const RestCall& call);
void ShowProbe(const RestCall& call);
void ListTraceRules(const RestCall& call);
void ShowTraceRule(const RestCall& call);
void PutTraceRules(const RestCall& call);
void DeleteTraceRules(const RestCall& call);
void ListDebugMarks(const RestCall& call);
void PutDebugMark(const RestCall& call);
void DeleteDebugMark(const RestCall& call);
void ListReshufflers(const RestCall& call);
void ShowReshuffler(const RestCall& call);
void ShowHealth(const RestCall& call);
void ShowReadiness(const RestCall& call);
void ShowMetrics(const RestCall& call);
void ShowOpenApi(const RestCall& call);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_REST_CALL_H
