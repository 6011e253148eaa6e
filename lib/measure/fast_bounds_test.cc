// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Sketches under the fast hash keep what theory promises of them, for keys that lie side by side
// and flows by Zipf's law.

#include <gtest/gtest.h>

#include <cmath>

#include "lib/measure/key_slots.h"
#include "lib/measure/program_loader.h"
#include "lib/measure/program_set.h"
#include "lib/measure/read_state.h"
#include "lib/measure/sketch_estimates.h"
#include "lib/measure/test_programs.h"

namespace trumpet {
namespace {

constexpr uint32_t kFlows = 5000;
constexpr uint32_t kRows = 4;
constexpr uint32_t kSketchCells = 256;
constexpr uint32_t kFilterCells = 16384;
constexpr uint64_t kSeeds = 20;

enum : MeasureIndex { kCountMin, kHyperLogLog, kPcsa, kFilter };

MeasureVariable Sketch(MeasureKind kind, uint32_t hashes, uint64_t size, uint8_t bits,
                       MeasureMerge merge) {
  MeasureVariable variable = TestSketch(kind, hashes, size, bits);
  variable.merge = merge;
  return variable;
}

MeasureNode Update(MeasureIndex variable, MeasureUpdate update, MeasureIndex expr) {
  MeasureNode node;
  node.kind = MeasureNodeKind::kUpdate;
  node.target = variable;
  node.update = update;
  node.expr = expr;
  return node;
}

// pkts >> bytes.add(pkt.size) >> flows.update() >> likewise.update() >> seen.insert()
MeasureProgram AllSketches() {
  MeasureProgram program;
  program.streams = {{"pkts"}, {"ctrl"}};
  program.keys.push_back({"key", kNoIndex, {kIpv4Src, kIpv4Dst, kTcpSrc, kTcpDst, kIpv4Proto}, 13});
  program.variables = {
      Sketch(MeasureKind::kCountMin, kRows, kSketchCells, 32, MeasureMerge::kSum),
      Sketch(MeasureKind::kHyperLogLog, 1, 256, 8, MeasureMerge::kMax),
      Sketch(MeasureKind::kPcsa, 1, 128, 32, MeasureMerge::kOr),
      Sketch(MeasureKind::kBloomMembership, kRows, kFilterCells, 1, MeasureMerge::kOr)};
  MeasureExpr size;
  size.kind = MeasureExprKind::kField;
  size.field = kPktSize;
  program.exprs = {size};
  MeasureNode seq;
  seq.children = {0, 1, 2, 3};
  program.nodes = {Update(kCountMin, MeasureUpdate::kAdd, 0),
                   Update(kHyperLogLog, MeasureUpdate::kUpdate, kNoIndex),
                   Update(kPcsa, MeasureUpdate::kUpdate, kNoIndex),
                   Update(kFilter, MeasureUpdate::kInsert, kNoIndex), seq};
  MeasureTask task;
  task.root = 4;
  program.tasks = {task};
  return program;
}

void SetFlow(uint32_t flow, PacketValues* values) {
  values->Set(kIpv4Src, 0x0a000000 + flow);
  values->Set(kIpv4Dst, 0x0a010001);
  values->Set(kTcpSrc, 1024 + flow % 100);
  values->Set(kTcpDst, 80);
  values->Set(kIpv4Proto, 6);
}

uint32_t BytesOf(uint32_t flow) { return 60 + 1000000 / (flow + 1); }

struct SketchRun {
  explicit SketchRun(uint64_t seed) {
    MeasureLoadOptions options;
    options.seed = seed;
    auto loaded = LoadMeasureProgram(AllSketches(), options);
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    if (!loaded.ok()) return;
    program = std::move(*loaded);
    state = ProgramState::Create(program.get(), nullptr, {});
    ProgramSet set({state.get()}, {});
    PacketValues values;
    MeasuredPacket packet;
    packet.values = &values;
    for (uint32_t flow = 0; flow < kFlows; ++flow) {
      SetFlow(flow, &values);
      values.Set(kPktSize, BytesOf(flow));
      total += BytesOf(flow);
      set.Run(&packet, 1);
    }
  }
  std::vector<uint64_t> Cells(MeasureIndex variable) const {
    return ReadVariable({state.get()}, variable, false);
  }
  // Least of the cells of the flow.
  uint64_t LeastOf(MeasureIndex variable, uint32_t flow) const {
    PacketValues values;
    SetFlow(flow, &values);
    PackedKey key;
    PackKey(*program, 0, values, &key);
    std::vector<uint32_t> slots(program->slot_count);
    FillKeySlots(*program, 0, key, slots.data());
    const VariablePlace& place = program->variables[variable];
    uint64_t least = UINT64_MAX;
    for (uint32_t row = 0; row < kRows; ++row) {
      const uint32_t index = slots[place.first_slot + row] >> place.log2;
      least = std::min(least, state->ReadCell(variable, index));
    }
    return least;
  }

  std::unique_ptr<const CompiledProgram> program;
  std::unique_ptr<ProgramState> state;
  uint64_t total = 0;
};

TEST(FastBounds, CountMinIsNeverTooSmallAndSeldomTooLargeByMoreThanItsBound) {
  uint64_t too_large = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const SketchRun run(seed);
    ASSERT_NE(run.state, nullptr);
    const double bound = std::exp(1.0) / kSketchCells * static_cast<double>(run.total);
    for (uint32_t flow = 0; flow < kFlows; ++flow) {
      const uint64_t told = run.LeastOf(kCountMin, flow);
      ASSERT_GE(told, BytesOf(flow)) << "seed " << seed << ", flow " << flow;
      too_large += static_cast<double>(told - BytesOf(flow)) > bound ? 1 : 0;
    }
  }
  const double share = static_cast<double>(too_large) / (double{kFlows} * kSeeds);
  EXPECT_LE(share, std::exp(-double{kRows}));
}

// Each within four standard deviations, their mean within four of a mean.
void ExpectUnbiased(const std::vector<double>& estimates, double sigma) {
  double sum = 0;
  for (const double estimate : estimates) {
    EXPECT_NEAR(estimate / kFlows, 1, 4 * sigma);
    sum += estimate / kFlows;
  }
  const auto count = static_cast<double>(estimates.size());
  EXPECT_NEAR(sum / count, 1, 4 * sigma / std::sqrt(count));
}

TEST(FastBounds, CardinalitiesLieWithinTheirStandardErrors) {
  std::vector<double> by_registers;
  std::vector<double> by_bitmaps;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const SketchRun run(seed);
    ASSERT_NE(run.state, nullptr);
    by_registers.push_back(EstimateHyperLogLog(run.Cells(kHyperLogLog)));
    by_bitmaps.push_back(EstimatePcsa(run.Cells(kPcsa)));
  }
  ExpectUnbiased(by_registers, HyperLogLogError(256));
  ExpectUnbiased(by_bitmaps, PcsaError(128));
}

TEST(FastBounds, FiltersTakeOthersForMembersAsOftenAsTheFormulaSays) {
  double share = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const SketchRun run(seed);
    ASSERT_NE(run.state, nullptr);
    for (uint32_t flow = 0; flow < kFlows; ++flow) ASSERT_EQ(run.LeastOf(kFilter, flow), 1u);
    for (uint32_t flow = kFlows; flow < 2 * kFlows; ++flow) {
      share += run.LeastOf(kFilter, flow) != 0 ? 1 : 0;
    }
  }
  share /= double{kFlows} * kSeeds;
  const double expected =
      std::pow(1 - std::exp(-double{kRows} * kFlows / kFilterCells), double{kRows});
  EXPECT_NEAR(share, expected, 0.1 * expected);
}

}  // namespace
}  // namespace trumpet
