// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// /healthz, /readyz and /openapi.json.

#include <utility>

#include "controller/rest/rest_call.h"

namespace trumpet {

// openapi.json as a text, which the build makes.
extern const char kOpenApi[];

namespace {

std::string ReportProblem(const ReportHub& hub) {
  return hub.store() == nullptr ? "" : hub.store()->counters().problem;
}

}  // namespace

// Does the loop turn?  That this is answered says so.  No details: no token is needed.
void ShowHealth(const RestCall& call) {
  AnswerJson(call.exchange.get(), 200, {{"status", "ok"}, {"version", TRUMPET_VERSION}});
}

// Can events be changed, and are reports kept?
void ShowReadiness(const RestCall& call) {
  const bool has_events = call.parts.events->is_store_ready();
  const bool is_standby = call.parts.events->is_standing_by();
  const bool keeps_reports = ReportProblem(*call.parts.reports).empty();
  AnswerJson(call.exchange.get(), has_events ? 200 : 503,
             {{"status", is_standby      ? "standby"
                         : !has_events   ? "not ready"
                         : keeps_reports ? "ok"
                                         : "degraded"},
              {"events", has_events ? "ok" : "not ready"},
              {"reports", keeps_reports ? "ok" : "failing"}});
}

void ShowOpenApi(const RestCall& call) {
  HttpReply answer;
  answer.body = kOpenApi;
  call.exchange->Answer(std::move(answer));
}

}  // namespace trumpet
