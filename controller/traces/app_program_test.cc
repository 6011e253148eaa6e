// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/app_program.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "controller/traces/program_kit_test.h"
#include "controller/traces/trace_apps.h"

namespace trumpet {
namespace {

using Json = nlohmann::json;
using trace_network::kBegin;
using trace_network::Network;

class AppProgram : public ProgramTest {
 protected:
  AppProgram() : ProgramTest(RunAppProgram) {}

  // 3,000 packets of 30 flows, one each millisecond, from leaf1 over a spine to leaf2; those of
  // which `is_lost` says so end at the spine.
  template <typename IsLost>
  void Make(IsLost is_lost) {
    Network network;
    for (uint32_t i = 0; i < 3000; ++i) {
      const auto flow = static_cast<uint16_t>(i % 30);
      const auto spine = static_cast<uint16_t>(flow % 2 == 0 ? 2 : 3);
      const Nanos time = kBegin + i * kNanosPerMilli;
      const bool is_sound = i < 30 || i >= 2970 || !is_lost(flow, spine);
      const uint16_t flags = i < 30 ? kTcpSyn : kTcpAck;
      is_sound ? network.Cross({1, spine, 4}, time, flow, i, flags)
               : network.Cross({1, spine}, time, flow, i, flags);
    }
    Analyze(network);
  }

  Json Drop() {
    const std::vector<Json> findings = Run({"drops", store_});
    EXPECT_EQ(findings.size(), 1u);
    return findings.empty() ? Json() : findings[0];
  }
};

TEST_F(AppProgram, FindsNothingInASoundNetwork) {
  Make([](uint16_t, uint16_t) { return false; });
  EXPECT_TRUE(Run({"drops", store_}).empty());
  EXPECT_TRUE(Run({"loops", store_}).empty());
}

TEST_F(AppProgram, TellsABlackholeOfOneFlow) {
  Make([](uint16_t flow, uint16_t) { return flow == 6; });
  const Json drop = Drop();
  EXPECT_EQ(drop["verdict"], "one_flow");
  EXPECT_EQ(drop["behind"], "spine1");
  EXPECT_EQ(drop["expected_next"], Json({"leaf2"}));
  EXPECT_EQ(drop["packets"], 98);
  EXPECT_EQ(drop["flows"], 1);
  EXPECT_EQ(drop["dst"], "10.0.2.2/32");
}

TEST_F(AppProgram, TellsAMemberThatPassesHardlyAnything) {
  Make([](uint16_t, uint16_t spine) { return spine == 3; });
  const Json drop = Drop();
  EXPECT_EQ(drop["verdict"], "most");
  EXPECT_EQ(drop["behind"], "spine2");
  EXPECT_EQ(drop["packets"], 15 * 98);
  EXPECT_EQ(drop["passed"], 30);
}

TEST_F(AppProgram, TellsWhatIsLostToOnePrefixAmongOthers) {
  Make([](uint16_t flow, uint16_t spine) { return spine == 3 && flow % 4 == 1; });
  EXPECT_EQ(Drop()["verdict"], "prefix");
}

TEST_F(AppProgram, TellsLossByChance) {
  std::mt19937_64 random(7);
  uint64_t lost = 0;
  Make([&](uint16_t, uint16_t spine) {
    const bool is_lost = spine == 2 && random() % 50 == 0;
    lost += is_lost ? 1 : 0;
    return is_lost;
  });
  const Json drop = Drop();
  EXPECT_EQ(drop["verdict"], "random");
  EXPECT_EQ(drop["packets"], lost);
  EXPECT_EQ(drop["passed"], 1500 - lost);
}

// One packet each millisecond from leaf1, over a spine, to one of 40 hosts; `crosses` says which
// switches have it.
template <typename Crosses>
Network Traffic(const std::vector<uint32_t>& lengths, Crosses crosses) {
  Network network;
  for (uint32_t i = 0; i < lengths.size(); ++i) {
    test_frames::Ipv4Header ip;
    ip.src = 0x0a000101;
    ip.dst = 0x0a000200 + i % 40;
    ip.protocol = kProtocolUdp;
    const auto payload =
        test_frames::Join({test_frames::Be32(i), test_frames::Bytes(lengths[i], uint8_t{'x'})});
    const auto packet = test_frames::Ethernet(
        0x0800, test_frames::Ipv4(
                    ip, test_frames::Udp(static_cast<uint16_t>(1000 + i % 80), 9000, payload)));
    Nanos time = kBegin + i * kNanosPerMilli;
    for (const uint16_t at : crosses(i)) {
      network.Copy(at, time, packet);
      time += 10 * kNanosPerMicro;
    }
  }
  return network;
}

using Switches = std::vector<uint16_t>;

TEST_F(AppProgram, TellsThatOnlyLongPacketsAreLost) {
  std::mt19937_64 random(11);
  std::vector<uint32_t> lengths;
  for (int i = 0; i < 2000; ++i) {
    lengths.push_back(static_cast<uint32_t>(random() % 5 == 0 ? 1000 + random() % 400 : 20));
  }
  Analyze(Traffic(lengths, [&](uint32_t i) {
    return i >= 1000 && lengths[i] >= 1200 ? Switches{1, 2} : Switches{1, 2, 4};
  }));
  // For ten seconds, and at most twenty, it is known that longer ones have passed.
  EXPECT_EQ(Drop()["verdict"], "random");

  std::filesystem::remove_all(folder_ + "/store");
  Analyze(Traffic(lengths, [&](uint32_t i) {
    return lengths[i] >= 1200 ? Switches{1, 2} : Switches{1, 2, 4};
  }));
  const Json drop = Drop();
  EXPECT_EQ(drop["verdict"], "long") << drop;
  EXPECT_GE(drop["shortest_bytes"], 1200);
  EXPECT_LT(drop["longest_passed_bytes"], 1200 + 46);
  EXPECT_EQ(Run({"drops", store_})[0]["example"].get<std::string>().size(), 16u);
}

TEST_F(AppProgram, BlamesNoLengthForLossByChanceNorForABlackhole) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<uint32_t> lengths;
    for (int i = 0; i < 2000; ++i) lengths.push_back(static_cast<uint32_t>(20 + random() % 1380));
    std::filesystem::remove_all(folder_ + "/store");
    Analyze(Traffic(lengths, [&](uint32_t) {
      return random() % 100 == 0 ? Switches{1, 2} : Switches{1, 2, 4};
    }));
    EXPECT_EQ(Drop()["verdict"], "random") << "seed " << seed;
    // All that goes to four hosts, and it is long.
    std::filesystem::remove_all(folder_ + "/store");
    for (size_t i = 0; i < lengths.size(); ++i) lengths[i] = i % 10 == 0 ? 1400 : 20;
    Analyze(Traffic(lengths, [&](uint32_t i) {
      return i % 10 == 0 ? Switches{1, 2} : Switches{1, 2, 4};
    }));
    EXPECT_EQ(Drop()["verdict"], "prefix") << "seed " << seed;
  }
}

// Of half of the hosts; before it, only short packets passed.
TEST_F(AppProgram, BlamesNoLengthThatOthersHaveWhilePacketsAreLost) {
  std::vector<uint32_t> lengths(1000, 20);
  lengths.resize(2000, 1000);
  Analyze(Traffic(lengths, [](uint32_t i) {
    return i >= 1000 && i % 40 < 20 ? Switches{1, 2} : Switches{1, 2, 4};
  }));
  EXPECT_EQ(Drop()["verdict"], "prefix");
}

TEST_F(AppProgram, NamesTheMemberToWhichNothingComes) {
  const std::vector<uint32_t> lengths(1000, 100);
  Analyze(Traffic(lengths, [](uint32_t i) {
    return i % 2 == 0 ? Switches{1} : Switches{1, 3, 4};
  }));
  const Json drop = Drop();
  EXPECT_EQ(drop["verdict"], "member") << drop;
  EXPECT_EQ(drop["behind"], "leaf1");
  EXPECT_EQ(drop["member"], "spine1");
  EXPECT_EQ(drop["passed_to"], (Json{{"spine1", 0}, {"spine2", 500}}));
}

TEST_F(AppProgram, NamesTheSwitchesOfALoop) {
  Network network;
  for (uint32_t i = 0; i < 5; ++i) {
    network.Cross({1, 2, 1, 2, 1, 2}, kBegin + i * kNanosPerMilli, static_cast<uint16_t>(i), i);
  }
  Analyze(network);
  const std::vector<Json> loops = Run({"loops", store_});
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0]["switches"], Json({"leaf1", "spine1"}));
  EXPECT_EQ(loops[0]["kind"], "routed");
  EXPECT_EQ(loops[0]["explanation"],
            "5 packets of 5 flows to 10.0.2.2/32 went round leaf1 spine1, with a TTL that falls");
  EXPECT_TRUE(Run({"loops", store_, "--from=" + std::to_string(kBegin + kNanosPerSecond)}).empty());
}

TEST_F(AppProgram, TellsAnEvenSpreadFromABiasedOne) {
  for (const bool is_biased : {false, true}) {
    std::filesystem::remove_all(folder_ + "/store");
    Network network;
    for (uint32_t i = 0; i < 400; ++i) {
      const auto spine = static_cast<uint16_t>(i % (is_biased ? 4 : 2) == 0 ? 2 : 3);
      network.Cross({1, spine, 4}, kBegin + i * kNanosPerMilli, static_cast<uint16_t>(i), i,
                    kTcpSyn);
    }
    Analyze(network);
    const Json found = Run({"ecmp", store_, "--at=leaf1", "--members=spine1,spine2"}).at(0);
    EXPECT_EQ(found["verdict"], is_biased ? "biased" : "even");
    EXPECT_EQ(found["members"][0]["connections"], is_biased ? 100 : 200);
  }
  const Json few = Run({"ecmp", store_, "--at=spine1", "--members=leaf1,spine2"}).at(0);
  EXPECT_EQ(few["verdict"], "few");
}

// Against values of tables.
TEST(ChiSquareTail, IsThatOfTheTables) {
  EXPECT_NEAR(ChiSquareTail(3.841, 1), 0.05, 1e-4);
  EXPECT_NEAR(ChiSquareTail(10.828, 1), 0.001, 1e-5);
  EXPECT_NEAR(ChiSquareTail(5.991, 2), 0.05, 1e-4);
  EXPECT_NEAR(ChiSquareTail(7.815, 3), 0.05, 1e-4);
  EXPECT_NEAR(ChiSquareTail(18.307, 10), 0.05, 1e-4);
  EXPECT_NEAR(ChiSquareTail(124.342, 100), 0.05, 1e-4);
  EXPECT_EQ(ChiSquareTail(0, 3), 1);
}

TEST_F(AppProgram, SaysInOneLineWhatIsWrong) {
  Make([](uint16_t, uint16_t) { return false; });
  const struct {
    std::vector<std::string> words;
    std::string error;
  } cases[] = {
      {{}, "one of drops, loops, ecmp, latency, roce and sessions must be given"},
      {{"drops", "loops"}, "one of drops, loops, ecmp, latency, roce and sessions must be given"},
      {{"drops"}, "--store=DIRECTORY is missing"},
      {{"ecmp", store_, "--at=leaf1"}, "ecmp needs at=SWITCH and members=SWITCH,SWITCH,..."},
      {{"ecmp", store_, "--at=leaf9"}, "--at: there is no switch 'leaf9'"},
      {{"ecmp", store_, "--at=leaf1", "--members=spine1,spine1"},
       "--members: spine1 is named twice"},
      {{"ecmp", store_, "--at=leaf1", "--members=spine1,"}, "--members: there is no switch ''"},
      {{"drops", store_, "--at=leaf1"}, "at and members are of ecmp"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(Error(one.words), "trumpet-analyzer: " + one.error + "\n");
  }
}

}  // namespace
}  // namespace trumpet
