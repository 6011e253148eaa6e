// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The commands of trumpetctl for round trips of links.

#include <chrono>
#include <ostream>
#include <thread>
#include <vector>

#include "controller/view/bounce_tables.h"
#include "utilities/ctl/ctl_run.h"

namespace trumpet {
namespace {

constexpr auto kLook = std::chrono::milliseconds(200);
constexpr size_t kTogether = 8;  // links; packets of many would wait for each other

std::optional<ApiJson> Begin(CtlRun* run, ApiJson body) {
  AddSending(run->invocation, &body);
  const CtlDocument document{"bounce", body.dump(-1, ' ', true), true};
  return run->Ask(RequestWith("POST", "/v1/bounces", document, "application/json"));
}

// The controller ends it, whatever becomes of it.
std::optional<ApiJson> WaitFor(CtlRun* run, ApiJson bounce) {
  const std::string path = ApiPath("bounces", ApiText(bounce, "id"));
  while (ApiText(bounce, "state") != "done") {
    std::this_thread::sleep_for(kLook);
    auto now = run->Get(path);
    if (!now) return std::nullopt;
    bounce = std::move(*now);
  }
  return bounce;
}

bool HasReturned(const ApiJson& bounce) { return bounce.value("returned", 0) > 0; }

// Links between switches whose ports are known, one way each.
std::vector<ApiJson> LinksOf(const ApiJson& topology) {
  std::vector<ApiJson> links;
  for (const ApiJson& link : topology.value("links", ApiJson::array())) {
    if (link.value("from_port", 0u) == 0 || link.value("to_port", 0u) == 0) continue;
    links.push_back({{"switch", ApiText(link, "from")},
                     {"port", link.value("from_port", 0u)},
                     {"to", ApiText(link, "to")}});
  }
  return links;
}

}  // namespace

int BounceCtlProbe(CtlRun* run) {
  ApiJson body = {{"switch", run->argument(0)}};
  if (run->invocation.arguments.size() > 1) body["port"] = run->argument(1);
  if (run->invocation.Has("to")) body["to"] = run->invocation.Get("to");
  auto bounce = Begin(run, std::move(body));
  if (bounce && !run->invocation.Has("background")) bounce = WaitFor(run, std::move(*bounce));
  if (!bounce) return 1;
  const int status = run->Print(*bounce, BounceText);
  const bool has_failed = ApiText(*bounce, "state") == "done" && !HasReturned(*bounce);
  return status == 0 && has_failed ? 1 : status;
}

int BounceCtlLinks(CtlRun* run) {
  const auto topology = run->Get("/v1/topology");
  if (!topology) return 1;
  const std::vector<ApiJson> links = LinksOf(*topology);
  if (links.empty()) return run->Fail("no link between switches has been found by LLDP");
  ApiJson all = {{"bounces", ApiJson::array()}};
  bool has_failed = false;
  for (size_t first = 0; first < links.size(); first += kTogether) {
    std::vector<ApiJson> begun;
    for (size_t i = first; i < std::min(first + kTogether, links.size()); ++i) {
      auto bounce = Begin(run, links[i]);
      has_failed = has_failed || !bounce;
      if (bounce) begun.push_back(std::move(*bounce));
    }
    for (ApiJson& one : begun) {
      auto done = WaitFor(run, std::move(one));
      if (!done) return 1;
      has_failed = has_failed || !HasReturned(*done);
      all["bounces"].push_back(std::move(*done));
    }
  }
  const int status = run->Print(all, [](const ApiJson& json) {
    return BounceTable(json.value("bounces", ApiJson::array()));
  });
  return status == 0 && has_failed ? 1 : status;
}

}  // namespace trumpet
