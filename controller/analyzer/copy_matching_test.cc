// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/copy_matching.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "controller/analyzer/path_simulation_test.h"

namespace trumpet {
namespace {

constexpr Nanos kWindow = kNanosPerSecond;

SeenCopy Copy(uint64_t identity, uint16_t location, uint8_t ttl, Nanos time) {
  return {identity, 1, time, location, ttl};
}

// "seen/detour" of each packet, in binary, the first location on the right.
std::string Shown(const MatchedPackets& matched) {
  std::string text;
  for (const MatchedPacket& packet : matched.packets) {
    text += text.empty() ? "" : " ";
    text += std::to_string(packet.seen) + "/" + std::to_string(packet.detour);
  }
  return text;
}

std::string Match(const std::vector<SeenCopy>& copies) {
  return Shown(MatchCopies(copies, {0, 1, 3}, kWindow));
}

TEST(MatchCopies, TakesForOnePacketWhoseTtlsDropByTheHops) {
  EXPECT_EQ(Match({Copy(1, 0, 64, 0), Copy(1, 1, 63, 5), Copy(1, 2, 61, 9)}), "7/0");
}

TEST(MatchCopies, KeepsWhatIsMissingMissing) {
  EXPECT_EQ(Match({Copy(1, 0, 64, 0), Copy(1, 2, 61, 9)}), "5/0");
  EXPECT_EQ(Match({Copy(1, 1, 63, 0)}), "2/0");
}

TEST(MatchCopies, SeesAnotherTtlAsADetour) {
  EXPECT_EQ(Match({Copy(1, 0, 64, 0), Copy(1, 1, 63, 5), Copy(1, 2, 59, 9)}), "3/4");
  EXPECT_EQ(Match({Copy(1, 0, 64, 0), Copy(1, 2, 63, 9)}), "1/4");  // a shorter way
  EXPECT_EQ(Match({Copy(1, 0, 64, 0), Copy(1, 0, 60, 9)}), "1/1");  // back again
}

TEST(MatchCopies, SharesCopiesOutAmongPacketsThatAreEqual) {
  EXPECT_EQ(Match({Copy(1, 0, 64, 0), Copy(1, 0, 64, 1), Copy(1, 1, 63, 5), Copy(1, 2, 61, 9),
                   Copy(1, 2, 61, 10)}),
            "7/0 5/0");
}

TEST(MatchCopies, DoesNotJoinWhatIsFarApart) {
  EXPECT_EQ(Match({Copy(1, 0, 64, 0), Copy(1, 2, 61, kWindow)}), "5/0");
  EXPECT_EQ(Match({Copy(1, 0, 64, 0), Copy(1, 2, 61, kWindow + 1)}), "1/0 4/0");
}

TEST(MatchCopies, DoesNotDependOnTheOrderOfArrivalAtEqualTimes) {
  EXPECT_EQ(Match({Copy(1, 2, 61, 9), Copy(1, 1, 63, 5), Copy(1, 0, 64, 10)}), "7/0");
}

// --- A slow twin: no hashes, no cursors; packets are lists of bytes, searched from the first. ---

struct SlowPacket {
  std::vector<uint8_t> bytes;
  int start_ttl;
  Nanos time;
  std::map<size_t, Nanos> times;
  uint64_t detour = 0;
  bool is_gone = false;

  uint64_t Seen() const {
    uint64_t seen = 0;
    for (const auto& [location, time] : times) seen |= uint64_t{1} << location;
    return seen;
  }
};

class SlowMatcher {
 public:
  SlowMatcher(std::vector<SimulatedCopy> copies, const std::vector<uint16_t>& hops) {
    std::stable_sort(copies.begin(), copies.end(),
                     [](const auto& a, const auto& b) { return a.time < b.time; });
    for (const SimulatedCopy& copy : copies) Add(copy, hops);
    for (size_t i = 0; i < packets_.size(); ++i) JoinDetours(i);
  }

  // (time, seen, detour, times), sorted
  using Told = std::tuple<Nanos, uint64_t, uint64_t, std::map<size_t, Nanos>>;
  std::vector<Told> Tell() const {
    std::vector<Told> told;
    for (const SlowPacket& packet : packets_) {
      if (packet.is_gone) continue;
      told.push_back({packet.time, packet.Seen(), packet.detour, packet.times});
    }
    std::sort(told.begin(), told.end());
    return told;
  }

 private:
  void Add(const SimulatedCopy& copy, const std::vector<uint16_t>& hops) {
    const auto invariant =
        ReadInvariant(copy.bytes.data(), static_cast<uint32_t>(copy.bytes.size()), true);
    const int start_ttl = invariant->ttl + hops[copy.location];
    for (SlowPacket& packet : packets_) {
      if (packet.bytes == invariant->bytes && packet.start_ttl == start_ttl &&
          copy.time - packet.time <= kWindow && packet.times.count(copy.location) == 0) {
        packet.times[copy.location] = copy.time;
        return;
      }
    }
    packets_.push_back({invariant->bytes, start_ttl, copy.time, {{copy.location, copy.time}}});
  }

  // At the first packet of its bytes: those with other TTLs go to those with the main one.
  void JoinDetours(size_t first) {
    const std::vector<uint8_t> bytes = packets_[first].bytes;
    for (size_t i = 0; i < first; ++i) {
      if (packets_[i].bytes == bytes) return;
    }
    std::map<int, uint64_t> seen_of_ttl;
    for (const SlowPacket& packet : packets_) {
      if (packet.bytes == bytes) seen_of_ttl[packet.start_ttl] |= packet.Seen();
    }
    int main_ttl = -1;
    int main_location = 1000;
    for (const auto& [ttl, seen] : seen_of_ttl) {
      const int location = __builtin_ctzll(seen);
      if (location > main_location) continue;  // of equal ones the highest TTL
      main_ttl = ttl;
      main_location = location;
    }
    for (const auto& [ttl, seen] : seen_of_ttl) {
      if (ttl != main_ttl) JoinGroup(bytes, ttl, main_ttl);
    }
  }

  void JoinGroup(const std::vector<uint8_t>& bytes, int ttl, int main_ttl) {
    std::vector<bool> has_taken(packets_.size());
    for (SlowPacket& stray : packets_) {
      if (stray.bytes != bytes || stray.start_ttl != ttl) continue;
      for (size_t i = 0; i < packets_.size(); ++i) {
        SlowPacket& main = packets_[i];
        if (main.bytes != bytes || main.start_ttl != main_ttl || has_taken[i]) continue;
        if (std::abs(main.time - stray.time) > kWindow) continue;
        main.detour |= stray.Seen();
        has_taken[i] = stray.is_gone = true;
        break;
      }
    }
  }

  std::vector<SlowPacket> packets_;
};

std::vector<SlowMatcher::Told> Tell(const MatchedPackets& matched) {
  std::vector<SlowMatcher::Told> told;
  for (size_t i = 0; i < matched.packets.size(); ++i) {
    std::map<size_t, Nanos> times;
    for (size_t location = 0; location < matched.location_count; ++location) {
      if (matched.packets[i].IsSeenAt(location)) times[location] = matched.TimeAt(i, location);
    }
    told.push_back(
        {matched.packets[i].time, matched.packets[i].seen, matched.packets[i].detour, times});
  }
  std::sort(told.begin(), told.end());
  return told;
}

SimulatedPath AnyPath(std::mt19937_64* random) {
  SimulatedPath path;
  path.hops = {0};
  const size_t locations = 2 + (*random)() % 4;
  while (path.hops.size() < locations) {
    path.hops.push_back(static_cast<uint16_t>(path.hops.back() + 1 + (*random)() % 3));
  }
  const auto some = [&](double most) { return (*random)() % 2 == 0 ? 0 : most; };
  path.link_loss = some(0.1);
  path.copy_loss = some(0.2);
  path.other_path = some(0.5);
  path.detour = some(0.2);
  path.copy_twice = some(0.1);
  path.jitter = static_cast<Nanos>(1 + (*random)() % 5) * 300 * kNanosPerMicro;
  for (size_t i = 0; i < locations; ++i) {
    path.latency.push_back(static_cast<Nanos>((*random)() % 10) * kNanosPerMilli);
  }
  if ((*random)() % 8 == 0) path.spacing = kNanosPerSecond / 4;  // beyond the window
  return path;
}

SimulatedPacket AnyPacket(PathSimulation* simulation, bool is_unlike, uint16_t number) {
  SimulatedPacket packet;
  packet.is_ipv6 = simulation->Below(3) == 0;
  packet.flow = static_cast<uint16_t>(simulation->Below(5));
  packet.payload = {1, 2, 3};
  if (is_unlike) {
    packet.payload.push_back(static_cast<uint8_t>(number >> 8));
    packet.payload.push_back(static_cast<uint8_t>(number));
  } else {
    packet.ip_id = static_cast<uint16_t>(simulation->Below(3));
  }
  return packet;
}

TEST(MatchCopies, AgreesWithASlowTwinAndWithTheTruth) {
  for (uint64_t seed = 1; seed <= 4000; ++seed) {
    std::mt19937_64 random(seed);
    SimulatedPath path = AnyPath(&random);
    const bool is_unlike = seed % 2 == 0;  // else many packets are equal
    if (is_unlike) path.copy_twice = 0;
    PathSimulation simulation(path, seed);
    for (uint16_t i = 0; i < 40; ++i) simulation.Send(AnyPacket(&simulation, is_unlike, i));
    const MatchedPackets matched = MatchCopies(simulation.Seen(), path.hops, kWindow);
    ASSERT_EQ(Tell(matched), SlowMatcher(simulation.copies, path.hops).Tell()) << "seed " << seed;
    if (!is_unlike) continue;
    std::vector<std::pair<uint64_t, uint64_t>> told;
    for (const MatchedPacket& packet : matched.packets)
      told.push_back({packet.seen, packet.detour});
    std::vector<std::pair<uint64_t, uint64_t>> truth;
    for (const SimulatedTruth& packet : simulation.truth) {
      // Of a packet seen on its detour alone nobody can tell that it is one.
      if (packet.seen != 0) truth.push_back({packet.seen, packet.detour});
      if (packet.seen == 0 && packet.detour != 0) truth.push_back({packet.detour, 0});
    }
    std::sort(told.begin(), told.end());
    std::sort(truth.begin(), truth.end());
    ASSERT_EQ(told, truth) << "seed " << seed;
  }
}

TEST(MatchCopies, TakesTimeInProportionToEqualPackets) {
  std::vector<SeenCopy> copies;
  for (int i = 0; i < 200000; ++i) copies.push_back(Copy(1, 0, 64, i));
  for (int i = 0; i < 200000; ++i) copies.push_back(Copy(1, 1, 63, 200000 + i));
  EXPECT_EQ(MatchCopies(copies, {0, 1, 3}, kWindow).packets.size(), 200000u);
}

}  // namespace
}  // namespace trumpet
