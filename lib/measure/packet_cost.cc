// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/packet_cost.h"

#include <algorithm>

#include "lib/measure/expression.h"
#include "lib/measure/program_check.h"

namespace trumpet {
namespace {

constexpr uint64_t kLineBytes = 64;
constexpr uint64_t kDivisionCost = 8;  // 64 bits by 64 bits: 10 to 30 ns, by processor and quotient
constexpr uint64_t kRatioCost = 2;     // two products of 128 bits
constexpr uint64_t kSharedCost = 16;   // a locked addition, of a line that other threads have
constexpr size_t kShortSteps = 4;      // of expressions that EvaluateShort() does at once
constexpr uint64_t kLoopCost = 3;      // of the others: where they end is hard to foresee
constexpr uint64_t kStoredPerOperator = 32;  // bytes of cells that are cleared in a row

uint64_t CostOfStep(const ExpressionStep& step) {
  switch (step.kind) {
    case StepKind::kPair:
    case StepKind::kBinary:
      return step.op == MeasureOp::kDivide || step.op == MeasureOp::kRemainder ? kDivisionCost : 1;
    case StepKind::kRatio:
      return kRatioCost;
    case StepKind::kFilterBits:
      return 1 + CostOfFilter(step.rows);
    case StepKind::kAverage:
      return kDivisionCost + CostOfCells(step.rows);
    default:
      return 1 + CostOfCells(step.rows);
  }
}

// Of `bytes` in a row that begin with a whole cell of `cell` bytes.
uint64_t MostLines(uint64_t bytes, uint64_t cell) {
  return (bytes - cell + 2 * kLineBytes - 1) / kLineBytes;
}

uint64_t CellBytes(const VariablePlace& place) { return uint64_t{1} << place.log2; }

// `count` cells of `cell` bytes, `stride` bytes from one to the next, behind one another.
void AddClearing(uint64_t count, uint64_t cell, uint64_t stride, CostCertificate* cost) {
  const uint64_t bytes = (count - 1) * stride + cell;
  cost->operators += stride == cell ? 1 + bytes / kStoredPerOperator : count;
  cost->cache_lines += std::min(count, MostLines(bytes, cell));
}

}  // namespace

uint64_t CostOfSteps(const CompiledProgram& compiled, size_t first) {
  const size_t end = compiled.steps.size();
  uint64_t cost = end - first > kShortSteps ? kLoopCost : 0;
  for (size_t i = first; i < end; ++i) cost += CostOfStep(compiled.steps[i]);
  return cost;
}

uint64_t CostOfCells(uint64_t cells) { return cells / 2; }

uint64_t CostOfFilter(uint64_t cells) { return cells / 32; }

uint64_t CostOfSharedSums(uint64_t cells) { return cells * kSharedCost; }

// Each is noted; and taken back and done again by each fork.
uint64_t CostOfLogged(uint64_t writes, uint32_t forks) {
  return writes * (1 + 2 * uint64_t{forks});
}

uint64_t CostOfKey(const CompiledProgram& compiled, MeasureIndex key) {
  uint64_t slots = 0;
  for (const SlotPlan& plan : compiled.slots[key]) slots += plan.rows;
  return CostOfCells(compiled.keys[key].parts.size()) + slots;
}

uint64_t CostOfHeaders(const CompiledProgram& compiled) {
  uint64_t cost = 0;
  for (size_t i = 0; i < compiled.source.headers.size(); ++i) {
    cost += 1 + compiled.source.header_fields.size();  // each is looked at
  }
  for (const MeasureHeaderField& field : compiled.source.header_fields) {
    cost += 1 + CostOfCells(field.bits / 8u);
  }
  if (!compiled.header_guards.empty()) cost += CostOfSteps(compiled, compiled.header_guards[0]);
  return cost;
}

CostCertificate CostOfWindow(const CompiledProgram& compiled, MeasureIndex window) {
  const WindowPlan& plan = compiled.windows[window];
  CostCertificate cost;
  if (plan.flips) {
    cost.operators = 1 + plan.variables.size();
    return cost;
  }
  // Each packet that clears goes on where the one before stopped, so what one clears is known.
  CostCertificate most;
  uint64_t left = plan.quantum;
  const auto end_packet = [&] {
    most.operators = std::max(most.operators, cost.operators);
    most.cache_lines = std::max(most.cache_lines, cost.cache_lines);
    cost = {};
    left = plan.quantum;
  };
  for (const MeasureIndex variable : plan.variables) {
    const VariablePlace& place = compiled.variables[variable];
    const uint64_t bytes = CellBytes(place);
    for (uint64_t cells = place.cell_count; cells > 0;) {
      const uint64_t count = std::min(cells, left);
      AddClearing(count, bytes, place.stride, &cost);
      if (compiled.source.variables[variable].evicts) {
        AddClearing(count, sizeof(uint64_t), sizeof(uint64_t), &cost);
      }
      cells -= count;
      left -= count;
      if (left > 0) continue;
      end_packet();
      // Packets that clear nothing else cost the same: one of them, and what is left behind them.
      if (cells > plan.quantum) cells = plan.quantum + cells % plan.quantum;
    }
  }
  end_packet();
  most.operators++;
  return most;
}

uint64_t LinesOf(const CompiledProgram& compiled, MeasureIndex variable) {
  const MeasureVariable& of = compiled.source.variables[variable];
  const VariablePlace& place = compiled.variables[variable];
  if (!HasKey(of.kind)) return 1;
  if (of.evicts) return 2;  // the cell, and its owner
  const uint64_t cell = CellBytes(place);
  const uint64_t all = MostLines(uint64_t{place.cell_count - 1} * place.stride + cell, cell);
  // A small filter may be read and written as a whole.
  return of.kind == MeasureKind::kBloomMembership && place.cell_count <= 64
             ? all
             : std::min<uint64_t>(place.slot_count, all);
}

}  // namespace trumpet
