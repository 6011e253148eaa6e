// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/place_codec.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "lib/wire/limits.h"
#include "lib/wire/trumpet.pb.h"

namespace trumpet {
namespace {

HostPlace LargePlace(size_t count) {
  HostPlace place;
  for (size_t i = 0; i < count; ++i) {
    place.own.prefixes.push_back({false, 0x0a000000 + i, 32});
    place.monitored.prefixes.push_back({true, (Uint128{0x20010db8} << 96) + i, 128});
    place.own.macs.push_back(0x020000000000 + i);
    place.monitored.macs.push_back(0x040000000000 + i);
  }
  return place;
}

TEST(HostPlaceParts, GiveBackWhatWasCut) {
  for (const size_t count : {0u, 1u, 100u, 5000u}) {
    const HostPlace place = LargePlace(count);
    constexpr size_t kFrame = 8192;
    HostPlaceParts parts;
    std::optional<HostPlaceParts::Whole> whole;
    size_t sent = 0;
    const Status status = SplitHostPlace(place, 7, kFrame, [&](Message&& message) {
      std::string frame;
      ASSERT_TRUE(EncodeMessage(message, kFrame, &frame).ok());
      Result<Message> decoded = DecodeMessage(frame);
      ASSERT_TRUE(decoded.ok()) << decoded.message();
      EXPECT_FALSE(whole.has_value());
      auto taken = parts.Add(std::get<HostPlacePart>(std::move(*decoded)));
      ASSERT_TRUE(taken.ok()) << taken.message();
      whole = std::move(*taken);
      ++sent;
    });
    ASSERT_TRUE(status.ok());
    ASSERT_TRUE(whole.has_value());
    EXPECT_EQ(whole->generation, 7u);
    EXPECT_TRUE(whole->place == place) << count;
    EXPECT_EQ(sent > 1, count == 5000u);
  }
}

TEST(HostPlaceParts, RefuseWhatDoesNotFollow) {
  HostPlaceParts parts;
  EXPECT_TRUE(parts.Add({1, 0, false, {}, {}}).ok());
  const auto skipped = parts.Add({1, 2, true, {}, {}});
  ASSERT_FALSE(skipped.ok());
  EXPECT_EQ(skipped.message(), "part 2 of place 1 does not follow what came before");
  EXPECT_TRUE(parts.Add({2, 0, false, {}, {}}).ok());
  EXPECT_FALSE(parts.Add({3, 1, true, {}, {}}).ok());
  // A new one begins at any time.
  EXPECT_TRUE(parts.Add({4, 0, false, LargePlace(3).own, {}}).ok());
  const auto whole = parts.Add({5, 0, true, LargePlace(2).own, {}});
  ASSERT_TRUE(whole.ok() && *whole);
  EXPECT_EQ((**whole).place.own.macs.size(), 2u);
}

TEST(HostPlaceParts, AreBoundedTogether) {
  HostPlaceParts parts;
  HostPlacePart part;
  part.generation = 1;
  part.is_last = false;
  part.monitored.macs.resize(kMaxPlaceMacs);
  EXPECT_TRUE(parts.Add(part).ok());
  part.part = 1;
  const auto too_much = parts.Add(part);
  ASSERT_FALSE(too_much.ok());
  EXPECT_EQ(too_much.message(), "a place has 262144 monitored MACs; at most 131072 are allowed");
  HostPlace place;
  place.own.prefixes.resize(kMaxPlacePrefixes + 1);
  EXPECT_FALSE(SplitHostPlace(place, 1, 4096, [](Message&&) { FAIL(); }).ok());
}

TEST(HostPlace, OnTheWireIsChecked) {
  const auto error_of = [](void (*change)(pb::HostPlace*)) {
    pb::Frame frame;
    frame.mutable_host_place()->set_generation(1);
    change(frame.mutable_host_place());
    const Result<Message> message = DecodeMessage(frame.SerializeAsString());
    return message.ok() ? std::string("ok") : message.message();
  };
  EXPECT_EQ(error_of([](pb::HostPlace*) {}), "ok");
  EXPECT_EQ(error_of([](pb::HostPlace* place) { place->set_generation(0); }),
            "host_place.generation is 0; it takes 1 to 18446744073709551615");
  EXPECT_EQ(error_of([](pb::HostPlace* place) { place->mutable_own()->add_ipv4(1); }),
            "host_place.own.ipv4_lengths has 0 bytes for 1 addresses");
  EXPECT_EQ(error_of([](pb::HostPlace* place) {
              place->mutable_own()->add_ipv4(1);
              place->mutable_own()->set_ipv4_lengths("\x21");
            }),
            "host_place.own.ipv4_lengths is 33; it takes 0 to 32");
  EXPECT_EQ(error_of([](pb::HostPlace* place) { place->mutable_monitored()->set_ipv6("abc"); }),
            "host_place.monitored.ipv6 has 3 bytes, not 16 for each");
  EXPECT_EQ(error_of([](pb::HostPlace* place) {
              place->mutable_monitored()->add_macs(uint64_t{1} << 48);
            }),
            "host_place.monitored.macs is 281474976710656; it takes 0 to 281474976710655");
}

}  // namespace
}  // namespace trumpet
