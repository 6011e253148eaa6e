// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Messages of BGP beside tshark: of random ones it has the same fields, and as many prefixes.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "lib/packet/bgp.h"
#include "lib/packet/bgp_frames.h"
#include "lib/packet/test_captures.h"

namespace trumpet {
namespace {

using namespace bgp_frames;  // NOLINT(google-build-using-namespace): a language for tests
using Values = std::map<std::string, std::string>;

constexpr const char* kFields[] = {
    "bgp.type",          "bgp.length",          "bgp.open.version", "bgp.open.myas",
    "bgp.open.holdtime", "bgp.open.identifier", "bgp.cap.4as",      "bgp.notify.major_error",
    "bgp.prefix_length",
};
constexpr size_t kPrefixLength = 8;

// Routes of IPv6 in an attribute.
Bytes RoutesOfIpv6(std::mt19937_64* random, bool is_withdrawn) {
  Bytes routes;
  for (uint64_t i = (*random)() % 20; i > 0; --i) {
    const auto length = static_cast<uint8_t>(8 + 8 * ((*random)() % 16));
    routes.push_back(length);
    for (int j = 0; j < length / 8; ++j) routes.push_back(static_cast<uint8_t>((*random)() | 1));
  }
  if (is_withdrawn) return Attribute(15, Join({{0, 2, 1}, routes}));
  return Attribute(14, Join({{0, 2, 1, 16, 0x20, 1}, Bytes(13), {1}, {0}, routes}));
}

Bytes RandomUpdate(std::mt19937_64* random) {
  const Bytes withdrawn = RandomPrefixes(random, (*random)() % 10);
  Bytes attributes = PathAttributes();
  for (const bool is_withdrawn : {false, true}) {
    if ((*random)() % 2 == 0) continue;
    attributes = Join({attributes, RoutesOfIpv6(random, is_withdrawn)});
  }
  return Update(withdrawn, attributes, RandomPrefixes(random, (*random)() % 30));
}

Bytes RandomMessage(std::mt19937_64* random) {
  const auto any = [&](uint64_t below) { return (*random)() % below; };
  switch (any(4)) {
    case 0: {
      const Bytes four = any(2) == 0 ? Capability(65, Be32(static_cast<uint32_t>((*random)())))
                                     : Capability(2, {});
      return Open(static_cast<uint16_t>(1 + any(65000)), static_cast<uint16_t>(3 + any(600)),
                  static_cast<uint32_t>(1 + any(0xdfffffff)), four);
    }
    case 1:
      return Notification(static_cast<uint8_t>(1 + any(6)), static_cast<uint8_t>(1 + any(2)));
    case 2:
      return Keepalive();
    default:
      return RandomUpdate(random);
  }
}

Values OursOf(const Bytes& message, size_t* prefixes) {
  Values values;
  const auto size = static_cast<uint32_t>(message.size());
  const auto header = ReadBgpHeader(message.data(), size);
  if (!header) return values;
  values["bgp.type"] = std::to_string(static_cast<int>(header->type));
  values["bgp.length"] = std::to_string(header->bytes);
  BgpOpen open;
  BgpUpdate update;
  BgpNotification notification;
  if (header->type == BgpType::kOpen) {
    EXPECT_EQ(ReadBgpOpen(message.data(), size, size, &open), BgpVerdict::kRead);
    const uint32_t two = static_cast<uint32_t>(message[20]) << 8 | message[21];
    values["bgp.open.version"] = std::to_string(open.version);
    values["bgp.open.myas"] = std::to_string(two);
    values["bgp.open.holdtime"] = std::to_string(open.hold_seconds);
    std::string id;
    for (const uint8_t byte : open.id) id += (id.empty() ? "" : ".") + std::to_string(byte);
    values["bgp.open.identifier"] = id;
    const bool has_four = message[31] == 65;  // its only capability
    if (has_four) values["bgp.cap.4as"] = std::to_string(open.as);
  } else if (header->type == BgpType::kUpdate) {
    EXPECT_EQ(ReadBgpUpdate(message.data(), size, size, {}, &update), BgpVerdict::kRead);
    *prefixes = update.announced + update.withdrawn;
  } else if (header->type == BgpType::kNotification) {
    ReadBgpNotification(message.data(), size, &notification);
    values["bgp.notify.major_error"] = std::to_string(notification.code);
  }
  return values;
}

TEST(BgpBesideTshark, OfRandomMessagesHasTheSameFieldsAndCounts) {
  if (!test_captures::HasTshark()) GTEST_SKIP() << "no tshark";
  std::mt19937_64 random(20261125);
  std::vector<Bytes> messages;
  Bytes file = test_captures::PcapHeader();
  for (uint16_t i = 0; i < 2000; ++i) {
    messages.push_back(RandomMessage(&random));
    test_frames::TcpHeader tcp;
    tcp.src_port = static_cast<uint16_t>(20000 + i);  // each a connection of its own
    tcp.dst_port = kBgpPort;
    const Bytes frame = test_frames::Ethernet(
        0x0800, test_frames::Ipv4({}, test_frames::Tcp(tcp, messages.back())));
    const Bytes record = test_captures::PcapPacket(1, 0, frame);
    file.insert(file.end(), record.begin(), record.end());
  }
  const test_captures::TemporaryFile capture(file);
  const auto theirs = test_captures::TsharkFields(capture.path(), kFields);
  ASSERT_EQ(theirs.size(), messages.size());
  for (size_t i = 0; i < messages.size(); ++i) {
    size_t prefixes = 0;
    const Values ours = OursOf(messages[i], &prefixes);
    Values others;
    for (size_t at = 0; at < std::min(theirs[i].size(), kPrefixLength); ++at) {
      if (!theirs[i][at].empty()) others[kFields[at]] = theirs[i][at];
    }
    EXPECT_EQ(others, ours) << "message " << i << " of seed 20261125";
    const size_t counted = theirs[i].size() <= kPrefixLength
                               ? 0
                               : test_captures::Split(theirs[i][kPrefixLength], ',').size();
    EXPECT_EQ(counted, prefixes) << "message " << i << " of seed 20261125";
  }
}

}  // namespace
}  // namespace trumpet
