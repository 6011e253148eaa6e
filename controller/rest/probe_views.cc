// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/probe_views.h"

#include <cinttypes>
#include <cstdio>
#include <utility>

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

const char* StateName(ProbeState state) {
  switch (state) {
    case ProbeState::kSending:
      return "sending";
    case ProbeState::kWaiting:
      return "waiting";
    case ProbeState::kDone:
      break;
  }
  return "done";
}

Json PathJson(const ProbeTrace& trace) {
  Json path = Json::array();
  for (const ProbeHop& hop : trace.path) {
    path.push_back({{"switch", hop.switch_name}, {"ttl", hop.ttl}, {"time_ns", hop.time}});
  }
  return path;
}

Json PacketsJson(const ProbeView& probe) {
  Json packets = Json::array();
  for (size_t i = 0; i < probe.sent.size(); ++i) {
    packets.push_back({{"sent_ns", probe.sent[i]}});
  }
  for (const ProbeTrace& trace : probe.traces) {
    if (trace.packet >= packets.size()) continue;
    Json& packet = packets[trace.packet];
    packet["trace"] = trace.id;
    packet["analyzer"] = trace.analyzer;
    packet["verdict"] = trace.verdict;
    packet["last_switch"] = trace.last_switch;
    packet["path"] = PathJson(trace);
  }
  return packets;
}

}  // namespace

std::string ProbeIdText(uint64_t id) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, id);
  return text;
}

Json ProbeJson(const ProbeView& probe, bool with_packets) {
  Json fields = Json::object();
  for (const auto& [name, value] : ProbePacketFields(probe.request.packet)) fields[name] = value;
  Json json = {{"id", ProbeIdText(probe.id)},
               {"state", StateName(probe.state)},
               {"begun_by", probe.caller},
               {"begun_ns", probe.began},
               {"switch", probe.request.switch_name},
               {"port", probe.in_port},
               {"packet", std::move(fields)},
               {"count", probe.request.count},
               {"sent", probe.sent.size()},
               {"traced", probe.traces.size()}};
  if (!probe.request.via.empty()) json["via"] = probe.request.via;
  if (probe.state == ProbeState::kDone) {
    json["verdict"] = probe.conclusion.verdict;
    json["confidence"] = probe.conclusion.confidence;
    json["last_switch"] = probe.conclusion.last_switch;
    json["explanation"] = probe.conclusion.explanation;
  }
  json["notes"] = probe.notes;
  json["complete"] = probe.silent.empty();
  json["silent"] = Json::array();
  for (const auto& [analyzer, why] : probe.silent) {
    json["silent"].push_back({{"analyzer", analyzer}, {"why", why}});
  }
  if (with_packets) json["packets"] = PacketsJson(probe);
  return json;
}

Json BounceJson(const BounceView& bounce) {
  const BounceFindings& found = bounce.findings;
  Json json = {{"id", ProbeIdText(bounce.id)},   {"state", StateName(bounce.state)},
               {"begun_by", bounce.caller},      {"begun_ns", bounce.began},
               {"switch", bounce.link.from},     {"port", bounce.link.from_port},
               {"to", bounce.link.to},           {"to_port", bounce.link.to_port},
               {"count", bounce.request.count},  {"sent", bounce.sent},
               {"returned", found.returned},     {"lost", found.lost},
               {"not_copied", found.not_copied}, {"apart", found.apart},
               {"notes", bounce.notes}};
  if (found.returned == 0) return json;
  json["round_trip"] = {{"min_ns", found.min},   {"p50_ns", found.p50},
                        {"p99_ns", found.p99},   {"max_ns", found.max},
                        {"mean_ns", found.mean}, {"histogram", Json::array()}};
  for (const BounceBucket& bucket : found.histogram) {
    json["round_trip"]["histogram"].push_back(
        {{"below_ns", bucket.below}, {"packets", bucket.count}});
  }
  return json;
}

}  // namespace trumpet
