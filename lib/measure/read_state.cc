// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/read_state.h"

#include <algorithm>

namespace trumpet {

uint64_t MergeCells(MeasureMerge merge, uint64_t a, uint64_t b) {
  switch (merge) {
    case MeasureMerge::kSum:
      return a + b;
    case MeasureMerge::kOr:
      return a | b;
    case MeasureMerge::kMinNonzero:
      return a == 0 || b == 0 ? a | b : std::min(a, b);
    default:
      return std::max(a, b);
  }
}

std::vector<uint64_t> ReadVariable(const std::vector<const ProgramState*>& states,
                                   MeasureIndex variable, bool is_retired) {
  const CompiledProgram& program = states[0]->program();
  const VariablePlace& place = program.variables[variable];
  const MeasureMerge merge = program.source.variables[variable].merge;
  std::vector<uint64_t> cells(place.cell_count);
  for (uint32_t i = 0; i < place.cell_count; ++i) {
    cells[i] = states[0]->ReadCell(variable, i, is_retired);
    if (place.region == kSharedRegion) continue;
    for (size_t thread = 1; thread < states.size(); ++thread) {
      cells[i] = MergeCells(merge, cells[i], states[thread]->ReadCell(variable, i, is_retired)) &
                 place.mask;
    }
  }
  return cells;
}

}  // namespace trumpet
