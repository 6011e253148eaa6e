// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/measurement_place.h"

#include <string>

namespace trumpet {
namespace {

uint64_t FieldsRead(const MeasureProgram& program) {
  uint64_t fields = 0;
  for (const MeasureExpr& expr : program.exprs) {
    if (expr.kind == MeasureExprKind::kField) fields |= uint64_t{1} << expr.field;
  }
  for (const MeasureKey& key : program.keys) {
    for (const MeasureFieldId field : key.fields) fields |= uint64_t{1} << field;
  }
  return fields;
}

bool HasBit(uint64_t fields, MeasureFieldId field) { return (fields >> field & 1) != 0; }

// The first role that depends on ports; null: none.
const MeasureRole* RoleOfPorts(const MeasureProgram& program) {
  for (const MeasureRole& role : program.roles) {
    if (role.kind != MeasureRoleKind::kEvery) return &role;
  }
  return nullptr;
}

Status CheckRoles(const MeasureProgram& program, const MeasurementPlace& place) {
  for (const MeasureRole& role : program.roles) {
    if (role.kind == MeasureRoleKind::kSite) {
      return Status::Error("the program has the role " + role.name +
                           "; a switch knows first_hop, intermediate, last_hop and every");
    }
  }
  const MeasureRole* const role = RoleOfPorts(program);
  if (role == nullptr || !place.edges.empty()) return Status::Ok();
  return Status::Error("the program has the role " + role->name +
                       "; say edge=PORT,... by which packets come into the network and leave it");
}

}  // namespace

Result<MeasurementWay> PlanMeasurement(const CompiledProgram& program,
                                       const MeasurementPlace& place) {
  const MeasureProgram& source = program.source;
  if (Status status = CheckRoles(source, place); !status.ok()) return status;
  const Result<TagCarriage> carriage = PlanTagCarriage(program, place.is_lab);
  if (!carriage.ok()) return carriage.status();
  if (carriage->has_any() && place.edges.empty()) {
    return Status::Error(
        "the program tags forwarded packets; say edge=PORT,... where tags begin and end");
  }
  const uint64_t fields = FieldsRead(source);
  if (HasBit(fields, kSwitchId) && !place.switch_id.has_value()) {
    return Status::Error("the program reads switch.id; say switch=NUMBER");
  }
  MeasurementWay way;
  way.is_sent =
      carriage->has_any() || RoleOfPorts(source) != nullptr || HasBit(fields, kPktOutputPort);
  way.wants_queue_length = HasBit(fields, kPktInQueueLength);
  way.switch_id = place.switch_id.value_or(0);
  way.carriage = *carriage;
  return way;
}

}  // namespace trumpet
