// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/trace_views.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "lib/base/log_buckets.h"

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

// A step of a named counter: sums, and what its histogram says of the latency of hops.
Json StepJson(Nanos start, const Json& told) {
  const auto number = [&](const char* key) {
    const auto found = told.find(key);
    return found != told.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
  };
  Json json = {{"start_ns", start}};
  for (const char* const key : {"packets", "bytes", "connections", "delivered", "dropped",
                                "copies_lost", "loop", "not_known", "hops"}) {
    json[key] = number(key);
  }
  std::map<uint64_t, uint64_t> histogram;
  for (const auto& [key, value] : told.items()) {
    const bool is_bucket =
        key.size() > 1 && key[0] == 'b' && key.find_first_not_of("0123456789", 1) == key.npos;
    if (is_bucket && value.is_number_unsigned()) {
      const uint64_t bucket = std::strtoull(key.c_str() + 1, nullptr, 10);
      if (bucket < kLogBuckets) histogram[bucket] += value.get<uint64_t>();
    }
  }
  const uint64_t times = number("hop_times");
  if (times == 0) {
    json["hop_latency_ns"] = nullptr;
    return json;
  }
  json["hop_latency_ns"] = {{"count", times},
                            {"mean", number("hop_ns") / times},
                            {"p50", LogPercentile(histogram, 0.5)},
                            {"p90", LogPercentile(histogram, 0.9)},
                            {"p99", LogPercentile(histogram, 0.99)}};
  return json;
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

Json TraceCounterJson(const TraceCounterView& counter) {
  Json filter = Json::object();
  for (const TraceWord& word : counter.definition.words) {
    std::string name = word.name;
    std::replace(name.begin(), name.end(), '-', '_');
    const bool is_list = name == "mark" || name == "within";
    if (is_list && !filter.contains(name)) filter[name] = Json::array();
    if (is_list) {
      filter[name].push_back(word.value);
    } else {
      filter[name] = word.value;
    }
  }
  Json json = {{"name", counter.definition.name},
               {"step_s", counter.definition.step_s},
               {"filter", std::move(filter)},
               {"created_ns", counter.created_ns},
               {"created_by", counter.created_by}};
  if (!counter.tenant.empty()) json["tenant"] = counter.tenant;
  return json;
}

Json CounterValuesJson(const TraceCounterView& counter, const TraceFindings& findings) {
  Json json = TraceCounterJson(counter);
  json["values"] = Json::array();
  for (const TraceFindings::Found& found : findings.found) {
    const Json told = Json::parse(found.record.text, nullptr, false);
    if (told.is_object()) json["values"].push_back(StepJson(found.record.start, told));
  }
  json["next_cursor"] = CursorJson(findings);
  AddSilent(findings, &json);
  return json;
}

Json AppFindingsJson(const TraceFindings& findings) {
  std::map<std::string, Json> by_analyzer;
  for (const TraceFindings::Found& found : findings.found) {
    Json one = {{"analyzer", found.analyzer}};
    const Json told = Json::parse(found.record.text, nullptr, false);
    if (told.is_object()) one.update(told);
    Json& list = by_analyzer[found.analyzer];
    if (list.is_null()) list = Json::array();
    list.push_back(std::move(one));
  }
  Json json = {{"findings", Json::array()}};
  for (const auto& [analyzer, list] : by_analyzer) {
    for (const Json& one : list) json["findings"].push_back(one);
  }
  // More than fit into a message of an analyzer.
  json["cut"] = findings.has_more;
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
