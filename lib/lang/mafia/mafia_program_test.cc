// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What programs become: the resolved program, piece by piece.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "lib/lang/mafia/mafia_language.h"

namespace trumpet {
namespace {

MeasureProgram Compile(const std::string& text) {
  const auto program = CompileMafia(text, "p");
  EXPECT_TRUE(program.ok()) << text << "\n" << (program.ok() ? "" : program.message());
  return program.ok() ? *program : MeasureProgram();
}

// The expression of a match on pkts.
MeasureProgram Match(const std::string& expr) {
  return Compile(
      "k = Key(ip.src, pkt.input_port); m = HashMap(key=k, size=4, type=Counter());\n"
      "pkts >> match(" +
      expr + ")");
}

MeasureExpr Root(const MeasureProgram& program) {
  return program.exprs.empty() ? MeasureExpr() : program.exprs.back();
}

TEST(MafiaProgram, HoldsConstantsOnlyOnce) {
  const MeasureProgram program = Match("3 * (2 + 4) - (1 << 4) == 10 / 4");
  ASSERT_EQ(program.exprs.size(), 1u);
  EXPECT_EQ(Root(program).kind, MeasureExprKind::kConstant);
  EXPECT_EQ(Root(program).value, 1u);
  EXPECT_EQ(Root(Match("-1")).value, UINT64_MAX);
  EXPECT_EQ(Root(Match("1 / 0 + 1 % 0 + (1 << 64)")).value, 0u);
}

TEST(MafiaProgram, ComparesRatiosOnEitherSide) {
  for (const char* text : {"m / pkt.size >= 0.25", "0.25 <= m / pkt.size"}) {
    const MeasureProgram program = Match(text);
    const MeasureExpr ratio = Root(program);
    EXPECT_EQ(ratio.kind, MeasureExprKind::kRatio);
    EXPECT_EQ(ratio.op, MeasureOp::kGreaterEqual);
    EXPECT_EQ(ratio.value, 25u);
    EXPECT_EQ(ratio.denominator, 100u);
    EXPECT_EQ(program.exprs[ratio.a].kind, MeasureExprKind::kCell);
    EXPECT_EQ(program.exprs[ratio.b].field, kPktSize);
  }
  EXPECT_EQ(Root(Match("m / pkt.size >= 1")).kind, MeasureExprKind::kBinary);
}

TEST(MafiaProgram, KnowsTheCellAtHandFromOthers) {
  const MeasureProgram program = Compile(
      "k = Key(ip.src); s = Sketch(alg=\"store\", key=k, nhash=2, size=8); c = Counter();\n"
      "pkts >> s.set(c) >> c.set(c + 1)");
  EXPECT_EQ(program.exprs[0].kind, MeasureExprKind::kCell);
  EXPECT_EQ(program.exprs[1].kind, MeasureExprKind::kWrittenCell);
  EXPECT_EQ(program.variables[0].CellCount(), 16u);
  EXPECT_EQ(program.keys[0].bytes, 4u);
}

TEST(MafiaProgram, TakesWiderCellsThanSketchesOfCardinalityUse) {
  const MeasureProgram program = Compile(
      "k = Key(ip.src);\n"
      "a = Sketch(alg=\"hyperloglog\", key=k, nhash=1, size=256, width=32);\n"
      "b = Sketch(alg=\"hyperloglog\", key=k, size=256, width=5);\n"
      "c = Sketch(alg=\"pcsa\", key=k, size=128, width=64);\n"
      "d = Sketch(alg=\"pcsa\", key=k, size=128, width=31);\n");
  ASSERT_EQ(program.variables.size(), 4u);
  const uint8_t bits[] = {8, 5, 32, 31};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(program.variables[i].bits, bits[i]) << i;
}

TEST(MafiaProgram, AddsFieldsOfHeaders) {
  const MeasureProgram program = Compile(
      "header h when udp.dst == 4242 at 4 { a: 16; b: 64; }\n"
      "pkts >> match(h.b > 1) >> tag(h.a, 7)");
  ASSERT_EQ(program.headers.size(), 1u);
  EXPECT_EQ(program.headers[0].offset, 4u);
  EXPECT_EQ(program.headers[0].bytes, 10u);
  EXPECT_EQ(program.exprs[program.headers[0].guard].op, MeasureOp::kEqual);
  EXPECT_EQ(program.header_fields[1].name, "h.b");
  EXPECT_EQ(program.header_fields[1].offset, 2u);
  EXPECT_EQ(program.nodes[1].field, kMeasureFieldCount);
}

TEST(MafiaProgram, KeepsScopesOfRolesApart) {
  const MeasureProgram program = Compile(
      "a = Counter(); window(2ms, quantum=8, mode=flip); b = Counter();\n"
      "role every { c = Counter(); d = Counter(); pkts.window(1s) >> (d.add(1) ++ c.reset()) }\n"
      "role last_hop { c = Counter(); pkts >> c.add(1) }\n"
      "role every { pkts >> c.add(b) }");
  ASSERT_EQ(program.windows.size(), 2u);
  EXPECT_EQ(program.windows[0].duration, 2 * kNanosPerMilli);
  EXPECT_EQ(program.windows[0].quantum, 8u);
  EXPECT_EQ(program.windows[0].mode, MeasureWindowMode::kFlip);
  EXPECT_EQ(program.windows[0].variables, (std::vector<MeasureIndex>{0, 1}));
  EXPECT_EQ(program.windows[1].variables, (std::vector<MeasureIndex>{2, 3}));
  EXPECT_EQ(program.windows[1].task, 0u);
  ASSERT_EQ(program.roles.size(), 2u);
  EXPECT_EQ(program.tasks[2].role, 0u);
  EXPECT_EQ(program.nodes[program.tasks[2].root].target, 2u);
  EXPECT_EQ(MeasureVariableLabel(program, program.variables[4]), "last_hop.c");
  EXPECT_EQ(MeasureVariableLabel(program, program.variables[3]), "d");
}

TEST(MafiaProgram, RolesSeeWhatEverySwitchHas) {
  const MeasureProgram program = Compile(
      "role first_hop { pkts >> c.add(1) }\n"
      "role every { k = Key(ipv4.src); c = Counter(); window(1s) }\n"
      "role last_hop { m = HashMap(key=k, size=8, type=Counter()); pkts >> m.add(c) }");
  ASSERT_EQ(program.variables.size(), 2u);
  EXPECT_EQ(program.variables[0].role, 1u);
  EXPECT_EQ(program.variables[1].key, 0u);
  EXPECT_EQ(program.nodes[program.tasks[0].root].target, 0u);
  EXPECT_EQ(program.exprs[program.nodes[program.tasks[1].root].expr].variable, 0u);
  EXPECT_EQ(program.windows[0].variables, (std::vector<MeasureIndex>{0}));
}

TEST(MafiaProgram, SaysWhereStepsStand) {
  const MeasureProgram program = Compile("c = Counter();\n// \xc3\xa4\n  pkts >>\n\tc.add(1)");
  EXPECT_EQ(program.nodes[0].place.line, 4u);
  EXPECT_EQ(program.nodes[0].place.column, 2u);
  EXPECT_EQ(program.tasks[0].place.line, 3u);
  EXPECT_EQ(program.tasks[0].place.column, 3u);
}

TEST(MafiaProgram, MayBeginWithAByteOrderMark) {
  const std::string mark = "\xef\xbb\xbf";
  const MeasureProgram program = Compile(mark + "c = Counter();\r\npkts >> c.add(1);\r\n");
  ASSERT_EQ(program.variables.size(), 1u);
  EXPECT_EQ(program.variables[0].place.column, 1u);
  const auto printed = PrintMafia(mark + "c=Counter()", "p");
  ASSERT_TRUE(printed.ok()) << printed.message();
  EXPECT_EQ(*printed, "c = Counter();\n");
  EXPECT_EQ(CompileMafia(mark + "c=Conter()", "p").message().substr(0, 6), "p:1:3:");
  EXPECT_FALSE(CompileMafia("c = Counter() " + mark, "p").ok());
}

TEST(MafiaProgram, OfTheGuideIsOne) {
  const char* const top = std::getenv("top_srcdir");
  std::ifstream guide(std::string(top != nullptr ? top : ".") + "/docs/measurement-language.md");
  std::string text;
  for (std::string line; std::getline(guide, line);) {
    if (line.rfind("    ", 0) == 0) text += line + "\n";
    if (!text.empty() && line.empty()) break;
  }
  EXPECT_EQ(Compile(text).variables.size(), 2u) << text;
}

// A tag that cuts its value is warned of; one that cannot is not.
TEST(MafiaProgram, KnowsHowWideValuesCanBe) {
  const auto is_cut = [](const std::string& value) {
    const MeasureProgram program =
        Compile("c = Counter(width=16); pkts >> tag(ipv4.tos, " + value + ")");
    return !program.diagnostics.empty();
  };
  for (const char* fitting : {"c % 256", "c >> 8", "c / 256", "ipv4.id >> 8", "random([0:256])",
                              "c & 255", "c >> 70", "255"}) {
    EXPECT_FALSE(is_cut(fitting)) << fitting;
  }
  for (const char* wider : {"c", "c % 257", "c >> 7", "c / 255", "random([0:257])",
                            "random([300:2])", "256", "c % 0", "c / 0"}) {
    EXPECT_TRUE(is_cut(wider)) << wider;
  }
}

// Complements, in the ways that conditions can be written.
TEST(MafiaProgram, FindsBranchesThatExcludeEachOther) {
  const auto note = [](const std::string& left, const std::string& right) {
    const MeasureProgram program = Compile(
        "c = Counter(); d = Counter();\n"
        "pkts >> (match(" +
        left + ") >> c.set(1)) ++ (match(" + right + ") >> c.set(2))");
    return program.diagnostics.empty() ? MeasureNote::kNone : program.diagnostics[0].note;
  };
  EXPECT_EQ(note("d < 5", "d >= 5"), MeasureNote::kExclusive);
  EXPECT_EQ(note("d > 5", "d <= 5"), MeasureNote::kExclusive);
  EXPECT_EQ(note("d == 5", "d != 5"), MeasureNote::kExclusive);
  EXPECT_EQ(note("d", "!d"), MeasureNote::kExclusive);
  EXPECT_EQ(note("!(d < 5)", "!(d >= 5)"), MeasureNote::kExclusive);
  EXPECT_EQ(note("pkt.size > 9 && d < 5", "ipv4.ttl == 1 && d >= 5"), MeasureNote::kExclusive);
  EXPECT_EQ(note("d < 5) >> match(pkt.size", "1) >> match(d >= 5"), MeasureNote::kExclusive);
  EXPECT_EQ(note("d / pkt.size < 0.5", "d / pkt.size >= 0.5"), MeasureNote::kExclusive);
  EXPECT_EQ(note("d > 1 && d < 9", "!(d > 1 && d < 9)"), MeasureNote::kExclusive);
  EXPECT_EQ(note("d > 1 || d < 9", "!(d > 1 || d < 9)"), MeasureNote::kExclusive);
  EXPECT_EQ(note("d > 1 && d < 9", "!(d > 1 && d < 8)"), MeasureNote::kOrdered);
  EXPECT_EQ(note("d / pkt.size < 0.5", "!(d / pkt.size < 0.5)"), MeasureNote::kExclusive);
  EXPECT_EQ(note("!(d / pkt.size < 0.5)", "!!(d / pkt.size < 0.5)"), MeasureNote::kExclusive);
  EXPECT_EQ(note("!(d / pkt.size < 0.5)", "!(d / pkt.size >= 0.5)"), MeasureNote::kOrdered);
  EXPECT_EQ(note("d < 5", "d >= 6"), MeasureNote::kOrdered);
  EXPECT_EQ(note("d < 5 || pkt.size", "d >= 5"), MeasureNote::kOrdered);
  EXPECT_EQ(note("random([0:2])", "!random([0:2])"), MeasureNote::kOrdered);
  EXPECT_EQ(note("1) >> d.add(1) >> match(d < 5", "d >= 5"), MeasureNote::kOrdered);
}

}  // namespace
}  // namespace trumpet
