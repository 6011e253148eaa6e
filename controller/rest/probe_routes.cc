// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// /v1/probes.

#include <algorithm>
#include <utility>

#include "controller/probe/probe_book.h"
#include "controller/rest/event_body.h"
#include "controller/rest/http_exchange.h"
#include "controller/rest/probe_views.h"
#include "controller/rest/rest_call.h"
#include "lib/packet/prefix.h"

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

bool IsWithin(const FieldValue& address, const std::vector<Prefix>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const Prefix& prefix) {
    return prefix.is_ipv6 == (address.kind == ValueKind::kIpv6) &&
           FirstOf(prefix) <= address.value && address.value <= LastOf(prefix);
  });
}

// A tenant's packets go from its addresses to its addresses, where whoever sends nothing else could
// have them as well: another source on Ethernet would teach bridges that somebody has moved, and
// another VLAN is somebody else's.
bool MayTenantSend(const RestCall& call, const ProbePacket& packet) {
  const auto refuse = [&](const char* why) {
    AnswerProblem(call.exchange.get(), 403, why);
    return false;
  };
  if (call.caller.tenant.empty()) return true;
  const auto& prefixes = call.caller.prefixes;
  if (!IsWithin(packet.src, prefixes) || !IsWithin(packet.dst, prefixes)) {
    return refuse("srcIP and dstIP must lie within this tenant's prefixes");
  }
  if (packet.src_mac != kProbeMac) return refuse("srcMAC is not for tenants to choose");
  return !packet.vlan || refuse("vlan is not for tenants to choose");
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
  if (!request || !MayTenantSend(call, request->packet)) return;
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
