// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// /healthz, /readyz and /openapi.json.

#include <string>
#include <utility>
#include <vector>

#include "controller/measure/measurement_manager.h"
#include "controller/rest/rest_call.h"
#include "controller/slice/campaign_manager.h"
#include "controller/trace/trace_counter_book.h"
#include "controller/trace/trace_rule_book.h"

namespace trumpet {

// openapi.json as a text, which the build makes.
extern const char kOpenApi[];

namespace {

std::string ReportProblem(const ReportHub& hub) {
  return hub.store() == nullptr ? "" : hub.store()->counters().problem;
}

// What cannot be changed now.  Each has its own connection to the database, so that they do not
// open at one moment.
std::vector<std::string> ClosedStores(const RestParts& parts) {
  std::vector<std::string> closed;
  const auto look = [&closed](const char* name, const auto* owner) {
    if (owner != nullptr && !owner->is_store_ready()) closed.emplace_back(name);
  };
  look("events", parts.events);
  look("campaigns", parts.campaigns);
  look("measurements", parts.measurements);
  look("trace_rules", parts.trace_rules);
  look("trace_counters", parts.trace_counters);
  return closed;
}

}  // namespace

// Does the loop turn?  That this is answered says so.  No details: no token is needed.
void ShowHealth(const RestCall& call) {
  AnswerJson(call.exchange.get(), 200, {{"status", "ok"}, {"version", TRUMPET_VERSION}});
}

// Can everything be changed that is stored, and are reports kept?
void ShowReadiness(const RestCall& call) {
  const std::vector<std::string> closed = ClosedStores(call.parts);
  const bool is_ready = closed.empty();
  const bool is_standby = call.parts.events->is_standing_by();
  const bool keeps_reports = ReportProblem(*call.parts.reports).empty();
  AnswerJson(call.exchange.get(), is_ready ? 200 : 503,
             {{"status", is_standby      ? "standby"
                         : !is_ready     ? "not ready"
                         : keeps_reports ? "ok"
                                         : "degraded"},
              {"events", call.parts.events->is_store_ready() ? "ok" : "not ready"},
              {"not_ready", closed},
              {"reports", keeps_reports ? "ok" : "failing"}});
}

void ShowOpenApi(const RestCall& call) {
  HttpReply answer;
  answer.body = kOpenApi;
  call.exchange->Answer(std::move(answer));
}

}  // namespace trumpet
