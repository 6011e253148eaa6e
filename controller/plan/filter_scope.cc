// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/filter_scope.h"

#include <utility>

#include "controller/plan/filter_analysis.h"

namespace trumpet {
namespace {

AddressRanges Outside(const std::vector<Prefix>& prefixes, PacketKind kind) {
  std::vector<AddressRange> inside;
  for (const Prefix& prefix : prefixes) {
    const PacketKind kind_of = prefix.is_ipv6 ? PacketKind::kIpv6 : PacketKind::kIpv4;
    if (kind_of == kind) inside.push_back({FirstOf(prefix), LastOf(prefix)});
  }
  return AddressRanges::All(AddressKindOf(kind)).Without(AddressRanges(std::move(inside)));
}

}  // namespace

bool IsConfinedTo(const FilterExpr& filter, const std::vector<Prefix>& prefixes) {
  for (const PacketKind kind : {PacketKind::kIpv4, PacketKind::kIpv6, PacketKind::kOther}) {
    const AddressRanges outside = Outside(prefixes, kind);
    const PacketSet others{kind, &outside, &outside, kind == PacketKind::kOther,
                           kind == PacketKind::kOther};
    const bool has_others = !outside.is_empty();
    if (has_others && Analyze(filter, others) != Matching::kNever) return false;
  }
  return true;
}

}  // namespace trumpet
