// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the certificate of a program counts, by texts that differ in one thing; and which programs a
// switch takes.

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/text_file.h"
#include "lib/lang/mafia/mafia_language.h"
#include "lib/measure/program_loader.h"

namespace trumpet {
namespace {

std::unique_ptr<const CompiledProgram> Load(const std::string& text,
                                            const MeasureLoadOptions& options = {}) {
  const auto source = CompileMafia(text, "x.mafia");
  EXPECT_TRUE(source.ok()) << (source.ok() ? "" : source.message());
  auto program = LoadMeasureProgram(*source, options);
  EXPECT_TRUE(program.ok()) << (program.ok() ? "" : program.message());
  if (!program.ok()) return std::make_unique<const CompiledProgram>();
  return std::move(*program);
}

CostCertificate CostOf(const std::string& text) { return Load(text)->cost; }
uint64_t OperatorsOf(const std::string& text) { return CostOf(text).operators; }
uint64_t LinesOf(const std::string& text) { return CostOf(text).cache_lines; }

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

const char* const kRows =
    "k = Key(ipv4.src) s = Sketch(alg=\"count-min\", key=k, nhash=16, size=256, width=64)"
    "c = Counter(width=64) d = Counter(width=64) ";

TEST(CostCertificate, CountsAnExpressionForEachCellThatIsSet) {
  const std::string sum = Repeated("* 3 + pkt.size ", 20);
  const uint64_t one = OperatorsOf(kRows + ("pkts >> c.set(c " + sum) + ")");
  EXPECT_GE(one, 40u);
  EXPECT_GE(OperatorsOf(kRows + ("pkts >> s.set(s " + sum) + ")"), 16 * (one - 25));
  EXPECT_GE(OperatorsOf(kRows + ("pkts >> s.add(pkt.size " + sum) + ")"), 16 * (one - 25));
}

TEST(CostCertificate, CountsTheCellsThatAreReadOrWrittenTogether) {
  const std::string four =
      "k = Key(ipv4.src) s = Sketch(alg=\"count-min\", key=k, nhash=4, size=256, width=64)"
      "c = Counter(width=64) d = Counter(width=64) ";
  for (const char* const step : {"c.set(s.min() + 1)", "match(s.avg() == 7)", "s.add(1)"}) {
    const std::string task = std::string("pkts >> ") + step + " ";
    const auto once_more = [&](const std::string& sketch) {
      const std::string once = sketch + task;
      return OperatorsOf(once + task) - OperatorsOf(once);
    };
    EXPECT_EQ(once_more(kRows), once_more(four) + 12 / 2) << step;
  }
}

TEST(CostCertificate, CountsADivisionAsSeveralOperators) {
  const std::string begin = "c = Counter(width=64) pkts >> c.set(pkt.size ";
  const uint64_t sums = OperatorsOf(begin + Repeated("+ ipv4.src ", 50) + ")");
  EXPECT_GE(OperatorsOf(begin + Repeated("/ ipv4.src ", 50) + ")"), sums + 50 * 5);
  EXPECT_GE(OperatorsOf(begin + Repeated("% ipv4.src ", 50) + ")"), sums + 50 * 5);
}

TEST(CostCertificate, CountsLockedAdditionsToCellsOfAllThreads) {
  const std::string text =
      "c = Counter(width=64) d = Counter() pkts >> match(c > 5) >> d.add(1) pkts >> c.add(1)";
  MeasureLoadOptions several;
  several.thread_count = 2;
  EXPECT_GE(Load(text, several)->cost.operators, OperatorsOf(text) + 10);
  const std::string reset =
      "c = Counter(width=64) d = Counter() pkts >> match(c > 5) >> d.add(1) pkts >> c.reset()";
  EXPECT_EQ(Load(reset, several)->cost.operators, OperatorsOf(reset));
}

// A key that tags change is put together before each use, with the slots of all its variables.
TEST(CostCertificate, CountsAllVariablesOfAKeyThatTagsChange) {
  std::string text = "k = Key(ipv4.tos) ";
  for (int i = 0; i < 10; ++i) {
    text += "s" + std::to_string(i) +
            " = Sketch(alg=\"count-min\", key=k, nhash=16, size=" + std::to_string(5000 + i) + ") ";
  }
  text += "pkts >> tag(ipv4.tos, 1) ";
  const std::string use = "pkts >> s0.add(1) ";
  EXPECT_GE(OperatorsOf(text + use + use), OperatorsOf(text + use) + 160);
}

TEST(CostCertificate, CountsTheFieldsOfAKey) {
  const std::string map = ") m = HashMap(key=k, size=64, type=Counter()) pkts >> m.add(1)";
  EXPECT_GE(OperatorsOf("k = Key(ipv4.tos" + Repeated(", ipv4.ttl", 40) + map),
            OperatorsOf("k = Key(ipv4.tos" + map) + 20);
}

// Writes of branches are taken back and done again by every fork around them.
TEST(CostCertificate, CountsWritesOfBranchesByTheForksAroundThem) {
  std::string fork = "(s.add(1) ++ d.set(s.min()))";
  std::vector<uint64_t> costs;
  for (int depth = 0; depth < 4; ++depth) {
    costs.push_back(OperatorsOf(kRows + ("pkts >> " + fork)));
    fork.insert(0, "(").append(" ++ c.set(d))");
  }
  for (size_t i = 1; i < costs.size(); ++i) EXPECT_GE(costs[i], costs[i - 1] + 2 * 16);
}

TEST(CostCertificate, CountsTheGuardsOfHeaders) {
  const auto text = [](int sums) {
    return "header h when pkt.size " + Repeated("^ ipv4.src ", sums) +
           " > 0 at 0 { f: 8; } pkts >> match(h.f > 1)";
  };
  EXPECT_GE(OperatorsOf(text(100)), OperatorsOf(text(1)) + 99);
}

TEST(CostCertificate, CountsTheLinesOfAVariableOnceForAPacket) {
  EXPECT_EQ(LinesOf(kRows + std::string("pkts >> s.add(1)")), 16u);
  EXPECT_EQ(LinesOf(kRows + std::string("pkts >> s.add(1) >> match(s.min() > 2) >> s.reset()")),
            16u);
  EXPECT_EQ(LinesOf(kRows + std::string("pkts >> s.set(s + 1) >> duplicate(t); t >> s.add(1)")),
            32u);
  // Of a small one no more than it has.
  EXPECT_EQ(LinesOf("k = Key(ipv4.src) s = Sketch(alg=\"count-min\", key=k, nhash=16, size=2, "
                    "width=32) pkts >> s.add(1)"),
            3u);
  EXPECT_EQ(LinesOf("k = Key(ipv4.src) b = BloomFilter(alg=\"membership\", key=k, nhash=1, "
                    "size=64) c = Counter() pkts >> c.set(b)"),
            1u + 2);
  // But not where tags change its key.
  EXPECT_EQ(LinesOf("k = Key(ipv4.tos) m = HashMap(key=k, size=4096, type=Counter()) "
                    "pkts >> m.add(1) >> tag(ipv4.tos, 1) >> m.add(1)"),
            2u);
}

// -- Windows --

const char* const kMap = "k = Key(ipv4.id) m = HashMap(key=k, size=4096, type=Counter()) ";
const std::string kWindow = "window(1ms, quantum=160) ";

TEST(CostCertificate, CountsTheLinesAndWordsThatAWindowClears) {
  const std::string add = "pkts >> m.add(1) ";
  const CostCertificate without = CostOf(kMap + add);
  const CostCertificate with = CostOf(kMap + kWindow + add);
  EXPECT_EQ(with.cache_lines - without.cache_lines, 11u);  // 640 bytes, wherever they begin
  EXPECT_EQ(with.operators - without.operators, 1u + 1 + 640 / 32 + 1);
}

// Maps of one key lie side by side, so that cells of one of them do not lie in a row.
TEST(CostCertificate, CountsEachCellOfMapsThatLieSideBySide) {
  std::string maps = "k = Key(ipv4.id) ";
  std::string adds;
  for (int i = 0; i < 8; ++i) {
    const std::string name = "m" + std::to_string(i);
    maps += name + " = HashMap(key=k, size=4096, type=Counter(width=64)) ";
    adds += "pkts >> " + name + ".add(1) ";
  }
  const CostCertificate without = CostOf(maps + adds);
  const CostCertificate with = CostOf(maps + kWindow + adds);
  EXPECT_EQ(with.cache_lines - without.cache_lines, 160u);
  EXPECT_GE(with.operators - without.operators, 160u);
}

TEST(CostCertificate, CountsTheOwnersThatAWindowClears) {
  const std::string map =
      "k = Key(ipv4.id) m = HashMap(key=k, size=4096, type=Counter(), collide=\"evict\") ";
  EXPECT_EQ(LinesOf(map + kWindow + "pkts >> m.add(1)"), 2 + 11u + 21);
}

TEST(CostCertificate, CountsNoMoreThanThereIsToClear) {
  const std::string large = "window(1ms, quantum=67108864) pkts >> m.add(1)";
  EXPECT_EQ(LinesOf(kMap + large), 1 + 4096u * 4 / 64 + 1);
  // The end of one and the beginning of another.
  EXPECT_EQ(LinesOf("k = Key(ipv4.id) n = Key(ipv4.ttl) m = HashMap(key=k, size=100, "
                    "type=Counter()) o = HashMap(key=n, size=1000, type=Counter()) "
                    "window(1ms, quantum=64) pkts >> m.add(1) >> o.add(1)"),
            2 + 4u + 3);
}

// A copy that finds the window of its task clearing clears, too; that of a scope clears once.
TEST(CostCertificate, CountsTheWindowOfATaskForEveryCopy) {
  const std::string copies = "pkts >> duplicate(s) >> duplicate(s) >> duplicate(s) ";
  EXPECT_EQ(LinesOf(kMap + copies + "s >> m.add(1)"), 3u);
  EXPECT_EQ(LinesOf(kMap + copies + "s.window(1ms, quantum=160) >> m.add(1)"), 3 * (1u + 11));
  EXPECT_EQ(LinesOf(kMap + kWindow + copies + "s >> m.add(1)"), 3 + 11u);
  EXPECT_EQ(LinesOf(kMap + copies + "s.window(1ms, mode=flip) >> m.add(1)"), 3u);
}

// -- The budget of a switch --

MeasureLoadOptions InASwitch() {
  MeasureLoadOptions options;
  options.thread_count = 2;
  options.budget = kDefaultMeasureBudget;
  return options;
}

CostCertificate Add(const CostCertificate& a, const CostCertificate& b) {
  return {a.operators + b.operators, a.hashes + b.hashes, a.cache_lines + b.cache_lines,
          a.bytes + b.bytes};
}

std::string Example(const std::string& name) {
  const char* const top = std::getenv("top_srcdir");
  const auto text = ReadTextFile(
      std::string(top != nullptr ? top : ".") + "/docs/measurements/" + name + ".mafia",
      kMaxMafiaTextBytes);
  EXPECT_TRUE(text.ok()) << name;
  return *text;
}

void ExpectWithinBudget(const CostCertificate& cost) {
  EXPECT_LE(cost.operators, kDefaultMeasureBudget.operators);
  EXPECT_LE(cost.hashes, kDefaultMeasureBudget.hashes);
  EXPECT_LE(cost.cache_lines, kDefaultMeasureBudget.cache_lines);
  EXPECT_LE(cost.bytes, kDefaultMeasureBudget.bytes);
}

TEST(SwitchBudget, HasRoomForAllExamplesTogether) {
  CostCertificate all;
  for (const char* const name :
       {"uc01_flow_volume_duration", "uc02_flow_volume_cm", "uc03_cardinality_pcsa",
        "uc04_cardinality_hll", "uc05_thresholds", "uc06_sampling_stochastic",
        "uc07_sampling_deterministic", "uc08_postcards", "uc09_trajectory", "uc10_two_phase_hh",
        "uc11_topk_congested", "uc12_path_changes", "uc13_path_change_latency"}) {
    all = Add(all, Load(Example(name), InASwitch())->cost);
  }
  ExpectWithinBudget(all);
}

TEST(SwitchBudget, HasRoomForSixteenSketches) {
  const CostCertificate one = Load(Example("uc02_flow_volume_cm"), InASwitch())->cost;
  CostCertificate all;
  for (int i = 0; i < 16; ++i) all = Add(all, one);
  ExpectWithinBudget(all);
}

// Each took a packet thread 10 to 300 us for one packet.
TEST(SwitchBudget, HasNoneForPacketsThatTakeTensOfMicroseconds) {
  const std::vector<std::string> texts = {
      Repeated("pkts >> c.set(pkt.size " + Repeated("/ (pkt.size % 7 + 1) ", 120) + ") ", 5),
      "pkts >> s.set(s " + Repeated("* 3 + pkt.size ", 120) + ") ",
      "m = HashMap(key=k, size=4000000, type=Counter(width=64)) window(1ms, quantum=32700) "
      "pkts >> m.add(1)",
      "m = HashMap(key=k, size=2000000, type=Counter(width=64), collide=\"evict\") "
      "window(1ms, quantum=32700) pkts >> m.add(1)",
      "m = HashMap(key=k, size=4000000, type=Counter(width=64)) pkts " +
          Repeated(">> duplicate(t) ", 64) + "t.window(1ms) >> m.add(1)",
      Repeated("pkts >> c.set(0 " + Repeated("+ s.min() ", 60) + ") ", 5),
  };
  for (const std::string& text : texts) {
    const auto source = CompileMafia(kRows + text, "x.mafia");
    ASSERT_TRUE(source.ok()) << source.message();
    const auto loaded = LoadMeasureProgram(*source, InASwitch());
    EXPECT_FALSE(loaded.ok()) << text;
    EXPECT_NE(loaded.message().find("the budget is"), std::string::npos) << loaded.message();
  }
}

}  // namespace
}  // namespace trumpet
