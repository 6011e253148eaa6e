// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Commands of the control socket about measurements.

#include "controller/daemon/control_commands.h"
#include "controller/rest/measurement_views.h"
#include "controller/view/measurement_tables.h"

namespace trumpet {
namespace {

bool TakeJson(CommandArguments* arguments, size_t min_args) {
  if (arguments->size() <= min_args || arguments->front() != "json") return false;
  arguments->erase(arguments->begin());
  return true;
}

std::string Pretty(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string ListText(const MeasurementManager& measurements, bool as_json) {
  Json list = Json::array();
  for (const NetworkMeasurement& measurement : measurements.Measurements()) {
    list.push_back(ToJson(measurement));
  }
  if (as_json) return Pretty({{"measurements", std::move(list)}});
  return list.empty() ? "no measurements\n" : MeasurementTable(list);
}

Result<std::string> ShowText(const MeasurementManager& measurements, const std::string& name,
                             bool as_json) {
  const auto measurement = measurements.Find(name);
  if (!measurement) return Status::Error("there is no measurement named '" + name + "'");
  const Json json = ToJson(*measurement);
  return as_json ? Pretty(json) : MeasurementText(json);
}

}  // namespace

std::vector<DaemonCommand> MakeMeasurementCommands(const MeasurementManager* measurements) {
  return {{"measure/list", "[json]", 0, 1,
           [measurements](CommandArguments arguments, const CommandReply& reply) {
             reply(ListText(*measurements, TakeJson(&arguments, 0)));
           }},
          {"measure/show", "[json] NAME", 1, 2,
           [measurements](CommandArguments arguments, const CommandReply& reply) {
             const bool as_json = TakeJson(&arguments, 1);
             reply(ShowText(*measurements, arguments[0], as_json));
           }}};
}

}  // namespace trumpet
