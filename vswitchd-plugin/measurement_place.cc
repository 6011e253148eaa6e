// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/measurement_place.h"

#include <algorithm>
#include <string>

namespace trumpet {
namespace {

bool HasRolesOfPorts(const MeasureProgram& program) {
  return std::any_of(program.roles.begin(), program.roles.end(),
                     [](const MeasureRole& role) { return role.kind != MeasureRoleKind::kEvery; });
}

Status CheckRoles(const MeasureProgram& program) {
  for (const MeasureRole& role : program.roles) {
    if (role.kind == MeasureRoleKind::kSite) {
      return Status::Error("the program has the role " + role.name +
                           "; a switch knows first_hop, intermediate, last_hop and every");
    }
  }
  return Status::Ok();
}

}  // namespace

Result<MeasurementWay> PlanMeasurement(const CompiledProgram& program,
                                       const MeasurementPlace& place, bool has_carriers) {
  const MeasureProgram& source = program.source;
  if (Status status = CheckRoles(source); !status.ok()) return status;
  const Result<TagCarriage> carriage = PlanTagCarriage(program, place.is_lab);
  if (!carriage.ok()) return carriage.status();
  if (carriage->has_shim() && !has_carriers) {
    return Status::Error(
        "the program tags " + std::string(carriage->has_vid ? "vlan.vid" : "geneve.option") +
        "; say in trumpet-carriers which ports lead to switches that take it off again");
  }
  if (ReadsMeasureField(source, kSwitchId) && !place.switch_id.has_value()) {
    return Status::Error("the program reads switch.id; say switch=NUMBER");
  }
  MeasurementWay way;
  way.is_sent = carriage->has_any() || carriage->has_payload || HasRolesOfPorts(source) ||
                ReadsMeasureField(source, kPktOutputPort);
  way.wants_queue_length = ReadsMeasureField(source, kPktInQueueLength);
  way.switch_id = place.switch_id.value_or(0);
  way.carriage = *carriage;
  return way;
}

}  // namespace trumpet
