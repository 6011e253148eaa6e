// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/program_loader.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "lib/measure/test_programs.h"

namespace trumpet {
namespace {

std::string ErrorOf(const MeasureProgram& program, const MeasureLoadOptions& options = {}) {
  const auto loaded = LoadMeasureProgram(program, options);
  return loaded.ok() ? "" : loaded.message();
}

TEST(ProgramLoader, TakesASoundProgramAndTellsItsCost) {
  const auto loaded = LoadMeasureProgram(TestProgram(), {});
  ASSERT_TRUE(loaded.ok()) << loaded.message();
  const CostCertificate& cost = (*loaded)->cost;
  EXPECT_EQ(cost.hashes, 1u);
  EXPECT_EQ(cost.cache_lines, 4u);  // of four cells, written and read
  EXPECT_GE(cost.bytes, 4 * 64 * 4u);
  EXPECT_GE(cost.operators, 4u);
  EXPECT_EQ((*loaded)->max_copies, 1u);
}

TEST(ProgramLoader, SaysWhichLimitOfTheBudgetAProgramBreaks) {
  MeasureLoadOptions options;
  options.budget.hashes = 0;
  EXPECT_EQ(ErrorOf(TestProgram(), options),
            "the program takes 1 hashes a packet; the budget is 0");
  options = {};
  options.budget.bytes = 1000;
  EXPECT_NE(ErrorOf(TestProgram(), options).find("bytes a packet thread; the budget is 1000"),
            std::string::npos);
}

// Each breaks one promise of a program that is sound.
TEST(ProgramLoader, RefusesWhatIsNotSound) {
  const std::pair<const char*, std::function<void(MeasureProgram*)>> kBreaks[] = {
      {"no streams", [](auto* p) { p->streams.clear(); }},
      {"variable of a node", [](auto* p) { p->nodes[0].target = 1; }},
      {"expression of a node", [](auto* p) { p->nodes[0].expr = 6; }},
      {"cycle of nodes", [](auto* p) { p->nodes[3].children[0] = 3; }},
      {"node without children", [](auto* p) { p->nodes[3].children.clear(); }},
      {"kind of a node", [](auto* p) { p->nodes[0].kind = static_cast<MeasureNodeKind>(99); }},
      {"update of a node", [](auto* p) { p->nodes[0].update = static_cast<MeasureUpdate>(99); }},
      {"update not of the kind", [](auto* p) { p->nodes[0].update = MeasureUpdate::kInsert; }},
      {"cycle of expressions", [](auto* p) { p->exprs[2].a = 2; }},
      {"operand out of range", [](auto* p) { p->exprs[2].b = 100; }},
      {"operand missing", [](auto* p) { p->exprs[2].b = kNoIndex; }},
      {"variable of a written cell", [](auto* p) { p->exprs[0].variable = 100; }},
      {"variable of a sum", [](auto* p) { p->exprs[2].variable = 0; }},
      {"operator", [](auto* p) { p->exprs[2].op = static_cast<MeasureOp>(99); }},
      {"aggregate", [](auto* p) { p->exprs[3].aggregate = MeasureAggregate::kTest; }},
      {"field", [](auto* p) { p->keys[0].fields[0] = kMeasureFieldCount; }},
      {"empty key", [](auto* p) { p->keys[0].fields.clear(); }},
      {"long key", [](auto* p) { p->keys[0].fields.resize(100, kIpv4Src); }},
      {"key of a variable", [](auto* p) { p->variables[0].key = 1; }},
      {"width 0", [](auto* p) { p->variables[0].bits = 0; }},
      {"width 65", [](auto* p) { p->variables[0].bits = 65; }},
      {"no hashes", [](auto* p) { p->variables[0].hashes = 0; }},
      {"many hashes", [](auto* p) { p->variables[0].hashes = 17; }},
      {"no cells", [](auto* p) { p->variables[0].size = 0; }},
      {"cells that overflow", [](auto* p) { p->variables[0].size = UINT64_MAX / 4 + 1; }},
      {"too many cells", [](auto* p) { p->variables[0].size = kMaxMeasureCells / 2; }},
      {"window of a variable", [](auto* p) { p->variables[0].window = 0; }},
      {"role of a task", [](auto* p) { p->tasks[0].role = 0; }},
      {"collect on pkts", [](auto* p) { p->tasks[0].root = 4; }},
      {"duplicate to pkts", [](auto* p) { p->nodes[2].target = kPktsStream; }},
      {"copies in circles", [](auto* p) { p->tasks[1].root = 2; }},
      {"endpoint", [](auto* p) { p->nodes[4].target = 1; }},
      {"written cell in a guard", [](auto* p) { p->exprs[5].a = 0; }},
  };
  ASSERT_EQ(ErrorOf(TestProgram()), "");
  for (const auto& [name, break_it] : kBreaks) {
    MeasureProgram program = TestProgram();
    break_it(&program);
    EXPECT_NE(ErrorOf(program), "") << name;
  }
}

TEST(ProgramLoader, RefusesProgramsThatGrowWhenTheyAreWrittenOut) {
  MeasureProgram program = TestProgram();
  MeasureIndex last = 2;
  for (int i = 0; i < 40; ++i) {  // each uses the one before twice
    MeasureExpr twice;
    twice.kind = MeasureExprKind::kBinary;
    twice.a = twice.b = last;
    last = static_cast<MeasureIndex>(program.exprs.size());
    program.exprs.push_back(twice);
  }
  program.nodes[0].expr = last;
  EXPECT_NE(ErrorOf(program), "");
}

}  // namespace
}  // namespace trumpet
