// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/program_loader.h"

#include <string>

#include "lib/measure/packet_cost.h"
#include "lib/measure/program_check.h"
#include "lib/measure/program_compiler.h"
#include "lib/measure/program_layout.h"

namespace trumpet {
namespace {

Status CheckBudget(const CostCertificate& cost, const MeasureBudget& budget) {
  const struct {
    const char* what;
    uint64_t cost;
    uint64_t most;
  } kLimits[] = {
      {"operators a packet", cost.operators, budget.operators},
      {"hashes a packet", cost.hashes, budget.hashes},
      {"cache lines a packet", cost.cache_lines, budget.cache_lines},
      {"bytes a packet thread", cost.bytes, budget.bytes},
  };
  for (const auto& each : kLimits) {
    if (each.cost <= each.most) continue;
    return Status::Error("the program takes " + std::to_string(each.cost) + " " + each.what +
                         "; the budget is " + std::to_string(each.most));
  }
  return Status::Ok();
}

}  // namespace

Result<std::unique_ptr<const CompiledProgram>> LoadMeasureProgram(
    const MeasureProgram& program, const MeasureLoadOptions& options) {
  Status status = CheckMeasureProgram(program);
  if (!status.ok()) return status;
  auto compiled = std::make_unique<CompiledProgram>();
  compiled->source = program;
  compiled->family = options.family;
  compiled->seed = options.seed;
  compiled->field_count = kMeasureFieldCount + static_cast<uint32_t>(program.header_fields.size());
  for (const size_t copies : CountCopies(program)) {
    compiled->max_copies += static_cast<uint32_t>(copies);
  }
  status = LayOutProgram(options.thread_count, compiled.get());
  if (!status.ok()) return status;
  status = CompileTasks(compiled.get());
  if (!status.ok()) return status;
  for (const MeasureHeader& header : program.headers) {
    compiled->header_guards.push_back(CompileExpression(header.guard, compiled.get()));
  }
  compiled->cost.operators += CostOfHeaders(*compiled);
  status = CheckBudget(compiled->cost, options.budget);
  if (!status.ok()) return status;
  return std::unique_ptr<const CompiledProgram>(std::move(compiled));
}

}  // namespace trumpet
