// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/passed_lengths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <utility>

namespace trumpet {
namespace {

struct Packet {
  Trace trace;
  TracePass pass;

  Packet(uint8_t host, uint32_t bytes, std::initializer_list<uint16_t> path, Nanos time) {
    trace.packet.flow.ip_family = 4;
    trace.packet.flow.dst_ip[3] = host;
    trace.packet.wire_bytes = bytes;
    for (const uint16_t at : path) {
      TraceHop hop;
      hop.switch_number = at;
      hop.time = time;
      pass.hops.push_back(hop);
    }
    pass.last_switch = pass.hops.back().switch_number;
  }
  TraceReport report() const { return {1, &trace, &pass, false}; }
  Packet& LostBefore(uint16_t next) {
    pass.fault = TraceFault::kDropped;
    pass.expected_next = {next};
    return *this;
  }
};

uint32_t LongestTo(const PassedLengths& lengths, const TraceReport& report) {
  return lengths.Before(report).to_address;
}

TEST(PassedLengths, KnowsTheLongestOfAllOverTheSameLink) {
  PassedLengths lengths;
  lengths.Add(Packet(1, 900, {1, 2, 3}, 5).report());
  lengths.Add(Packet(2, 1400, {1, 2, 4}, 6).report());
  EXPECT_EQ(lengths.Before(Packet(1, 1500, {1}, 8).LostBefore(2).report()).on_link, 1400u);
  EXPECT_EQ(lengths.Before(Packet(1, 1500, {1, 2}, 8).LostBefore(3).report()).on_link, 900u);
  EXPECT_EQ(lengths.Before(Packet(9, 1500, {1, 2}, 8).LostBefore(4).report()).on_link, 1400u);
  EXPECT_EQ(lengths.Before(Packet(9, 1500, {1, 2}, 8).LostBefore(5).report()).on_link, 0u);
}

TEST(PassedLengths, KnowsTheLongestToTheSameAddressOverTheSameLink) {
  PassedLengths lengths;
  lengths.Add(Packet(1, 900, {1, 2, 3}, 5).report());
  lengths.Add(Packet(1, 400, {1, 2, 3}, 6).report());
  lengths.Add(Packet(2, 1400, {1, 2, 3}, 7).report());
  EXPECT_EQ(LongestTo(lengths, Packet(1, 1500, {1, 2}, 8).LostBefore(3).report()), 900u);
  EXPECT_EQ(LongestTo(lengths, Packet(2, 1500, {1}, 8).LostBefore(2).report()), 1400u);
  EXPECT_EQ(LongestTo(lengths, Packet(3, 1500, {1}, 8).LostBefore(2).report()), 0u);
  EXPECT_EQ(LongestTo(lengths, Packet(1, 1500, {1}, 8).LostBefore(4).report()), 0u);
  EXPECT_EQ(LongestTo(lengths, Packet(1, 1500, {1, 2}, 8).report()), 0u) << "it was not lost";
}

TEST(PassedLengths, TakesNothingFromLoopsAndFromWhatIsToldAgain) {
  PassedLengths lengths;
  Packet looped(1, 900, {1, 2, 1}, 5);
  looped.pass.fault = TraceFault::kLoop;
  lengths.Add(looped.report());
  Packet again(1, 900, {1, 2}, 5);
  again.trace.revision = 1;
  lengths.Add(again.report());
  EXPECT_EQ(LongestTo(lengths, Packet(1, 1500, {1}, 8).LostBefore(2).report()), 0u);
}

// Against all that ever passed.
TEST(PassedLengths, ForgetsWhatIsTwoSpansOldAndNothingElse) {
  std::mt19937_64 random(3);
  PassedLengths lengths;
  std::map<std::tuple<uint8_t, uint16_t, int64_t>, uint32_t> all;  // host, next, span
  Nanos now = 0;
  for (int i = 0; i < 20000; ++i) {
    now += static_cast<Nanos>(random() % (2 * kNanosPerSecond / 100));
    const auto host = static_cast<uint8_t>(1 + random() % 3);
    const auto next = static_cast<uint16_t>(2 + random() % 2);
    const auto bytes = static_cast<uint32_t>(60 + random() % 1400);
    const int64_t span = CellOf(now, PassedLengths::kSpan);
    if (random() % 2 == 0) {
      lengths.Add(Packet(host, bytes, {1, next}, now).report());
      uint32_t& longest = all[{host, next, span}];
      longest = std::max(longest, bytes);
    } else {
      const uint32_t known = std::max(all[{host, next, span}], all[{host, next, span - 1}]);
      ASSERT_EQ(LongestTo(lengths, Packet(host, bytes, {1}, now).LostBefore(next).report()), known)
          << "step " << i;
    }
  }
}

}  // namespace
}  // namespace trumpet
