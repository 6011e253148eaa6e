// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/ingress_limits.h"

#include <string>

namespace trumpet {
namespace {

// Known where a packet leaves, or not at all.
constexpr uint64_t kUnknownFields =
    uint64_t{1} << kPktOutputPort | uint64_t{1} << kPktInQueueLength | uint64_t{1} << kSwitchId;

std::string NameOf(const MeasureProgram& program, uint32_t field) {
  return field < kMeasureFieldCount ? kMeasureFields[field].name
                                    : program.header_fields[field - kMeasureFieldCount].name;
}

std::string FirstOf(const MeasureProgram& program, uint64_t fields) {
  return NameOf(program, static_cast<uint32_t>(__builtin_ctzll(fields)));
}

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

}  // namespace

Status CheckIngressLimits(const CompiledProgram& program) {
  const MeasureProgram& source = program.source;
  for (const MeasureRole& role : source.roles) {
    if (role.kind == MeasureRoleKind::kEvery) continue;
    return Status::Error("the program has the role " + role.name +
                         "; this switch does not know its place in the network yet");
  }
  if (program.tagged_fields != 0) {
    return Status::Error("the program tags " + FirstOf(source, program.tagged_fields) +
                         " of forwarded packets; this switch tags only copies yet");
  }
  if (const uint64_t unknown = FieldsRead(source) & kUnknownFields; unknown != 0) {
    return Status::Error("the program reads " + FirstOf(source, unknown) +
                         ", which this switch does not tell programs yet");
  }
  return Status::Ok();
}

}  // namespace trumpet
