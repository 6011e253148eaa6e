// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// /v1/probes.

#include <utility>

#include "controller/probe/probe_book.h"
#include "controller/rest/event_body.h"
#include "controller/rest/http_exchange.h"
#include "controller/rest/probe_views.h"
#include "controller/rest/rest_call.h"
#include "controller/rest/tenant_packets.h"

namespace trumpet {
namespace {

// Null, and answered, if there is none.
ProbeBook* Book(const RestCall& call) {
  if (call.parts.probes == nullptr) {
    AnswerProblem(call.exchange.get(), 501, "this controller sends no probes");
  }
  return call.parts.probes;
}

bool MaySee(const RestCall& call, const ProbeView& probe) {
  return call.caller.tenant.empty() || call.caller.tenant == probe.tenant;
}

std::optional<ProbeRequest> ReadBody(const RestCall& call) {
  const auto body = ReadEventBody(call.request(), /*is_single=*/false);
  if (!body.ok()) {
    AnswerProblem(call.exchange.get(), 415, body.message());
    return std::nullopt;
  }
  auto request = body->format == DocumentFormat::kJson
                     ? ParseProbeRequestJson(body->text, kEventBodyName)
                     : ParseProbeRequestYaml(body->text, kEventBodyName);
  if (request.ok()) return std::move(*request);
  AnswerProblem(call.exchange.get(), 422, request.message());
  return std::nullopt;
}

int StatusOf(ProbeStart::Refusal refusal) {
  return refusal == ProbeStart::Refusal::kWrong ? 422 : 503;
}

}  // namespace

void ListProbes(const RestCall& call) {
  const ProbeBook* const book = Book(call);
  if (book == nullptr) return;
  Json json = {{"probes", Json::array()}};
  for (const ProbeView* probe : book->List()) {
    if (MaySee(call, *probe)) json["probes"].push_back(ProbeJson(*probe, false));
  }
  AnswerJson(call.exchange.get(), 200, json);
}

void BeginProbe(const RestCall& call) {
  ProbeBook* const book = Book(call);
  if (book == nullptr) return;
  const auto request = ReadBody(call);
  if (!request) return;
  const std::string why = WhyTenantMayNotSend(call.caller, request->packet);
  if (!why.empty()) return AnswerProblem(call.exchange.get(), 403, why);
  if (!call.caller.tenant.empty() && !request->via.empty()) {
    return AnswerProblem(call.exchange.get(), 403, "via is not for tenants to choose");
  }
  const ProbeStart start = book->Start(*request, call.caller.name, call.caller.tenant);
  if (start.refusal != ProbeStart::Refusal::kNone) {
    return AnswerProblem(call.exchange.get(), StatusOf(start.refusal), start.why);
  }
  AnswerJson(call.exchange.get(), 202, ProbeJson(*book->Find(start.id), true));
}

void ShowProbe(const RestCall& call) {
  const ProbeBook* const book = Book(call);
  if (book == nullptr) return;
  for (const ProbeView* probe : book->List()) {
    if (ProbeIdText(probe->id) != call.name || !MaySee(call, *probe)) continue;
    return AnswerJson(call.exchange.get(), 200, ProbeJson(*probe, true));
  }
  AnswerProblem(call.exchange.get(), 404, "there is no probe " + call.name);
}

}  // namespace trumpet
