// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Messages of BGP (RFC 4271), as they lie one behind the other in a stream of TCP (bgp_stream.h).
//
//   const auto header = ReadBgpHeader(data, captured);
//   BgpOpen open;
//   if (header && header->type == BgpType::kOpen) ReadBgpOpen(data, captured, header->bytes,
//   &open);
//
// Of each message the first `captured` of its `bytes` are there.  Nothing is read beyond them, and
// every loop goes on by a byte at least.
//
// Threads: pure functions.  Cost: no allocation, but for texts; a step for each prefix.

#ifndef TRUMPET_LIB_PACKET_BGP_H
#define TRUMPET_LIB_PACKET_BGP_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace trumpet {

constexpr uint16_t kBgpPort = 179;
constexpr uint32_t kBgpHeaderBytes = 19;
constexpr uint16_t kAsTrans = 23456;  // stands for a number that takes four bytes

enum class BgpType : uint8_t { kOpen = 1, kUpdate, kNotification, kKeepalive, kRouteRefresh };

struct BgpHeader {
  uint32_t bytes = 0;  // of the message, header included: as many as its type has at least
  BgpType type = BgpType::kKeepalive;
};
// nullopt: no message begins so, or not so much of it is there as a header has.
std::optional<BgpHeader> ReadBgpHeader(const uint8_t* data, uint32_t captured);

enum class BgpVerdict : uint8_t {
  kRead,
  kCut,        // not all of it was captured
  kMalformed,  // lengths in it do not fit one another
};

struct BgpFamily {
  uint16_t address = 0;  // AFI; 1: IPv4, 2: IPv6
  uint8_t kind = 0;      // SAFI; 1: unicast
  bool operator==(const BgpFamily& other) const {
    return address == other.address && kind == other.kind;
  }
};

// Those whose prefixes have numbers of paths before them (ADD-PATH, RFC 7911).
struct BgpFamilies {
  static constexpr size_t kMax = 8;
  std::array<BgpFamily, kMax> list;
  size_t count = 0;

  bool Has(BgpFamily family) const;
  void Add(BgpFamily family);  // what is one too many is left out
};

struct BgpOpen {
  uint8_t version = 0;  // 0: not captured
  uint32_t as = 0;      // of four bytes, if the capability says so and was captured
  uint16_t hold_seconds = 0;
  std::array<uint8_t, 4> id{};
  // Of whom it can send several paths, and of whom take them.
  BgpFamilies sends_paths;
  BgpFamilies takes_paths;
};
// Of one that is cut or malformed what comes before that is filled.
BgpVerdict ReadBgpOpen(const uint8_t* data, uint32_t captured, uint32_t bytes, BgpOpen* open);
// What one direction says with numbers of paths, as both have agreed.
BgpFamilies AgreedPaths(const BgpOpen& sender, const BgpOpen& receiver);

struct BgpUpdate {
  uint32_t announced = 0;  // prefixes, of all families that are known here
  uint32_t withdrawn = 0;
  bool has_other_family = false;  // routes of one that is not; they are not counted
  bool is_end_of_rib = false;     // all that there was at the beginning has been told
};
// Filled if the verdict is kRead.
BgpVerdict ReadBgpUpdate(const uint8_t* data, uint32_t captured, uint32_t bytes,
                         const BgpFamilies& paths, BgpUpdate* update);

struct BgpNotification {
  uint8_t code = 0;
  uint8_t subcode = 0;
};
BgpVerdict ReadBgpNotification(const uint8_t* data, uint32_t captured,
                               BgpNotification* notification);

// Codes that verdicts look at.
constexpr uint8_t kBgpHoldTimerExpired = 4;
constexpr uint8_t kBgpCease = 6;
constexpr uint8_t kBgpCollision = 7;  // a subcode of it: the other connection stays

// "OPEN message error: bad peer AS"; "code 9, subcode 1" of what has no name.
std::string BgpNotificationText(const BgpNotification& notification);

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_BGP_H
