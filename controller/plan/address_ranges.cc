// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/address_ranges.h"

#include <algorithm>
#include <utility>

namespace trumpet {
namespace {

// Sorted, and one where two overlap or touch.
std::vector<AddressRange> Merged(std::vector<AddressRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const AddressRange& a, const AddressRange& b) {
    return a.first != b.first ? a.first < b.first : a.last < b.last;
  });
  std::vector<AddressRange> merged;
  for (const AddressRange& range : ranges) {
    const bool is_joined = !merged.empty() && (merged.back().last == ~Uint128{0} ||
                                               range.first <= merged.back().last + 1);
    if (is_joined) {
      merged.back().last = std::max(merged.back().last, range.last);
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

}  // namespace

AddressRanges::AddressRanges(std::vector<AddressRange> ranges)
    : ranges_(Merged(std::move(ranges))) {}

Uint128 AddressRanges::LargestOf(ValueKind kind) {
  switch (kind) {
    case ValueKind::kIpv4:
      return UINT32_MAX;
    case ValueKind::kMac:
      return (Uint128{1} << 48) - 1;
    default:
      return ~Uint128{0};
  }
}

AddressRanges AddressRanges::All(ValueKind kind) { return AddressRanges({{0, LargestOf(kind)}}); }

AddressRanges AddressRanges::Without(const AddressRanges& others) const {
  AddressRanges left;
  auto other = others.ranges_.begin();
  for (const AddressRange& range : ranges_) {
    Uint128 first = range.first;
    bool has_rest = true;
    while (other != others.ranges_.end() && other->last < first) ++other;
    for (auto cut = other; cut != others.ranges_.end() && cut->first <= range.last; ++cut) {
      if (cut->first > first) left.ranges_.push_back({first, cut->first - 1});
      has_rest = cut->last < range.last;
      if (!has_rest) break;
      first = cut->last + 1;
    }
    if (has_rest) left.ranges_.push_back({first, range.last});
  }
  return left;
}

bool AddressRanges::Has(Uint128 address) const {
  const auto after = std::upper_bound(
      ranges_.begin(), ranges_.end(), address,
      [](Uint128 wanted, const AddressRange& range) { return wanted < range.first; });
  return after != ranges_.begin() && address <= (after - 1)->last;
}

AddressRanges::Relation AddressRanges::CoveredBy(const std::vector<ValueRange>& ranges,
                                                 ValueKind kind) const {
  std::vector<AddressRange> of_kind;
  for (const ValueRange& range : ranges) {
    if (range.kind == kind) of_kind.push_back({range.low, range.high});
  }
  const std::vector<AddressRange> merged = Merged(std::move(of_kind));
  bool touches_all = true;
  bool touches_any = false;
  for (const AddressRange& mine : ranges_) {
    const auto found = std::lower_bound(
        merged.begin(), merged.end(), mine.first,
        [](const AddressRange& range, Uint128 wanted) { return range.last < wanted; });
    const bool touches = found != merged.end() && found->first <= mine.last;
    touches_any |= touches;
    touches_all &= touches && found->first <= mine.first && mine.last <= found->last;
    if (touches_any && !touches_all) break;
  }
  if (!touches_any) return Relation::kApart;
  return touches_all ? Relation::kCovered : Relation::kOverlap;
}

}  // namespace trumpet
