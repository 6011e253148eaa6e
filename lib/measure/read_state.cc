// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/read_state.h"

#include <algorithm>

#include "lib/measure/key_slots.h"

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

uint64_t ReadMergedCell(const std::vector<const ProgramState*>& states, MeasureIndex variable,
                        uint32_t index, bool is_retired) {
  const CompiledProgram& program = states[0]->program();
  const VariablePlace& place = program.variables[variable];
  const MeasureMerge merge = program.source.variables[variable].merge;
  uint64_t cell = states[0]->ReadCell(variable, index, is_retired);
  if (place.region == kSharedRegion) return cell;
  for (size_t thread = 1; thread < states.size(); ++thread) {
    cell =
        MergeCells(merge, cell, states[thread]->ReadCell(variable, index, is_retired)) & place.mask;
  }
  return cell;
}

std::vector<uint64_t> ReadVariable(const std::vector<const ProgramState*>& states,
                                   MeasureIndex variable, bool is_retired) {
  const VariablePlace& place = states[0]->program().variables[variable];
  std::vector<uint64_t> cells(place.cell_count);
  for (uint32_t i = 0; i < place.cell_count; ++i) {
    cells[i] = ReadMergedCell(states, variable, i, is_retired);
  }
  return cells;
}

namespace {

// Slots of the key of `variable`, those of the variable first.
std::vector<uint32_t> SlotsOf(const CompiledProgram& program, MeasureIndex variable,
                              const PacketValues& key) {
  const MeasureIndex of = program.source.variables[variable].key;
  PackedKey packed;
  PackKey(program, of, key, &packed);
  std::vector<uint32_t> slots(program.slot_count);
  FillKeySlots(program, of, packed, slots.data());
  slots.erase(slots.begin(), slots.begin() + program.variables[variable].first_slot);
  return slots;
}

uint32_t IndexOf(const VariablePlace& place, uint32_t slot) {
  return (place.slot_base + slot - place.offset) / place.stride;
}

}  // namespace

std::vector<uint32_t> CellsOfKey(const CompiledProgram& program, MeasureIndex variable,
                                 const PacketValues& key) {
  const VariablePlace& place = program.variables[variable];
  std::vector<uint32_t> cells = SlotsOf(program, variable, key);
  cells.resize(place.slot_count);
  for (uint32_t& cell : cells) cell = IndexOf(place, cell);
  return cells;
}

std::vector<uint64_t> ReadKeyCells(const std::vector<const ProgramState*>& states,
                                   MeasureIndex variable, const PacketValues& key) {
  const CompiledProgram& program = states[0]->program();
  const MeasureVariable& declared = program.source.variables[variable];
  const VariablePlace& place = program.variables[variable];
  std::vector<uint64_t> cells;
  if (declared.evicts) {
    const std::vector<uint32_t> slot = SlotsOf(program, variable, key);
    const uint32_t index = IndexOf(place, slot[0]);
    const uint64_t owner = uint64_t{slot[3]} << 32 | slot[2];
    cells.push_back(0);
    for (const ProgramState* state : states) {
      if (state->ReadOwner(variable, index) != owner) continue;
      cells[0] =
          MergeCells(declared.merge, cells[0], state->ReadCell(variable, index)) & place.mask;
    }
    return cells;
  }
  for (const uint32_t index : CellsOfKey(program, variable, key)) {
    cells.push_back(ReadMergedCell(states, variable, index));
  }
  return cells;
}

}  // namespace trumpet
