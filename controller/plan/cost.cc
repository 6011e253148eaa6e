// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/cost.h"

#include "lib/model/bucket_key.h"

namespace trumpet {
namespace {

// Nanoseconds for a packet that matches, beyond what the monitor takes for it anyway.
constexpr double kOfSet = 0.3;        // sums that the flow's set keeps for all its packets
constexpr double kOfBucket = 2.0;     // its share of a bucket's partial: 27 ns, a dozen packets
constexpr double kOfGeneralWay = 25;  // parsed in full; fields besides the 5-tuple, other cells
constexpr double kOfConnection = 35;  // TCP state or gaps between packets
constexpr double kOfCell = 1.5;       // a minimum, a sum of squares, an expression

bool IsPlain(const CellSpec& cell, const TriggerPlan& plan) {
  if (cell.kind == CellKind::kCount) return true;
  const Expr& operand = plan.operands[cell.operand];
  return cell.kind == CellKind::kSum && operand.op == ExprOp::kVariable;
}

bool UsesConnections(const TriggerPlan& plan) {
  bool uses = false;
  VisitNodes(plan.spec.predicate, [&uses](const Expr& node) {
    if (node.op != ExprOp::kVariable) return;
    switch (node.variable) {
      case Variable::kPackets:
      case Variable::kBytes:
      case Variable::kVolume:
      case Variable::kEcn:
      case Variable::kTtl:
        break;
      default:
        uses = true;
    }
  });
  return uses;
}

bool IsInFiveTuple(const FieldRef& ref) {
  if (ref.level != Level::kInnermost) return false;
  switch (ref.field) {
    case Field::kSrcIp:
    case Field::kDstIp:
    case Field::kSrcPort:
    case Field::kDstPort:
    case Field::kProtocol:
      return true;
    default:
      return false;
  }
}

bool UsesOtherFields(const EventSpec& event) {
  bool uses = false;
  VisitFields(event.filter, [&uses](const FieldRef& ref) { uses |= !IsInFiveTuple(ref); });
  for (const GranularityField& field : event.granularity.fields) uses |= !IsInFiveTuple(field.ref);
  return uses;
}

double NanosPerPacket(const TriggerPlan& plan) {
  double nanos = kOfSet;
  uint32_t other_cells = 0;
  for (const CellSpec& cell : plan.cells) other_cells += IsPlain(cell, plan) ? 0 : 1;
  if (!plan.spec.granularity.is_none()) nanos += kOfBucket;
  if (UsesOtherFields(plan.spec) || other_cells != 0) nanos += kOfGeneralWay;
  if (UsesConnections(plan)) nanos += kOfConnection;
  return nanos + kOfCell * other_cells;
}

// Numbers are of 7 bits a byte: a count of packets takes one or two, doubles nine or ten.
uint64_t WireBytes(CellKind kind) {
  switch (kind) {
    case CellKind::kCount:
      return 2;
    case CellKind::kSum:
      return 5;
    case CellKind::kSumSquares:
      return 7;
    case CellKind::kMin:
    case CellKind::kMax:
      return 3;
    default:
      return 10u * static_cast<uint64_t>(CellWords(kind));
  }
}

uint64_t ValueBytes(Field field) {
  switch (field) {
    case Field::kSrcMac:
    case Field::kDstMac:
      return 6;
    default:
      return 4;
  }
}

// With IPv4 addresses.
uint64_t KeyBytes(const Granularity& granularity) {
  if (granularity.is_five_tuple) return 25;
  uint64_t bytes = 0;
  for (const GranularityField& field : granularity.fields) bytes += 1 + ValueBytes(field.ref.field);
  return bytes;
}

}  // namespace

EventCost EstimateCost(const TriggerPlan& plan) {
  constexpr uint64_t kOfMessage = 32;
  uint64_t per_bucket = 1 + KeyBytes(plan.spec.granularity);
  for (const CellSpec& cell : plan.cells) per_bucket += WireBytes(cell.kind);
  const uint64_t buckets = plan.spec.granularity.is_none() ? 1 : kCostedBuckets;
  return {plan.word_count, kOfMessage + buckets * per_bucket, NanosPerPacket(plan)};
}

}  // namespace trumpet
