// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/address_ranges.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace trumpet {
namespace {

// A small world, so that everything can be asked about every address.
constexpr uint32_t kAddresses = 24;

std::vector<AddressRange> SomeRanges(std::mt19937* random) {
  std::vector<AddressRange> ranges((*random)() % 4);
  for (AddressRange& range : ranges) {
    range.first = (*random)() % kAddresses;
    range.last = range.first + (*random)() % (kAddresses - static_cast<uint32_t>(range.first));
  }
  return ranges;
}

bool IsIn(const std::vector<AddressRange>& ranges, Uint128 address) {
  for (const AddressRange& range : ranges) {
    if (range.first <= address && address <= range.last) return true;
  }
  return false;
}

TEST(AddressRanges, SayWhatEveryAddressSays) {
  std::mt19937 random(1);
  for (int round = 0; round < 5000; ++round) {
    const std::vector<AddressRange> a = SomeRanges(&random);
    const std::vector<AddressRange> b = SomeRanges(&random);
    std::vector<ValueRange> test;
    for (const AddressRange& range : b) test.push_back({ValueKind::kIpv4, range.first, range.last});
    const AddressRanges set(a);
    const AddressRanges rest = set.Without(AddressRanges(b));
    bool touches = false;
    bool is_covered = true;
    for (uint32_t address = 0; address < kAddresses; ++address) {
      ASSERT_EQ(set.Has(address), IsIn(a, address)) << "round " << round;
      ASSERT_EQ(rest.Has(address), IsIn(a, address) && !IsIn(b, address)) << "round " << round;
      if (!IsIn(a, address)) continue;
      touches |= IsIn(b, address);
      is_covered &= IsIn(b, address);
    }
    const AddressRanges::Relation expected = !touches     ? AddressRanges::Relation::kApart
                                             : is_covered ? AddressRanges::Relation::kCovered
                                                          : AddressRanges::Relation::kOverlap;
    ASSERT_EQ(set.CoveredBy(test, ValueKind::kIpv4), expected) << "round " << round;
    ASSERT_EQ(set.CoveredBy(test, ValueKind::kIpv6), AddressRanges::Relation::kApart);
  }
}

TEST(AddressRanges, ReachTheLastAddress) {
  const AddressRanges all = AddressRanges::All(ValueKind::kIpv6);
  EXPECT_TRUE(all.Has(~Uint128{0}));
  EXPECT_TRUE(all.Without(all).is_empty());
  const AddressRanges last({{~Uint128{0}, ~Uint128{0}}});
  EXPECT_FALSE(all.Without(last).Has(~Uint128{0}));
  EXPECT_TRUE(all.Without(last).Has(~Uint128{0} - 1));
}

}  // namespace
}  // namespace trumpet
