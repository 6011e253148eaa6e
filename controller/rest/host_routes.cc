// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// /v1/hosts and /v1/topology.

#include <utility>

#include "controller/rest/json_views.h"
#include "controller/rest/rest_call.h"

namespace trumpet {

// Without what agents say of ports and bridges: thousands of hosts have ten thousands of them.
void ListHosts(const RestCall& call) {
  Json list = Json::array();
  for (HostView& host : call.parts.events->Hosts()) {
    host.facts = HostFacts();
    list.push_back(ToJson(host));
  }
  AnswerJson(call.exchange.get(), 200, {{"hosts", std::move(list)}});
}

void ShowHost(const RestCall& call) {
  const auto host = call.parts.events->FindHost(call.name);
  if (host) {
    AnswerJson(call.exchange.get(), 200, ToJson(*host));
  } else {
    AnswerProblem(call.exchange.get(), 404, "there is no host '" + call.name + "'");
  }
}

void ShowTopology(const RestCall& call) {
  const RestParts& parts = call.parts;
  AnswerJson(call.exchange.get(), 200,
             ToJson(parts.topology ? parts.topology() : parts.events->topology()));
}

// Until the controller reads its file again.
void PutTopology(const RestCall& call) {
  const std::string text = call.request().Text();
  const bool is_json = call.request().header("content-type").find("json") != std::string::npos;
  Result<Topology> topology =
      is_json ? ParseTopologyJson(text, "request") : ParseTopologyYaml(text, "request");
  if (!topology.ok()) {
    AnswerProblem(call.exchange.get(), 422, topology.message());
    return;
  }
  if (call.parts.set_topology) {
    call.parts.set_topology(std::move(*topology));
  } else {
    call.parts.events->SetTopology(std::move(*topology));
  }
  if (call.parts.log) call.parts.log("info", "topology replaced by " + call.caller.name);
  ShowTopology(call);
}

}  // namespace trumpet
