// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/trace_views.h"

#include <cinttypes>
#include <cstdio>

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

std::string IdText(uint64_t id) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, id);
  return text;
}

Json CursorJson(const TraceFindings& findings) {
  if (!findings.has_more || findings.found.empty()) return nullptr;
  const TraceRecord& last = findings.found.back().record;
  return std::to_string(last.start) + "-" + IdText(last.id);
}

void AddSilent(const TraceFindings& findings, Json* json) {
  (*json)["complete"] = findings.silent.empty();
  (*json)["silent"] = Json::array();
  for (const auto& [analyzer, why] : findings.silent) {
    (*json)["silent"].push_back({{"analyzer", analyzer}, {"why", why}});
  }
}

}  // namespace

Json TraceJson(const std::string& analyzer, const TraceRecord& record) {
  Json json = {{"analyzer", analyzer}};
  const Json told = Json::parse(record.text, nullptr, false);
  if (told.is_object()) {
    json.update(told);
  } else {
    json["id"] = IdText(record.id);
    json["start_ns"] = record.start;
  }
  return json;
}

Json TracePageJson(const TraceFindings& findings) {
  Json json = {{"traces", Json::array()}, {"next_cursor", CursorJson(findings)}};
  for (const TraceFindings::Found& found : findings.found) {
    json["traces"].push_back(TraceJson(found.analyzer, found.record));
  }
  AddSilent(findings, &json);
  return json;
}

Json CounterPageJson(const TraceFindings& findings) {
  Json json = {{"counters", Json::array()}, {"next_cursor", CursorJson(findings)}};
  for (const TraceFindings::Found& found : findings.found) {
    Json one = {{"start_ns", found.record.start}};
    const Json told = Json::parse(found.record.text, nullptr, false);
    if (told.is_object()) one.update(told);
    json["counters"].push_back(std::move(one));
  }
  AddSilent(findings, &json);
  return json;
}

Json TraceEstimateJson(const TraceFindings& findings) {
  uint64_t files = 0;
  uint64_t traces = 0;
  uint64_t bytes = 0;
  Json analyzers = Json::array();
  for (const auto& [analyzer, cost] : findings.answers) {
    files += cost.files;
    traces += cost.traces;
    bytes += cost.bytes;
    analyzers.push_back({{"analyzer", analyzer},
                         {"files", cost.files},
                         {"traces", cost.traces},
                         {"bytes", cost.bytes}});
  }
  Json json = {{"files", files}, {"traces", traces}, {"bytes", bytes}, {"analyzers", analyzers}};
  AddSilent(findings, &json);
  return json;
}

}  // namespace trumpet
