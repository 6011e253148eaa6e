// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Searches in networks whose fault is known, against a judge that looks at every value there is.

#include "controller/probe/drop_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "controller/probe/drop_findings.h"
#include "controller/probe/drop_simulation_test.h"
#include "lib/base/random_runs_test.h"
#include "lib/lang/probe/probe_language.h"

namespace trumpet {
namespace {

using testing::LossyNetwork;

DropSuspicion Suspect(const std::string& fields) {
  const auto packet = ParseProbePacket("dstMAC=02:00:00:00:00:02 " + fields, "t");
  EXPECT_TRUE(packet.ok()) << packet.message();
  DropSuspicion suspicion;
  suspicion.packet = *packet;
  return suspicion;
}

// Any flow of two /24.
DropSuspicion AnySuspect(std::mt19937_64* random) {
  const auto any = [random](uint32_t least, uint32_t most) {
    return std::to_string(least + (*random)() % (most - least + 1));
  };
  const std::string protocol = (*random)() % 3 == 0 ? "tcp" : "udp";
  DropSuspicion suspicion =
      Suspect(protocol + " srcIP=10.0.1." + any(1, 254) + " dstIP=10.0.2." + any(1, 254) +
              " srcPort=" + any(1, 65535) + " dstPort=" + any(1, 65535) +
              " bytes=" + any(80, 1514) + " ttl=" + any(8, 255) + " dscp=" + any(0, 31));
  suspicion.src_within = *ParsePrefix("10.0.1.0/24");
  suspicion.dst_within = *ParsePrefix("10.0.2.0/24");
  suspicion.debug_dscp = 32;
  suspicion.seed = (*random)();
  return suspicion;
}

struct Searched {
  DropEvidence evidence;
  DropFindings found;
  size_t packets = 0;
  size_t rounds = 0;

  const DropFieldFinding& Of(DropField field) const {
    for (const DropFieldFinding& one : found.fields) {
      if (one.field == field) return one;
    }
    static const DropFieldFinding kNone;
    return kNone;
  }
};

Searched SearchIn(LossyNetwork* network, const DropSuspicion& suspicion) {
  DropSearch search(suspicion);
  size_t packets = 0;
  for (auto round = search.NextRound(); !round.empty(); round = search.NextRound()) {
    EXPECT_LE(round.size(), DropSearch::kMaxRoundPackets);
    packets += round.size();
    for (const size_t kind : round) {
      search.Take(network->Send(kind, search.evidence().kinds()[kind].packet));
    }
  }
  EXPECT_LE(search.rounds(), DropSearch::kMaxRounds);
  return {search.evidence(), ConcludeDrops(search.evidence()), packets, search.rounds()};
}

// ---- The slow judge ----

// Which values of a field vanish, of all there are.  Distances as drop_kinds.h has them.
struct Truth {
  std::vector<bool> down;  // by distance, from 1 on
  std::vector<bool> up;

  // How far all vanish; and whether none does behind the first that passes.
  static size_t Near(const std::vector<bool>& side) {
    return static_cast<size_t>(std::find(side.begin(), side.end(), false) - side.begin());
  }
  static bool IsInOrder(const std::vector<bool>& side) {
    const auto pass = std::find(side.begin(), side.end(), false);
    return std::find(pass, side.end(), true) == side.end();
  }
  DropRole Role() const {
    const auto all = static_cast<size_t>(std::count(down.begin(), down.end(), true) +
                                         std::count(up.begin(), up.end(), true));
    if (all == down.size() + up.size()) return DropRole::kNoMatter;
    if (all == 0) return DropRole::kOneValue;
    return IsInOrder(down) && IsInOrder(up) ? DropRole::kRange : DropRole::kScattered;
  }
};

Truth TruthOf(const LossyNetwork& network, const DropSuspicion& suspicion, DropField field) {
  Truth truth;
  ProbePacket packet = suspicion.packet;
  const auto numbers = [&](auto* of, uint32_t least, uint32_t most) {
    const uint32_t own = *of;
    const auto look = [&](uint32_t value, std::vector<bool>* side) {
      *of = static_cast<std::decay_t<decltype(*of)>>(value);
      side->push_back(network.vanishes(packet, network.SpineOf(packet), 0));
    };
    for (uint32_t value = own; value > least; --value) look(value - 1, &truth.down);
    for (uint32_t value = own + 1; value <= most; ++value) look(value, &truth.up);
  };
  switch (field) {
    case DropField::kSrcPort:
      numbers(&packet.src_port, 1, 65535);
      break;
    case DropField::kDstPort:
      numbers(&packet.dst_port, 1, 65535);
      break;
    case DropField::kBytes:
      numbers(&packet.bytes, packet.protocol == kProtocolTcp ? 74 : 62, 1514);
      break;
    case DropField::kTtl:
      numbers(&packet.ttl, packet.ttl, 255);
      break;
    case DropField::kSrc:
    case DropField::kDst:
      for (int bit = 0; bit < 8; ++bit) {
        ProbePacket other = packet;
        (field == DropField::kSrc ? other.src : other.dst).value ^= Uint128{1} << bit;
        truth.up.push_back(network.vanishes(other, network.SpineOf(other), 0));
      }
      break;
    default:
      break;
  }
  return truth;
}

// What the search says of a field in order is what a look at all of its values says.
void CompareWithTruth(const LossyNetwork& network, const Searched& searched, DropField field,
                      const std::string& which) {
  const DropSuspicion& suspicion = searched.evidence.suspicion();
  const Truth truth = TruthOf(network, suspicion, field);
  if (truth.down.empty() && truth.up.empty()) return;
  const DropFieldRole role = searched.evidence.RoleOf(field);
  const std::string what = which + ", " + DropFieldName(field) + ": " + searched.found.explanation;
  DropRole expected = truth.Role();
  // With an open end no single value can be told from "so much and more".
  const bool is_one_sided = field == DropField::kTtl || truth.down.empty() || truth.up.empty();
  if (expected == DropRole::kOneValue && is_one_sided && role.role == DropRole::kRange) {
    expected = DropRole::kRange;
  }
  ASSERT_EQ(static_cast<int>(role.role), static_cast<int>(expected)) << what;
  if (expected != DropRole::kRange) return;
  for (const DropSide side : {DropSide::kDown, DropSide::kUp}) {
    const auto& values = side == DropSide::kDown ? truth.down : truth.up;
    const DropEdge& edge = role.edges[static_cast<size_t>(side)];
    const size_t near = Truth::Near(values);
    EXPECT_LE(edge.near, near) << what;
    if (edge.far != 0) {
      EXPECT_GT(edge.far, near) << what;
      // Next to each other, but where no address of a host is in between.
      const bool is_found = edge.far <= edge.near + (field == DropField::kDst ? 2 : 1);
      EXPECT_TRUE(is_found) << what << " " << edge.near << " " << edge.far;
    } else if (!values.empty()) {
      EXPECT_EQ(near, values.size()) << what;
    }
  }
}

void CompareAllWithTruth(const LossyNetwork& network, const Searched& searched,
                         const std::string& which) {
  for (const DropField field : {DropField::kSrcPort, DropField::kDstPort, DropField::kSrc,
                                DropField::kDst, DropField::kBytes, DropField::kTtl}) {
    CompareWithTruth(network, searched, field, which);
  }
}

// ---- Faults that take all packets that fit ----

using Fits = std::function<bool(const ProbePacket&)>;

struct Rule {
  std::string verdict;
  Fits fits;
};

bool IsOf(const FieldValue& address, const Prefix& prefix) {
  return FirstOf(prefix) <= address.value && address.value <= LastOf(prefix);
}

Rule AnyRule(const ProbePacket& flow, std::mt19937_64* random) {
  const uint64_t roll = (*random)() % 8;
  if (roll == 0) {
    return {"flow", [flow](const ProbePacket& packet) {
              return packet.src.value == flow.src.value && packet.dst.value == flow.dst.value &&
                     packet.protocol == flow.protocol && packet.src_port == flow.src_port &&
                     packet.dst_port == flow.dst_port;
            }};
  }
  if (roll == 1) {
    Prefix prefix{false, flow.dst.value, static_cast<uint8_t>(25 + (*random)() % 7)};
    prefix.address = FirstOf(prefix);
    return {"pattern", [prefix](const ProbePacket& packet) { return IsOf(packet.dst, prefix); }};
  }
  if (roll == 2) {
    const auto most = static_cast<uint16_t>(80 + (*random)() % (flow.bytes - 78));
    const auto limit = std::min<uint16_t>(most, static_cast<uint16_t>(flow.bytes - 1));
    return {"pattern", [limit](const ProbePacket& packet) { return packet.bytes > limit; }};
  }
  if (roll == 3) {
    return {"pattern", [flow](const ProbePacket& packet) {
              return packet.protocol != kProtocolIcmp && packet.dst_port == flow.dst_port;
            }};
  }
  if (roll == 4) {
    const auto low = static_cast<uint16_t>(
        flow.dst_port - std::min<uint64_t>(flow.dst_port - 1u, (*random)() % 3000));
    const auto high = static_cast<uint16_t>(
        flow.dst_port + std::min<uint64_t>(65535u - flow.dst_port, 1 + (*random)() % 3000));
    return {"pattern", [low, high](const ProbePacket& packet) {
              return packet.protocol != kProtocolIcmp && low <= packet.dst_port &&
                     packet.dst_port <= high;
            }};
  }
  if (roll == 5) {
    const uint8_t limit = flow.ttl;
    return {"pattern", [limit](const ProbePacket& packet) { return packet.ttl <= limit; }};
  }
  if (roll == 6) {
    return {"pattern",
            [flow](const ProbePacket& packet) { return packet.protocol == flow.protocol; }};
  }
  return {"everything", [](const ProbePacket&) { return true; }};
}

TEST(DropSearch, FindsWhichPacketsARuleTakesAsALookAtAllOfThemDoes) {
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(600); ++seed) {
    LossyNetwork network(seed);
    const DropSuspicion suspicion = AnySuspect(&network.random());
    network.spines = 1 + static_cast<uint32_t>(network.random()() % 4);
    network.is_behind_spine = network.random()() % 2 == 0;
    const Rule rule = AnyRule(suspicion.packet, &network.random());
    network.vanishes = [&rule](const ProbePacket& packet, uint32_t, uint64_t) {
      return rule.fits(packet);
    };
    const Searched searched = SearchIn(&network, suspicion);
    const std::string which = "seed " + std::to_string(seed);
    // A range of ports that has the least or the highest one, or ttl 255, may be all there is.
    const bool is_all = rule.verdict == "pattern" && searched.found.verdict == "everything";
    EXPECT_EQ(is_all ? rule.verdict : searched.found.verdict, rule.verdict)
        << which << ": " << searched.found.explanation;
    EXPECT_EQ(searched.found.persistence, "persistent") << which;
    EXPECT_EQ(searched.found.lost, searched.found.known) << which;
    CompareAllWithTruth(network, searched, which);
    if (HasFailure()) return;
  }
}

// As above, where copies are lost: what passed and seems lost must not spoil it.
TEST(DropSearch, FindsItWhereCopiesAreLostAsWell) {
  size_t right = 0;
  const uint64_t runs = testing::LastSeed(1000);
  for (uint64_t seed = testing::FirstSeed(); seed <= runs; ++seed) {
    LossyNetwork network(seed);
    const DropSuspicion suspicion = AnySuspect(&network.random());
    network.spines = 3;
    network.copy_loss = 0.01;
    const Rule rule = AnyRule(suspicion.packet, &network.random());
    network.vanishes = [&rule](const ProbePacket& packet, uint32_t, uint64_t) {
      return rule.fits(packet);
    };
    const Searched searched = SearchIn(&network, suspicion);
    right += searched.found.verdict == rule.verdict ? 1 : 0;
  }
  EXPECT_GE(right * 1000, (runs - testing::FirstSeed() + 1) * 990);
}

TEST(DropSearch, RaisesNoAlarmWhereNothingIsWrong) {
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(2000); ++seed) {
    LossyNetwork network(seed);
    DropSuspicion suspicion = AnySuspect(&network.random());
    suspicion.was_dropped = seed % 5 == 0;
    network.spines = 1 + static_cast<uint32_t>(seed % 4);
    network.copy_loss = seed % 2 == 0 ? 0.01 : 0;
    // Somebody else's packets vanish.
    network.vanishes = [&](const ProbePacket& packet, uint32_t, uint64_t) {
      return packet.dst_port == suspicion.packet.dst_port + 1;
    };
    const Searched searched = SearchIn(&network, suspicion);
    EXPECT_EQ(searched.found.verdict, suspicion.was_dropped ? "gone" : "nothing")
        << "seed " << seed << ": " << searched.found.explanation;
    EXPECT_EQ(searched.found.persistence, suspicion.was_dropped ? "transient" : "none");
    EXPECT_LE(searched.packets, 240u) << "it is not looked for much longer";
  }
}

TEST(DropSearch, TellsTheBadOneOfEqualWaysFromEverythingElse) {
  size_t runs = 0;
  std::map<std::string, size_t> verdicts;
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(1500); ++seed) {
    LossyNetwork network(seed);
    const DropSuspicion suspicion = AnySuspect(&network.random());
    network.spines = 2 + static_cast<uint32_t>(network.random()() % 11);
    network.is_behind_spine = network.random()() % 2 == 0;
    network.copy_loss = network.random()() % 2 == 0 ? 0.01 : 0;
    const uint32_t bad = network.SpineOf(suspicion.packet);
    network.vanishes = [bad](const ProbePacket&, uint32_t spine, uint64_t) { return spine == bad; };
    const Searched searched = SearchIn(&network, suspicion);
    ++runs;
    ++verdicts[searched.found.verdict];
    if (searched.found.verdict != "path") continue;
    EXPECT_NE(searched.found.explanation.find(LossyNetwork::NameOf(bad)), std::string::npos)
        << "seed " << seed << ": " << searched.found.explanation;
    const Truth truth = TruthOf(network, suspicion, DropField::kSrcPort);
    EXPECT_EQ(truth.Role(), DropRole::kScattered);
  }
  // By chance nothing that was tried may have taken the way of the flow.
  EXPECT_GE(verdicts["path"] * 100, runs * 99);
}

TEST(DropSearch, TellsLossByChanceWithARangeThatHasIt) {
  size_t runs = 0;
  size_t held = 0;
  std::map<std::string, size_t> verdicts;
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(1000); ++seed) {
    LossyNetwork network(seed);
    const DropSuspicion suspicion = AnySuspect(&network.random());
    network.spines = 1 + static_cast<uint32_t>(seed % 3);
    network.is_behind_spine = seed % 2 == 0;
    const double rate = 0.15 + 0.75 * static_cast<double>(network.random()() % 1000) / 1000;
    network.vanishes = [&](const ProbePacket&, uint32_t, uint64_t) {
      return network.IsChance(rate);
    };
    const Searched searched = SearchIn(&network, suspicion);
    ++runs;
    ++verdicts[searched.found.verdict];
    if (searched.found.verdict != "random") continue;
    const RateRange range = searched.found.rate;
    held += range.low <= rate && rate <= range.high ? 1 : 0;
    EXPECT_LT(range.high - range.low, 0.25) << "seed " << seed;
    EXPECT_EQ(searched.found.persistence, "persistent");
  }
  EXPECT_GE(verdicts["random"] * 100, runs * 97) << "at least 15 % are not overlooked";
  EXPECT_EQ(verdicts["random"] + verdicts["nothing"] + verdicts["bursts"], runs);
  EXPECT_LE(verdicts["bursts"] * 200, runs);
  EXPECT_GE(held * 100, verdicts["random"] * 94);
}

TEST(DropSearch, SaysWhichFieldLosesFewerIfLossIsOfOneWay) {
  size_t runs = 0;
  size_t right = 0;
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(200); ++seed) {
    LossyNetwork network(seed);
    const DropSuspicion suspicion = AnySuspect(&network.random());
    network.spines = 4;
    const uint32_t bad = network.SpineOf(suspicion.packet);
    network.vanishes = [&network, bad](const ProbePacket&, uint32_t spine, uint64_t) {
      return spine == bad && network.IsChance(0.5);
    };
    const Searched searched = SearchIn(&network, suspicion);
    ++runs;
    right += searched.found.verdict == "random" &&
                     searched.Of(DropField::kSrcPort).role == "fewer" &&
                     searched.Of(DropField::kBytes).role == "no_matter"
                 ? 1
                 : 0;
  }
  EXPECT_GE(right * 100, runs * 90);
}

TEST(DropSearch, WhatEndsOrComesAndGoesIsNoPattern) {
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(300); ++seed) {
    LossyNetwork network(seed);
    const DropSuspicion suspicion = AnySuspect(&network.random());
    const bool comes_again = seed % 2 == 0;
    const uint64_t ends = comes_again ? 20 + seed % 15 : 40 + seed % 60;
    network.vanishes = [=](const ProbePacket&, uint32_t, uint64_t at) {
      return comes_again ? at / ends % 2 == 0 : at < ends;
    };
    const Searched searched = SearchIn(&network, suspicion);
    const std::string& verdict = searched.found.verdict;
    EXPECT_TRUE(verdict == "gone" || verdict == "bursts")
        << "seed " << seed << ": " << verdict << " " << searched.found.explanation;
    EXPECT_EQ(searched.found.persistence, "transient") << "seed " << seed;
    if (HasFailure()) return;
  }
}

// ---- Words ----

std::string Explained(LossyNetwork* network, const DropSuspicion& suspicion) {
  const DropFindings found = SearchIn(network, suspicion).found;
  return found.verdict + ": " + found.explanation;
}

TEST(DropSearch, SaysItInASentence) {
  DropSuspicion suspicion =
      Suspect("udp srcIP=10.0.1.7 dstIP=10.0.2.7 srcPort=5000 dstPort=443 bytes=1400 ttl=255");
  LossyNetwork network(1);
  EXPECT_EQ(Explained(&network, suspicion),
            "nothing: none of 40 packets vanished; if they do by chance, then less than 8.8 % of "
            "them");
  network.vanishes = [](const ProbePacket& packet, uint32_t, uint64_t) {
    return packet.protocol != kProtocolIcmp && packet.dst_port == 443;
  };
  EXPECT_EQ(
      Explained(&network, suspicion),
      "pattern: packets with dstPort 443 vanish between leaf1 and spine1 (48 of 48 of this "
      "flow); those with another value pass; srcPort, Protocol, bytes and dscp do not matter");
  network.vanishes = [](const ProbePacket& packet, uint32_t, uint64_t) {
    return packet.bytes > 1000;
  };
  EXPECT_EQ(Explained(&network, suspicion).substr(0, 60),
            "pattern: packets with bytes of 1001 and more vanish between ");
  suspicion.dst_within = *ParsePrefix("10.0.2.0/24");
  network.vanishes = [](const ProbePacket& packet, uint32_t, uint64_t) {
    return packet.dst.value <= 0x0a00020f;
  };
  EXPECT_EQ(Explained(&network, suspicion).substr(0, 51),
            "pattern: packets with dstIP 10.0.2.0/28 vanish betw");
  network.is_behind_spine = true;
  network.vanishes = [](const ProbePacket&, uint32_t, uint64_t) { return true; };
  EXPECT_EQ(
      Explained(&network, suspicion),
      "everything: all 48 packets vanish between spine1 and leaf2, and so does whatever was "
      "tried instead, with another srcPort, dstPort, dstIP, Protocol, bytes and dscp: nothing "
      "passes");
}

TEST(DropSearch, FlagsOfTcpMayDecide) {
  DropSuspicion suspicion = Suspect(
      "tcp srcIP=10.0.1.7 dstIP=10.0.2.7 srcPort=5000 dstPort=443 tcpFlags=+syn bytes=100 ttl=255");
  LossyNetwork network(1);
  network.vanishes = [](const ProbePacket& packet, uint32_t, uint64_t) {
    return packet.protocol == kProtocolTcp && packet.tcp_flags == kTcpSyn;
  };
  const Searched syn = SearchIn(&network, suspicion);
  EXPECT_EQ(syn.found.verdict, "pattern");
  EXPECT_EQ(static_cast<int>(syn.evidence.RoleOf(DropField::kTcpFlags).role),
            static_cast<int>(DropRole::kOneValue));
  EXPECT_EQ(syn.found.explanation.rfind("packets with Protocol TCP and tcpFlags +syn vanish", 0),
            0u)
      << syn.found.explanation;
  network.vanishes = [](const ProbePacket& packet, uint32_t, uint64_t) {
    return packet.protocol == kProtocolTcp;
  };
  const Searched all = SearchIn(&network, suspicion);
  EXPECT_EQ(static_cast<int>(all.evidence.RoleOf(DropField::kTcpFlags).role),
            static_cast<int>(DropRole::kNoMatter));
  EXPECT_EQ(static_cast<int>(all.evidence.RoleOf(DropField::kProtocol).role),
            static_cast<int>(DropRole::kOneValue));
}

TEST(DropSearch, PacketsWithoutPortsSayNothingOfTheProtocolWhereAPortIsDropped) {
  DropSuspicion suspicion =
      Suspect("udp srcIP=10.0.1.7 dstIP=10.0.2.7 srcPort=5000 dstPort=443 bytes=100 ttl=255");
  LossyNetwork network(1);
  network.vanishes = [](const ProbePacket& packet, uint32_t, uint64_t) {
    return packet.protocol != kProtocolIcmp && packet.dst_port == 443;
  };
  const Searched searched = SearchIn(&network, suspicion);
  const DropFieldRole role = searched.evidence.RoleOf(DropField::kProtocol);
  EXPECT_EQ(static_cast<int>(role.role), static_cast<int>(DropRole::kNoMatter));
  EXPECT_EQ(role.tally.sent, 3u) << "of TCP alone";
}

TEST(DropSearch, WithoutTracesNothingIsKnownAndNoMoreIsSent) {
  DropSearch search(Suspect("udp srcIP=10.0.1.7 dstIP=10.0.2.7"));
  for (const size_t kind : search.NextRound()) {
    DropOutcome outcome;
    outcome.kind = kind;
    search.Take(outcome);
  }
  EXPECT_TRUE(search.NextRound().empty());
  const DropFindings found = ConcludeDrops(search.evidence());
  EXPECT_EQ(found.verdict, "not_known");
  EXPECT_EQ(found.explanation.substr(0, 54),
            "what became of 40 of 40 packets is not known: there is");
}

TEST(DropSearch, ALoopIsALoop) {
  DropSearch search(Suspect("udp srcIP=10.0.1.7 dstIP=10.0.2.7"));
  for (const size_t kind : search.NextRound()) {
    DropOutcome outcome;
    outcome.kind = kind;
    outcome.fate = ProbeFate::kLooped;
    search.Take(outcome);
  }
  EXPECT_TRUE(search.NextRound().empty());
  EXPECT_EQ(ConcludeDrops(search.evidence()).verdict, "loop");
}

}  // namespace
}  // namespace trumpet
