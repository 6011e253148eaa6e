// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// AddressRanges: a set of addresses of one kind, as sorted ranges that do not touch.
//
// Threads: values.

#ifndef TRUMPET_CONTROLLER_PLAN_ADDRESS_RANGES_H
#define TRUMPET_CONTROLLER_PLAN_ADDRESS_RANGES_H

#include <cstdint>
#include <vector>

#include "lib/base/units.h"
#include "lib/model/filter.h"
#include "lib/packet/fields.h"
#include "lib/packet/prefix.h"

namespace trumpet {

struct AddressRange {
  Uint128 first = 0;
  Uint128 last = 0;

  bool operator==(const AddressRange& other) const {
    return first == other.first && last == other.last;
  }
};

class AddressRanges {
 public:
  AddressRanges() = default;
  // Any ranges, in any order.
  explicit AddressRanges(std::vector<AddressRange> ranges);

  // All addresses of a kind: kIpv4, kIpv6 or kMac.
  static AddressRanges All(ValueKind kind);
  static Uint128 LargestOf(ValueKind kind);

  AddressRanges Without(const AddressRanges& others) const;
  bool Has(Uint128 address) const;
  // What the ranges of a test that are of this kind have to do with the set.
  enum class Relation : uint8_t { kApart, kOverlap, kCovered };
  Relation CoveredBy(const std::vector<ValueRange>& ranges, ValueKind kind) const;

  bool is_empty() const { return ranges_.empty(); }
  const std::vector<AddressRange>& ranges() const { return ranges_; }

 private:
  std::vector<AddressRange> ranges_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PLAN_ADDRESS_RANGES_H
