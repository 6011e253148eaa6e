// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/drop_views.h"

#include <utility>

#include "controller/rest/probe_views.h"
#include "lib/lang/probe/probe_language.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

const char* StateName(DropSearchState state) {
  switch (state) {
    case DropSearchState::kRunning:
      return "running";
    case DropSearchState::kStopped:
      return "stopped";
    case DropSearchState::kDone:
      break;
  }
  return "done";
}

Json PlacesJson(const DropFindings& found) {
  Json places = Json::array();
  for (const DropPlace& place : found.places) {
    places.push_back({{"behind", place.behind},
                      {"towards", place.towards},
                      {"passed_over", place.passed_over},
                      {"lost", place.lost}});
  }
  return places;
}

Json FieldsJson(const DropFindings& found) {
  Json fields = Json::array();
  for (const DropFieldFinding& field : found.fields) {
    Json json = {{"field", DropFieldName(field.field)}, {"role", field.role}};
    if (!field.lost.empty()) json["lost"] = field.lost;
    if (!field.passed.empty()) json["passed"] = field.passed;
    json["values"] = {{"lost", field.lost_values}, {"passed", field.passed_values}};
    json["packets"] = {{"lost", field.lost_packets}, {"known", field.known}};
    fields.push_back(std::move(json));
  }
  return fields;
}

Json KindsJson(const DropSearchView& search) {
  Json kinds = Json::array();
  for (const DropKindView& kind : search.kinds) {
    Json json = Json::object();
    if (kind.field != DropField::kNone) {
      json["field"] = DropFieldName(kind.field);
      json["value"] = kind.value;
    }
    json["sent"] = kind.tally.sent;
    json["known"] = kind.tally.known;
    json["lost"] = kind.tally.lost;
    json["traces"] = {{"lost", kind.lost}, {"passed", kind.passed}};
    kinds.push_back(std::move(json));
  }
  return kinds;
}

void AddFindings(const DropFindings& found, Json* json) {
  (*json)["verdict"] = found.verdict;
  (*json)["persistence"] = found.persistence;
  (*json)["confidence"] = found.confidence;
  (*json)["packets"] = {{"lost", found.lost}, {"known", found.known}};
  (*json)["loss"] = {{"low", found.rate.low}, {"high", found.rate.high}};
  (*json)["places"] = PlacesJson(found);
  (*json)["fields"] = FieldsJson(found);
  (*json)["explanation"] = found.explanation;
}

}  // namespace

Json DropSearchJson(const DropSearchView& search, bool with_kinds) {
  const DropSearchRequest& asked = search.request;
  Json fields = Json::object();
  for (const auto& [name, value] : ProbePacketFields(asked.packet)) fields[name] = value;
  Json json = {{"id", ProbeIdText(search.id)}, {"state", StateName(search.state)},
               {"begun_by", search.caller},    {"begun_ns", search.began},
               {"switch", asked.switch_name},  {"port", asked.port},
               {"packet", std::move(fields)}};
  if (!asked.trace.empty()) json["trace"] = asked.trace;
  json["sent"] = search.sent;
  json["probes"] = Json::array();
  for (const uint64_t probe : search.probes) json["probes"].push_back(ProbeIdText(probe));
  if (search.state != DropSearchState::kRunning) {
    json["ended_ns"] = search.ended;
    AddFindings(search.findings, &json);
  }
  json["notes"] = search.notes;
  json["complete"] = search.silent.empty();
  json["silent"] = Json::array();
  for (const auto& [analyzer, why] : search.silent) {
    json["silent"].push_back({{"analyzer", analyzer}, {"why", why}});
  }
  if (with_kinds) json["kinds"] = KindsJson(search);
  return json;
}

}  // namespace trumpet
