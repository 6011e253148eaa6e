// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What tasks of ctrl are asked, and what they answer, as JSON.

#include <optional>
#include <utility>

#include "controller/rest/json_body.h"
#include "controller/rest/measurement_views.h"
#include "lib/measure/key_text.h"
#include "lib/measure/packet_values.h"

namespace trumpet {
namespace {

// Numbers as such, or as texts, which may be addresses.
std::optional<std::string> ValueText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_unsigned()) return std::to_string(value.get<uint64_t>());
  return std::nullopt;
}

Json CopyJson(const MeasureProgram& program, const ProgramCopy& copy) {
  Json packet = Json::object();
  size_t at = 0;
  for (uint64_t left = copy.present; left != 0; left &= left - 1) {
    const auto field = static_cast<MeasureFieldId>(__builtin_ctzll(left));
    packet[MeasureFieldName(program, field)] = copy.values[at++];
  }
  return {{"time_ns", copy.time_ns},
          {"endpoint", program.endpoints[copy.endpoint]},
          {"packet", std::move(packet)}};
}

bool AnswersRequests(const MeasureProgram& program) {
  for (const MeasureTask& task : program.tasks) {
    if (task.stream == kCtrlStream) return true;
  }
  return false;
}

}  // namespace

Result<std::vector<AskedField>> ReadAskedFields(const MeasureProgram& program,
                                                const std::string& body) {
  if (!AnswersRequests(program)) return Status::Error("the program has no task of ctrl");
  const auto read = ReadJsonBody(body);
  if (!read.ok()) return read.status();
  const Json& json = *read;
  const bool is_sound = json.is_object() && json.size() == 1 && json.contains("fields") &&
                        json["fields"].is_object() && json["fields"].size() <= kMaxMeasureKeyBytes;
  if (!is_sound) {
    return Status::Error("a request is {\"fields\": {FIELD: VALUE, ...}}, of at most " +
                         std::to_string(kMaxMeasureKeyBytes) + " fields");
  }
  std::vector<AskedField> fields;
  for (const auto& [name, value] : json["fields"].items()) {
    const auto field = FindMeasureField(program, name);
    if (!field.ok()) return field.status();
    const auto text = ValueText(value);
    if (!text) return Status::Error(name + " takes a number, or an address as text");
    const auto number = ReadMeasureFieldValue(program, *field, *text);
    if (!number.ok()) return number.status();
    fields.push_back({*field, *number});
  }
  return fields;
}

Json RequestAnswerJson(const NetworkMeasurement& measurement, const RequestAnswer& answer) {
  Json json = {{"measurement", measurement.record.name},
               {"complete", answer.silent.empty() && answer.left_out == 0},
               {"answers", Json::array()},
               {"silent", Json::array()},
               {"left_out", answer.left_out}};
  for (const HostAnswer& host : answer.hosts) {
    Json one = {{"host", host.host}};
    for (const MeasurementHost& known : measurement.hosts) {
      if (known.id == host.host && known.switch_id) one["switch"] = *known.switch_id;
    }
    one["copies"] = Json::array();
    for (const ProgramCopy& copy : host.copies) {
      one["copies"].push_back(CopyJson(measurement.program, copy));
    }
    json["answers"].push_back(std::move(one));
  }
  for (const SilentHost& host : answer.silent) {
    json["silent"].push_back({{"id", host.host}, {"why", host.why}});
  }
  return json;
}

}  // namespace trumpet
