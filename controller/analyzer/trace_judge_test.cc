// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/trace_judge.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <initializer_list>
#include <string>
#include <vector>

#include "controller/analyzer/trace_simulation_test.h"

namespace trumpet {
namespace {

// One way for all: 1 to 2 to 3 to 4; packets come in at tag 1 of switch 1.
class OneWay : public TraceRoutes {
 public:
  std::optional<TraceWay> After(uint16_t switch_number, const Trace&) const override {
    if (switch_number < 1 || switch_number > 4) return std::nullopt;
    return TraceWay(stages_, switch_number - 1u);
  }
  bool IsEdge(const TraceHop& hop, const Trace&) const override {
    return hop.switch_number == 1 && hop.tag == 1;
  }

 private:
  const std::vector<TraceStage> stages_ = {{2}, {3}, {4}};
};

TraceHop Hop(uint16_t switch_number, Nanos micros, uint8_t ttl, uint32_t tag = 2) {
  TraceHop hop;
  hop.switch_number = switch_number;
  hop.time = micros * kNanosPerMicro;
  hop.ttl = ttl;
  hop.tag = switch_number == 1 ? 1 : tag;
  return hop;
}

std::vector<TracePass> Passes(std::initializer_list<TraceHop> hops) {
  Trace trace;
  trace.hops = hops;
  std::vector<TracePass> passes(2);  // of another trace
  passes[0].hops.resize(3);
  passes[0].duplicates = 7;
  passes[0].is_off_route = true;
  JudgeTrace(trace, OneWay(), {}, {}, &passes);
  return passes;
}

TracePass Only(std::initializer_list<TraceHop> hops) {
  const std::vector<TracePass> passes = Passes(hops);
  EXPECT_EQ(passes.size(), 1u);
  return passes.at(0);
}

TEST(TraceJudge, SeesNothingWrongWithAWholeTraceInWhateverOrderItsCopiesCame) {
  const TracePass pass = Only({Hop(3, 1, 62), Hop(1, 2, 64), Hop(4, 3, 61), Hop(2, 4, 63)});
  EXPECT_EQ(pass.fault, TraceFault::kNone);
  EXPECT_EQ(pass.last_switch, 4);
  EXPECT_EQ(pass.hops.front().switch_number, 1);
  EXPECT_TRUE(pass.lost_copies.empty());
  EXPECT_FALSE(pass.is_off_route);
  EXPECT_FALSE(pass.is_start_missing);
}

// With rules of the third switch that change at `micros`.
TracePass WithAChange(std::initializer_list<TraceHop> hops, Nanos micros) {
  RuleChanges changes;
  changes.Set({3}, micros * kNanosPerMicro);
  changes.Set({}, micros * kNanosPerMicro + 1);
  Trace trace;
  trace.hops = hops;
  std::vector<TracePass> passes;
  JudgeTrace(trace, OneWay(), {nullptr, nullptr, &changes}, {}, &passes);
  EXPECT_EQ(passes.size(), 1u);
  return passes.at(0);
}

TEST(TraceJudge, CallsNothingLostOfWhichTheRulesChanged) {
  const Nanos far = 100'000'000;
  const TracePass dropped = WithAChange({Hop(1, far, 64), Hop(2, far + 1, 63)}, far);
  EXPECT_EQ(dropped.fault, TraceFault::kNotKnown);
  EXPECT_TRUE(dropped.has_changed_rules);
  EXPECT_TRUE(dropped.expected_next.empty());
  const TracePass middle =
      WithAChange({Hop(1, far, 64), Hop(2, far + 1, 63), Hop(4, far + 3, 61)}, far);
  EXPECT_EQ(middle.fault, TraceFault::kNone);
  EXPECT_TRUE(middle.has_changed_rules);
  EXPECT_TRUE(middle.lost_copies.empty());
  // It was dropped before there, where nothing changed, but nobody can know.
  EXPECT_EQ(WithAChange({Hop(1, far, 64)}, far).fault, TraceFault::kNotKnown);
  // Behind the switch whose rules changed.
  const TracePass behind =
      WithAChange({Hop(1, far, 64), Hop(2, far + 1, 63), Hop(3, far + 2, 62)}, far);
  EXPECT_EQ(behind.fault, TraceFault::kCopiesLost);
  EXPECT_FALSE(behind.has_changed_rules);
  // Long before and behind.
  for (const Nanos change : {far - 5'000'000, far + 5'000'000}) {
    const TracePass other = WithAChange({Hop(1, far, 64), Hop(2, far + 1, 63)}, change);
    EXPECT_EQ(other.fault, TraceFault::kDropped) << change;
    EXPECT_FALSE(other.has_changed_rules);
  }
}

TEST(TraceJudge, DoesTheSameWhereNoSwitchTouchesTheTtl) {
  const TracePass pass = Only({Hop(3, 1, 64), Hop(1, 2, 64), Hop(4, 3, 64), Hop(2, 4, 64)});
  EXPECT_EQ(pass.fault, TraceFault::kNone);
  EXPECT_EQ(pass.last_switch, 4);
}

TEST(TraceJudge, SaysBehindWhichSwitchAPacketWasDropped) {
  const TracePass pass = Only({Hop(1, 0, 64), Hop(2, 1, 63)});
  EXPECT_EQ(pass.fault, TraceFault::kDropped);
  EXPECT_EQ(pass.last_switch, 2);
  EXPECT_EQ(pass.expected_next, TraceStage{3});
  EXPECT_NEAR(pass.drop_probability, 0.001 / (0.001 + 0.999 * 0.0001), 1e-9);
}

TEST(TraceJudge, TakesOneMissingCopyForALostCopyIfNothingElseIsKnown) {
  const TracePass pass = Only({Hop(1, 0, 64), Hop(2, 1, 63), Hop(3, 2, 62)});
  EXPECT_EQ(pass.fault, TraceFault::kCopiesLost);
  EXPECT_LT(pass.drop_probability, 0.1);
}

TEST(TraceJudge, KnowsFromTheNumbersOfTheNextSwitch) {
  for (const bool is_copy_lost : {false, true}) {
    CopySequences sequences;
    for (uint32_t i = 0; i < 1000; ++i) {
      if (is_copy_lost && i == 500) continue;
      sequences.Take(4, i, i * 100 * kNanosPerMicro);
    }
    Trace trace;
    trace.hops = {Hop(1, 49850, 64), Hop(2, 49900, 63), Hop(3, 49950, 62)};
    std::vector<TracePass> passes;
    JudgeTrace(trace, OneWay(), {&sequences}, {}, &passes);
    const TracePass& pass = passes.at(0);
    EXPECT_EQ(pass.fault, is_copy_lost ? TraceFault::kCopiesLost : TraceFault::kDropped);
    EXPECT_EQ(pass.drop_probability > 0.99, !is_copy_lost);
  }
}

TEST(TraceJudge, TakesCopiesThatAreMissingInTheMiddleForLost) {
  const TracePass pass = Only({Hop(1, 0, 64), Hop(4, 3, 61)});
  EXPECT_EQ(pass.fault, TraceFault::kNone);
  EXPECT_EQ(pass.lost_copies, (std::vector<TraceStage>{{2}, {3}}));
}

TEST(TraceJudge, TellsThatTheStartIsMissing) {
  EXPECT_TRUE(Only({Hop(2, 0, 63), Hop(3, 1, 62), Hop(4, 2, 61)}).is_start_missing);
}

TEST(TraceJudge, TellsRetransmissionsFromDuplicates) {
  const std::vector<TracePass> resent =
      Passes({Hop(1, 0, 64), Hop(2, 10, 63), Hop(1, 200000, 64), Hop(2, 200010, 63),
              Hop(3, 200020, 62), Hop(4, 200030, 61)});
  ASSERT_EQ(resent.size(), 2u);
  EXPECT_EQ(resent[0].fault, TraceFault::kDropped);
  EXPECT_EQ(resent[1].fault, TraceFault::kNone);

  TraceHop numbered = Hop(2, 10, 63);
  numbered.has_sequence = true;
  TraceHop again = numbered;
  again.time += kNanosPerSecond;
  const TracePass copied_twice =
      Only({Hop(1, 0, 64), Hop(1, 1, 64), numbered, again, Hop(3, 20, 62), Hop(4, 30, 61)});
  EXPECT_EQ(copied_twice.fault, TraceFault::kNone);
  EXPECT_EQ(copied_twice.duplicates, 2u);
}

TEST(TraceJudge, FindsLoopsWithAndWithoutFallingTtl) {
  const TracePass routed = Only({Hop(1, 0, 64), Hop(2, 1, 63), Hop(3, 2, 62), Hop(2, 3, 61, 7),
                                 Hop(3, 4, 60), Hop(2, 5, 59, 7)});
  EXPECT_EQ(routed.fault, TraceFault::kLoop);
  EXPECT_EQ(routed.loop, (std::vector<uint16_t>{3, 2}));
  EXPECT_EQ(routed.loop_kind, TraceLoop::kRouted);
  const TracePass bridged = Only({Hop(1, 0, 64), Hop(2, 1, 64), Hop(3, 2, 64), Hop(2, 3, 64, 7),
                                  Hop(3, 4, 64), Hop(2, 5, 64, 7)});
  EXPECT_EQ(bridged.fault, TraceFault::kLoop);
  EXPECT_EQ(bridged.loop, (std::vector<uint16_t>{3, 2}));
  EXPECT_EQ(bridged.loop_kind, TraceLoop::kBridged);
}

// A topology knows at which switch packets come in, and not at which port.
class OneWayFromSwitch final : public OneWay {
 public:
  bool IsEdge(const TraceHop& hop, const Trace&) const override { return hop.switch_number == 1; }
};

TEST(TraceJudge, FindsLoopsThroughTheSwitchWherePacketsComeIn) {
  for (const Nanos round : {Nanos{30}, Nanos{3000}}) {  // us
    Trace trace;
    for (Nanos i = 0; i < 5; ++i) {
      for (uint16_t at = 1; at <= 3; ++at) {
        trace.hops.push_back(Hop(at, i * round + at, 64));
        if (at == 1 && i > 0) trace.hops.back().tag = 7;
      }
    }
    std::vector<TracePass> passes;
    JudgeTrace(trace, OneWayFromSwitch(), {}, {}, &passes);
    ASSERT_EQ(passes.size(), 1u) << round;
    EXPECT_EQ(passes[0].fault, TraceFault::kLoop);
    EXPECT_EQ(passes[0].loop, (std::vector<uint16_t>{2, 3, 1}));
    EXPECT_EQ(passes[0].loop_kind, TraceLoop::kBridged);
  }
}

TEST(TraceJudge, TellsLoopsOfAnOverlayFromThoseOfTheNetwork) {
  const auto in_tunnel = [](TraceHop hop, uint8_t outer_ttl) {
    hop.is_encapsulated = true;
    hop.outer_ttl = outer_ttl;
    return hop;
  };
  const auto plain = [](TraceHop hop) {
    hop.outer_ttl = hop.ttl;
    return hop;
  };
  // A load balancer, behind 3, sends it in a tunnel to a host behind 2, which sends it back.
  EXPECT_EQ(Only({plain(Hop(2, 0, 64)), plain(Hop(3, 1, 64)), in_tunnel(Hop(3, 2, 64, 9), 64),
                  in_tunnel(Hop(2, 3, 64, 8), 64), plain(Hop(2, 4, 64)), plain(Hop(3, 5, 64)),
                  in_tunnel(Hop(3, 6, 64, 9), 64), in_tunnel(Hop(2, 7, 64, 8), 64)})
                .loop_kind,
            TraceLoop::kOverlay);
  // Out of one tunnel into the next.
  EXPECT_EQ(Only({in_tunnel(Hop(2, 0, 64), 64), in_tunnel(Hop(3, 1, 64), 63),
                  in_tunnel(Hop(2, 2, 63), 64), in_tunnel(Hop(3, 3, 63), 63)})
                .loop_kind,
            TraceLoop::kOverlay);
  // The network sends the tunnel round.
  EXPECT_EQ(Only({in_tunnel(Hop(2, 0, 64), 64), in_tunnel(Hop(3, 1, 64), 63),
                  in_tunnel(Hop(2, 2, 64), 62), in_tunnel(Hop(3, 3, 64), 61)})
                .loop_kind,
            TraceLoop::kRouted);
}

TEST(TraceJudge, DoesNotTakeAMiddleboxOrCopiesMadeTwiceForALoop) {
  // Back from a middlebox at another port.
  EXPECT_EQ(
      Only({Hop(1, 0, 64), Hop(2, 1, 63), Hop(2, 2, 63, 9), Hop(3, 3, 62), Hop(4, 4, 61)}).fault,
      TraceFault::kNone);
  const TracePass twice = Only({Hop(1, 0, 64), Hop(2, 10, 63), Hop(2, 11, 63), Hop(3, 20, 62),
                                Hop(3, 21, 62), Hop(4, 30, 61)});
  EXPECT_EQ(twice.fault, TraceFault::kNone);
  EXPECT_EQ(twice.duplicates, 2u);
}

// Of a sender of equal datagrams without IP IDs.
TEST(TraceJudge, DoesNotTakeEqualPacketsThatFollowEachOtherForALoop) {
  const auto packet = [](Nanos micros, std::vector<TraceHop>* hops) {
    for (uint16_t one = 1; one <= 4; ++one) {
      const auto ttl = static_cast<uint8_t>(65 - one);
      hops->push_back(Hop(one, micros + 70 * one, ttl));
    }
  };
  for (const int count : {2, 3, 12}) {
    Trace trace;
    for (int i = 0; i < count; ++i) packet(i * 150, &trace.hops);
    std::vector<TracePass> passes;
    JudgeTrace(trace, OneWay(), {}, {}, &passes);
    size_t copies = 0;
    for (const TracePass& pass : passes) {
      EXPECT_EQ(pass.fault, TraceFault::kNone) << count;
      EXPECT_FALSE(pass.is_off_route);
      copies += pass.hops.size() + pass.duplicates;
    }
    EXPECT_EQ(copies, trace.hops.size());
    EXPECT_EQ(passes.size(), count == 12 ? 2u : 1u);
    // One more round of one of them is a loop, and so is one with a lower TTL.
    for (const uint8_t lower : {0, 2}) {
      Trace loop = trace;
      const Nanos last = loop.hops.back().time / kNanosPerMicro;
      loop.hops.push_back(Hop(2, last + 10, static_cast<uint8_t>(63 - lower)));
      loop.hops.push_back(Hop(3, last + 20, static_cast<uint8_t>(62 - lower)));
      JudgeTrace(loop, OneWay(), {}, {}, &passes);
      EXPECT_EQ(passes.back().fault, TraceFault::kLoop) << count << " " << int{lower};
    }
  }
}

TEST(TraceJudge, SaysThatAPacketLeftItsRoute) {
  const TracePass pass = Only({Hop(1, 0, 64), Hop(2, 1, 63), Hop(9, 2, 62), Hop(4, 3, 61)});
  EXPECT_TRUE(pass.is_off_route);
  EXPECT_EQ(pass.fault, TraceFault::kNone);
  EXPECT_EQ(Only({Hop(8, 0, 64)}).fault, TraceFault::kNotKnown);
}

// What the judge said of all passes of a simulated network, beside the truth.
struct Score {
  size_t passes = 0;
  size_t drops = 0;
  size_t drops_found = 0;  // behind the switch where it was
  size_t false_drops = 0;
  size_t loops = 0;
  size_t loops_found = 0;
  size_t false_loops = 0;
  size_t copies = 0;
  size_t wrong_splits = 0;

  void operator+=(const Score& other) {  // of drops
    passes += other.passes;
    drops += other.drops;
    drops_found += other.drops_found;
    false_drops += other.false_drops;
  }
};

// What is known of copies that did not come.
enum class Known { kNothing, kNumbers, kNumbersAndHopTimes, kCounts };

Score Try(const TraceWorld& world, uint64_t seed, Known known) {
  const TraceSimulation simulation(world, seed);
  Score score;
  CopySequences sequences;
  SentCounts counts;
  const std::vector<SentReading> readings = simulation.Readings(seed);
  auto reading = readings.begin();
  const auto tell = [&](Nanos now) {
    for (; reading != readings.end() && reading->told_at <= now; ++reading) {
      counts.Tell(reading->switch_number, reading->sent, reading->asked_at, reading->told_at);
    }
    counts.Advance(now);
  };
  std::vector<Trace> traces;
  TraceTable table({}, [&](const Trace& trace) { traces.push_back(trace); });
  for (const TraceCopy& copy : simulation.copies()) {
    tell(copy.hop.time);
    sequences.Take(copy.hop.switch_number, copy.hop.sequence, copy.hop.time);
    counts.Take(copy.hop.switch_number, copy.hop.time);
    table.Take(copy);
  }
  for (Nanos now = simulation.copies().back().hop.time; reading != readings.end();) {
    tell(now += 100 * kNanosPerMilli);
  }
  counts.Advance(INT64_MAX);
  table.Finish();
  JudgeOptions options;
  options.hop_time = 4 * world.hop_delay;
  std::vector<TracePass> judged;
  std::vector<Uint128> others;
  HopTimes hop_times;
  CopyLosses losses;
  if (known == Known::kNumbersAndHopTimes) losses.hop_times = &hop_times;
  if (known == Known::kCounts) losses.counts = &counts;
  if (known == Known::kNumbers || known == Known::kNumbersAndHopTimes)
    losses.sequences = &sequences;
  const auto judge = [&](const Trace& trace) {
    JudgeTrace(trace, simulation, losses, options, &judged);
    for (TracePass& pass : judged) {
      ClaimMissing(trace.key, &sequences, &pass, &others);
      NoteHops(pass, &hop_times);
    }
  };
  for (const Trace& trace : traces) judge(trace);  // those of `others` would be told again now
  for (const Trace& trace : traces) {
    const std::vector<PassTruth>& all = simulation.truth().at(static_cast<uint64_t>(trace.key));
    std::vector<PassTruth> truth;  // of passes that left a trace
    for (const PassTruth& pass : all) {
      if (pass.copies > 0) truth.push_back(pass);
    }
    judge(trace);
    score.copies += trace.hops.size();
    score.passes += truth.size();
    if (judged.size() != truth.size()) {
      ++score.wrong_splits;
      continue;
    }
    for (size_t i = 0; i < truth.size(); ++i) {
      const bool is_drop = judged[i].fault == TraceFault::kDropped;
      const bool is_loop = judged[i].fault == TraceFault::kLoop;
      score.loops += truth[i].is_looped;
      score.loops_found += truth[i].is_looped && is_loop;
      score.false_loops += !truth[i].is_looped && is_loop;
      if (!truth[i].dropped_behind) {
        score.false_drops += is_drop && !truth[i].is_looped;
        continue;
      }
      const uint16_t last = simulation.PathOf(trace.flow)[*truth[i].dropped_behind];
      ++score.drops;
      score.drops_found += is_drop && judged[i].last_switch == last;
    }
  }
  EXPECT_EQ(score.copies, simulation.copies().size());
  return score;
}

TEST(TraceJudge, OfACleanNetworkSaysNothing) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    TraceWorld world;
    world.resend = 0.1;
    world.copy_twice = 0.05;
    world.decrements_ttl = seed % 2 == 0;
    world.knows_equal_paths = seed % 3 != 0;
    const Score score = Try(world, seed, seed % 5 == 0 ? Known::kNumbers : Known::kNothing);
    EXPECT_EQ(score.false_drops + score.false_loops + score.wrong_splits, 0u) << "seed " << seed;
    EXPECT_GT(score.passes, 2000u);
  }
}

TEST(TraceJudge, FindsAllLoopsAndNoOthers) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    TraceWorld world;
    world.loop = 0.02;
    world.copy_loss = 0.01;
    world.packet_loss = 0.001;
    world.copy_twice = 0.01;
    world.decrements_ttl = seed % 2 == 0;
    const Score score = Try(world, seed, Known::kNumbers);
    EXPECT_GT(score.loops, 10u);
    EXPECT_EQ(score.loops_found, score.loops) << "seed " << seed;
    EXPECT_EQ(score.false_loops, 0u) << "seed " << seed;
  }
}

TEST(TraceJudge, TellsDropsFromLostCopies) {
  for (const bool has_sequences : {true, false}) {
    Score sum;
    for (uint64_t seed = 0; seed < 10; ++seed) {
      TraceWorld world;
      world.packets = 4000;
      world.packet_loss = 0.001;  // of each link
      world.copy_loss = 0.01;
      world.knows_equal_paths = seed % 2 == 0;
      sum += Try(world, seed, has_sequences ? Known::kNumbers : Known::kNothing);
    }
    EXPECT_LT(sum.false_drops, sum.passes / 1000);
    EXPECT_GT(sum.drops, 80u);
    EXPECT_GE(sum.drops_found * 100, sum.drops * (has_sequences ? 99 : 55))
        << sum.drops_found << " of " << sum.drops;
  }
}

// A packet waits for a switch that stalls, with others before it, far longer than a hop takes.
TEST(TraceJudge, DoesNotTakeCopiesOfBusySwitchesForDrops) {
  Score sums[2];
  for (const bool knows_hops : {false, true}) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
      TraceWorld world;
      world.packets = 10000;
      world.packet_loss = 0.0005;
      world.copy_loss = 0.01;
      world.spacing = 250 * kNanosPerMicro;
      world.hop_delay = 200 * kNanosPerMicro;
      world.stall_length = 4 * kNanosPerMilli;
      world.stall_period = 15 * kNanosPerMilli;
      sums[knows_hops] +=
          Try(world, seed, knows_hops ? Known::kNumbersAndHopTimes : Known::kNumbers);
    }
  }
  EXPECT_LT(sums[true].false_drops * 4, sums[false].false_drops);
  EXPECT_LT(sums[true].false_drops, sums[true].passes / 2000);
  EXPECT_GE(sums[true].drops_found * 100, sums[true].drops * 99);
}

// Where switches do not number their copies: with what they have counted, and without.
struct CountedWorld {
  const char* name;
  TraceWorld world;
  double found;         // of the packets that are lost, at least
  double found_before;  // without counts, at most
};

std::vector<CountedWorld> CountedWorlds() {
  TraceWorld bursts;  // 40 ms of packets, and a pause
  bursts.packets = 4000;
  bursts.packet_loss = 0.001;
  bursts.burst = 400;
  bursts.pause = 1500 * kNanosPerMilli;
  TraceWorld one_switch = bursts;
  one_switch.lossy_switch = 52;
  one_switch.copy_loss = 0.1;
  TraceWorld at_times = bursts;
  at_times.copy_loss = 0.05;
  at_times.loss_period = 8 * kNanosPerSecond;
  at_times.loss_length = 1600 * kNanosPerMilli;
  TraceWorld everywhere = bursts;
  everywhere.copy_loss = 0.01;
  TraceWorld steady;  // five minutes without a pause
  steady.packets = 6000;
  steady.packet_loss = 0.001;
  steady.spacing = 50 * kNanosPerMilli;
  return {{"no copy is lost", bursts, 0.95, 0.7},
          {"one switch loses copies", one_switch, 0.8, 0.7},
          {"copies are lost at times", at_times, 0.75, 0.7},
          {"1 % of copies are lost everywhere", everywhere, 0.6, 0.7},
          {"no copy is lost of many that come all the time", steady, 0.5, 0.7}};
}

TEST(TraceJudge, TellsDropsFromLostCopiesByWhatSwitchesHaveCounted) {
  for (const CountedWorld& one : CountedWorlds()) {
    Score sums[2];
    for (const bool has_counts : {false, true}) {
      for (uint64_t seed = 0; seed < 6; ++seed) {
        TraceWorld world = one.world;
        world.knows_equal_paths = seed % 2 == 0;
        sums[has_counts] += Try(world, seed, has_counts ? Known::kCounts : Known::kNothing);
      }
    }
    const Score& before = sums[false];
    const Score& after = sums[true];
    const auto told = [](const Score& score) {
      return std::to_string(score.drops_found) + " of " + std::to_string(score.drops) + " found, " +
             std::to_string(score.false_drops) + " of " + std::to_string(score.passes) + " false";
    };
    std::printf("%s: %s; with counts %s\n", one.name, told(before).c_str(), told(after).c_str());
    EXPECT_LE(after.false_drops, after.passes / 1000) << one.name;
    const auto drops = static_cast<double>(after.drops);
    EXPECT_GE(static_cast<double>(after.drops_found), drops * one.found) << one.name;
    EXPECT_LE(static_cast<double>(before.drops_found), drops * one.found_before) << one.name;
    EXPECT_GE(after.drops_found, before.drops_found) << one.name;
  }
}

}  // namespace
}  // namespace trumpet
