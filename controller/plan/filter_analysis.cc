// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/filter_analysis.h"

#include <algorithm>

namespace trumpet {
namespace {

bool IsOfIp(Field field) {
  switch (field) {
    case Field::kSrcIp:
    case Field::kDstIp:
    case Field::kSrcPort:
    case Field::kDstPort:
    case Field::kProtocol:
    case Field::kDscp:
    case Field::kEcn:
    case Field::kTtl:
    case Field::kTcpFlags:
      return true;
    default:
      return false;
  }
}

bool IsSource(Field field) { return field == Field::kSrcIp || field == Field::kSrcMac; }

// Is `field` what the sets of such packets are about?
bool IsAddressOf(Field field, PacketKind kind) {
  return kind == PacketKind::kOther ? field == Field::kSrcMac || field == Field::kDstMac
                                    : field == Field::kSrcIp || field == Field::kDstIp;
}

// The field is there in all packets of the set, or perhaps not.
Matching OfAddress(const FieldTest& test, const AddressRanges& addresses, ValueKind kind,
                   bool may_lack) {
  if (test.is_masked) return Matching::kPerhaps;
  const AddressRanges::Relation relation =
      test.is_any ? AddressRanges::Relation::kCovered : addresses.CoveredBy(test.ranges, kind);
  if (relation == AddressRanges::Relation::kApart) return Matching::kNever;
  const bool is_always = relation == AddressRanges::Relation::kCovered && !may_lack;
  return is_always ? Matching::kAlways : Matching::kPerhaps;
}

Matching OfTest(const FieldTest& test, const PacketSet& packets) {
  const Field field = test.ref.field;
  // Of a tunnel nothing is known; a plain packet's are the innermost ones.
  if (test.ref.level == Level::kOuter) return Matching::kPerhaps;
  if (packets.kind == PacketKind::kOther && IsOfIp(field)) return Matching::kNever;
  if (!IsAddressOf(field, packets.kind)) return Matching::kPerhaps;
  const bool is_source = IsSource(field);
  const Matching matching = OfAddress(
      test, is_source ? *packets.sources : *packets.destinations, AddressKindOf(packets.kind),
      is_source ? packets.may_lack_source : packets.may_lack_destination);
  // A plain packet has no inner fields.
  const bool may_be_absent = test.ref.level == Level::kInner;
  return may_be_absent ? std::min(matching, Matching::kPerhaps) : matching;
}

Matching Not(Matching matching) {
  switch (matching) {
    case Matching::kNever:
      return Matching::kAlways;
    case Matching::kAlways:
      return Matching::kNever;
    default:
      return Matching::kPerhaps;
  }
}

}  // namespace

ValueKind AddressKindOf(PacketKind kind) {
  switch (kind) {
    case PacketKind::kIpv4:
      return ValueKind::kIpv4;
    case PacketKind::kIpv6:
      return ValueKind::kIpv6;
    default:
      return ValueKind::kMac;
  }
}

Matching Analyze(const FilterExpr& filter, const PacketSet& packets) {
  switch (filter.op) {
    case FilterOp::kTrue:
      return Matching::kAlways;
    case FilterOp::kTest:
      return OfTest(filter.test, packets);
    case FilterOp::kNot:
      return Not(Analyze(filter.args.front(), packets));
    default:
      break;
  }
  const bool is_and = filter.op == FilterOp::kAnd;
  Matching all = is_and ? Matching::kAlways : Matching::kNever;
  for (const FilterExpr& arg : filter.args) {
    const Matching one = Analyze(arg, packets);
    all = is_and ? std::min(all, one) : std::max(all, one);
  }
  return all;
}

}  // namespace trumpet
