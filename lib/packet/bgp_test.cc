// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/bgp.h"

#include <gtest/gtest.h>

#include <string>

#include "lib/packet/bgp_frames.h"

namespace trumpet {
namespace {

using namespace bgp_frames;  // NOLINT(google-build-using-namespace): a language for tests

uint32_t SizeOf(const Bytes& message) { return static_cast<uint32_t>(message.size()); }

// On the heap exactly, so that a sanitizer sees a read beyond the end.
BgpVerdict ReadUpdate(const Bytes& message, BgpUpdate* update, const BgpFamilies& paths = {}) {
  const Bytes exact(message);
  return ReadBgpUpdate(exact.data(), SizeOf(exact), SizeOf(exact), paths, update);
}

BgpVerdict ReadOpen(const Bytes& message, BgpOpen* open) {
  const Bytes exact(message);
  return ReadBgpOpen(exact.data(), SizeOf(exact), SizeOf(exact), open);
}

TEST(BgpHeader, IsAMarkerALengthAndAType) {
  const Bytes keepalive = Keepalive();
  const auto header = ReadBgpHeader(keepalive.data(), SizeOf(keepalive));
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->bytes, 19u);
  EXPECT_EQ(header->type, BgpType::kKeepalive);
  EXPECT_FALSE(ReadBgpHeader(keepalive.data(), 18).has_value());
  for (const auto& [at, value] : {std::pair(15, 0xfe), {17, 18}, {17, 20}, {18, 0}, {18, 6}}) {
    Bytes wrong = keepalive;
    wrong[static_cast<size_t>(at)] = static_cast<uint8_t>(value);
    EXPECT_FALSE(ReadBgpHeader(wrong.data(), SizeOf(wrong)).has_value()) << at;
  }
}

TEST(BgpHeader, KnowsHowLongMessagesAreAtLeast) {
  for (const auto& [type, least] : {std::pair(1, 29), {2, 23}, {3, 21}, {5, 23}}) {
    Bytes message = Message(static_cast<uint8_t>(type), Bytes(static_cast<size_t>(least) - 19));
    EXPECT_TRUE(ReadBgpHeader(message.data(), SizeOf(message)).has_value()) << type;
    --message[17];
    EXPECT_FALSE(ReadBgpHeader(message.data(), SizeOf(message)).has_value()) << type;
  }
}

TEST(BgpOpen, SaysWhoSpeaks) {
  BgpOpen open;
  const Bytes message =
      Open(kAsTrans, 9, 0x0a000007, Join({Capability(2, {}), Capability(65, Be32(4200000001))}));
  ASSERT_EQ(ReadOpen(message, &open), BgpVerdict::kRead);
  EXPECT_EQ(open.version, 4);
  EXPECT_EQ(open.as, 4200000001u);
  EXPECT_EQ(open.hold_seconds, 9);
  EXPECT_EQ(open.id, (std::array<uint8_t, 4>{10, 0, 0, 7}));
}

TEST(BgpOpen, OfALongOneSaysWhatItCan) {
  const Bytes message = Open(kAsTrans, 9, 7, Capability(65, Be32(4200000001)));
  BgpOpen open;
  EXPECT_EQ(ReadBgpOpen(message.data(), 29, SizeOf(message), &open), BgpVerdict::kCut);
  EXPECT_EQ(open.as, kAsTrans);
  EXPECT_EQ(ReadBgpOpen(message.data(), 28, SizeOf(message), &open), BgpVerdict::kCut);
  EXPECT_EQ(open.version, 0);
}

TEST(BgpOpen, TakesParametersWithLongLengths) {
  const Bytes capabilities = Capability(65, Be32(70000));
  const Bytes parameter = Join({{2}, Be16(capabilities.size()), capabilities});
  const Bytes message = Message(
      1, Join({{4}, Be16(1), Be16(90), Be32(1), {255, 255}, Be16(parameter.size()), parameter}));
  BgpOpen open;
  ASSERT_EQ(ReadOpen(message, &open), BgpVerdict::kRead);
  EXPECT_EQ(open.as, 70000u);
  Bytes other_length = message;
  other_length[28] = 1;
  ASSERT_EQ(ReadOpen(other_length, &open), BgpVerdict::kRead);
  EXPECT_EQ(open.as, 70000u);
}

TEST(BgpOpen, RefusesLengthsThatDoNotFit) {
  Bytes message = Open(1, 9, 7, Capability(65, Be32(5)));
  BgpOpen open;
  message[28] = 7;  // of all parameters
  EXPECT_EQ(ReadOpen(message, &open), BgpVerdict::kMalformed);
  message[28] = 8;
  message[32] = 5;  // of the capability
  EXPECT_EQ(ReadOpen(message, &open), BgpVerdict::kMalformed);
  EXPECT_EQ(open.hold_seconds, 9);
}

TEST(BgpUpdate, CountsPrefixesOfIpv4) {
  BgpUpdate update;
  const Bytes message = Update(Prefixes({{0x0a000000, 8}}), PathAttributes(),
                               Prefixes({{0x0a010200, 24}, {0, 0}, {0x0a010203, 32}}));
  ASSERT_EQ(ReadUpdate(message, &update), BgpVerdict::kRead);
  EXPECT_EQ(update.withdrawn, 1u);
  EXPECT_EQ(update.announced, 3u);
  EXPECT_FALSE(update.is_end_of_rib);
}

TEST(BgpUpdate, CountsPrefixesOfOtherFamilies) {
  const Bytes hop(16, 1);
  const auto reach = [&](uint16_t address, uint8_t kind, const Bytes& routes) {
    return Update({}, Attribute(14, Join({Be16(address), {kind, 16}, hop, {0}, routes})), {});
  };
  BgpUpdate update;
  ASSERT_EQ(ReadUpdate(reach(2, 1, Join({{32}, Be32(0x20010db8), {0}})), &update),
            BgpVerdict::kRead);
  EXPECT_EQ(update.announced, 2u);
  // Of VPNs: a label, a distinguisher, and 24 bits.
  ASSERT_EQ(ReadUpdate(reach(1, 128, Join({{112}, Bytes(14, 9)})), &update), BgpVerdict::kRead);
  EXPECT_EQ(update.announced, 1u);
  ASSERT_EQ(ReadUpdate(reach(25, 70, Join({{2, 3}, Bytes(3), {3, 1, 0}})), &update),
            BgpVerdict::kRead);
  EXPECT_EQ(update.announced, 2u);
  ASSERT_EQ(ReadUpdate(reach(1, 133, Bytes(5)), &update), BgpVerdict::kRead);
  EXPECT_EQ(update.announced, 0u);
  EXPECT_TRUE(update.has_other_family);
}

TEST(BgpUpdate, ThatSaysNothingEndsTheFirstTelling) {
  BgpUpdate update;
  ASSERT_EQ(ReadUpdate(Update({}, {}, {}), &update), BgpVerdict::kRead);
  EXPECT_TRUE(update.is_end_of_rib);
  ASSERT_EQ(ReadUpdate(Update({}, Attribute(15, {0, 2, 1}), {}), &update), BgpVerdict::kRead);
  EXPECT_TRUE(update.is_end_of_rib);
  ASSERT_EQ(ReadUpdate(Update({}, Attribute(15, {0, 2, 1, 0}), {}), &update), BgpVerdict::kRead);
  EXPECT_FALSE(update.is_end_of_rib);
  EXPECT_EQ(update.withdrawn, 1u);
}

TEST(BgpUpdate, HasNumbersOfPathsIfBothAgreed) {
  const Bytes one = Join({Be32(1), {24, 10, 1, 2}});
  const Bytes message = Update({}, PathAttributes(), Join({one, one}));
  BgpOpen sender;
  BgpOpen receiver;
  ASSERT_EQ(ReadOpen(Open(1, 9, 1, Capability(69, {0, 1, 1, 3})), &sender), BgpVerdict::kRead);
  ASSERT_EQ(ReadOpen(Open(2, 9, 2, Capability(69, {0, 1, 1, 1})), &receiver), BgpVerdict::kRead);
  BgpUpdate update;
  ASSERT_EQ(ReadUpdate(message, &update, AgreedPaths(sender, receiver)), BgpVerdict::kRead);
  EXPECT_EQ(update.announced, 2u);
  EXPECT_EQ(AgreedPaths(receiver, sender).count, 0u);
}

TEST(BgpUpdate, RefusesWhatDoesNotFit) {
  BgpUpdate update;
  const Bytes bodies[] = {
      Join({Be16(5), Be16(0)}),                                // withdrawn, beyond the end
      Join({Be16(0), Be16(9), {0, 0}}),                        // attributes
      Join({Be16(0), Be16(0), {24, 10, 1}}),                   // half a prefix
      Join({Be16(0), Be16(0), {33, 1, 2, 3, 4, 5}}),           // longer than an address
      Join({Be16(0), Be16(4), {0x40, 14, 1, 0}}),              // a family of one byte
      Join({Be16(0), Be16(3), {0x50, 14, 0}}),                 // half a length
      Join({Be16(0), Be16(8), {0x40, 14, 5, 0, 1, 1, 9, 0}}),  // a next hop beyond its attribute
  };
  for (const Bytes& body : bodies) {
    EXPECT_EQ(ReadUpdate(Message(2, body), &update), BgpVerdict::kMalformed);
    EXPECT_EQ(update.announced, 0u);
  }
  const Bytes whole = Update({}, PathAttributes(), Prefixes({{0, 0}}));
  EXPECT_EQ(ReadBgpUpdate(whole.data(), SizeOf(whole) - 1, SizeOf(whole), {}, &update),
            BgpVerdict::kCut);
}

TEST(BgpNotification, IsToldInWords) {
  const std::pair<BgpNotification, const char*> texts[] = {
      {{2, 2}, "OPEN message error: bad peer AS"},
      {{4, 0}, "hold timer expired"},
      {{6, 2}, "cease: administrative shutdown"},
      {{6, 7}, "cease: connection collision resolution"},
      {{6, 99}, "cease, subcode 99"},
      {{2, 5}, "OPEN message error, subcode 5"},
      {{5, 3}, "finite state machine error: unexpected message in Established state"},
      {{0, 1}, "code 0, subcode 1"},
      {{200, 1}, "code 200, subcode 1"},
  };
  for (const auto& [notification, text] : texts) {
    EXPECT_EQ(BgpNotificationText(notification), text);
  }
  BgpNotification read;
  const Bytes message = Notification(6, 2, {4, 'b', 'y', 'e', '!'});
  ASSERT_EQ(ReadBgpNotification(message.data(), SizeOf(message), &read), BgpVerdict::kRead);
  EXPECT_EQ(read.code, 6);
  EXPECT_EQ(read.subcode, 2);
  EXPECT_EQ(ReadBgpNotification(message.data(), 20, &read), BgpVerdict::kCut);
}

}  // namespace
}  // namespace trumpet
