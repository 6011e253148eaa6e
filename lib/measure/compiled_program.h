// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CompiledProgram: a measurement program as packet threads run it.
//
// Made by LoadMeasureProgram() (program_loader.h), which is the only place where it comes from: all
// that runs relies on the promises of the loader.
//
// Threads: constant once made; shared by all packet threads.

#ifndef TRUMPET_LIB_MEASURE_COMPILED_PROGRAM_H
#define TRUMPET_LIB_MEASURE_COMPILED_PROGRAM_H

#include <cstdint>
#include <vector>

#include "lib/base/units.h"
#include "lib/measure/expression.h"
#include "lib/measure/measure_hash.h"
#include "lib/measure/operators.h"
#include "lib/model/measure_program.h"

namespace trumpet {

// Regions of cells.  Flipping windows have one each, behind these.
constexpr uint16_t kOwnRegion = 0;     // of one thread
constexpr uint16_t kSharedRegion = 1;  // of all threads
constexpr uint16_t kViewRegion = 2;    // the viewed variable alone
constexpr uint16_t kFirstFlipRegion = 3;

// A field in a word of the packed key.
struct KeyPart {
  MeasureFieldId field = 0;
  uint8_t word = 0;
  uint8_t shift = 0;
  uint8_t bytes = 0;
};

// Widths of the fields of common keys, for which there is code of their own.
enum class KeyShape : uint8_t {
  kAny,
  kOneField,
  kTwoAddresses,  // 4 and 4 bytes
  kFiveTuple,     // 4, 4, 2, 2 and 1 bytes
};

struct KeyPlan {
  KeyShape shape = KeyShape::kAny;
  std::vector<KeyPart> parts;
  uint32_t words = 0;
  uint64_t fields = 0;   // bit per field
  bool is_late = false;  // a tag of the program changes a field of it: computed at each use
};

// How the slots of a variable come from the hash of its key.
enum class SlotForm : uint8_t {
  kMap,       // one cell
  kOwnedMap,  // a map that evicts: cell, place of the owner, the owner's number (two slots)
  kRows,      // one cell of each row
  kFilter,    // `rows` cells of the one row
  kBitmap,    // pcsa: cell and bit
  kRegister,  // hyperloglog: cell and rank
};

constexpr bool HasRows(SlotForm form) {
  return form == SlotForm::kRows || form == SlotForm::kFilter;
}

struct SlotPlan {
  SlotForm form = SlotForm::kMap;
  bool is_sliced = false;
  uint8_t log2 = 0;  // of the bytes of a cell
  uint8_t bits = 0;  // of a cell
  uint16_t region = 0;
  uint32_t number = 0;  // among the variables of the key
  uint32_t rows = 1;
  uint32_t size = 1;    // cells of a row
  uint32_t offset = 0;  // bytes, of the first cell
  uint32_t owners = 0;  // bytes, of the first owner
  uint32_t first = 0;   // slot
};

// Where the cells of a variable are.
struct VariablePlace {
  uint16_t region = 0;
  uint8_t log2 = 0;
  uint64_t mask = 0;
  uint32_t offset = 0;  // bytes in the region
  uint32_t cell_count = 0;
  uint32_t owners = 0;  // bytes in the region; only of maps that evict
  uint32_t first_slot = 0;
  uint32_t slot_count = 0;  // selected cells
};

struct WindowPlan {
  Nanos duration = 0;
  uint32_t quantum = 0;
  bool flips = false;
  bool is_of_scope = false;  // looks at each packet before the first task; else at those of a task
  uint64_t roles = 0;        // bit per role; all for the whole program
  uint32_t bytes = 0;        // flipping: of an epoch
  std::vector<MeasureIndex> variables;
};

// Operators that all packets take which come there, one by one, to the end of the program.
struct BurstArm {
  uint32_t first = 0;  // operator
  uint32_t count = 0;
  StopKernel stop = nullptr;  // instead: operator `first` alone, whose packets mostly end there
};

// How a burst goes on at its first operator that is none of burst_operators: parted by a guard.
// The guard and the operators of both arms know no variable in common, so up to the first packet
// that does not stop all of them can be done one by one.
struct BurstSplit {
  SplitKernel kernel = nullptr;  // null: packet by packet
  BurstArm pass;
  BurstArm fail;
};

// Where the kernel of an operator that takes hashes takes them from.
struct HashUse {
  uint32_t key = 0;
  const SlotPlan* plan = nullptr;  // in CompiledProgram::slots; null: it takes none
};

// What one packet can cost at most, and what the program keeps per packet thread.
struct CostCertificate {
  uint64_t operators = 0;
  uint64_t hashes = 0;
  uint64_t cache_lines = 0;
  uint64_t bytes = 0;
};

struct CompiledProgram {
  static constexpr uint32_t kNoCode = UINT32_MAX;

  CompiledProgram() = default;
  // `hash_uses` points into `slots`, which a move takes along and a copy would not.
  CompiledProgram(const CompiledProgram&) = delete;
  CompiledProgram& operator=(const CompiledProgram&) = delete;
  CompiledProgram(CompiledProgram&&) = default;
  CompiledProgram& operator=(CompiledProgram&&) = default;

  MeasureProgram source;
  MeasureHashFamily family = MeasureHashFamily::kFast;
  uint64_t seed = 0;
  std::vector<Operator> operators;
  std::vector<ExpressionStep> steps;
  // Of pkts, from the first one on: a burst may take them one by one, all packets each, before its
  // packets take the others one after the other.  No other operator knows a variable that they do,
  // but the viewed one.
  uint32_t burst_operators = 0;
  BurstSplit split;
  // Of each operator, if bursts need no slots: all kernels for bursts take hashes.
  std::vector<HashUse> hash_uses;
  // A scalar that is read in kViewRegion, so that packets of a burst find there what was in it when
  // they had added to it; kNoIndex: none is.
  MeasureIndex viewed = kNoIndex;
  bool adds_viewed_by_burst = false;  // a burst operator does
  std::vector<uint32_t> entries;      // of each stream: its first operator, or kNoCode
  std::vector<KeyPlan> keys;
  std::vector<std::vector<SlotPlan>> slots;  // of each key
  std::vector<VariablePlace> variables;
  std::vector<WindowPlan> windows;
  std::vector<uint32_t> header_guards;  // first step of each
  uint32_t slot_count = 0;
  uint32_t field_count = kMeasureFieldCount;
  uint32_t own_bytes = 0;  // both epochs included
  uint32_t shared_bytes = 0;
  uint32_t max_copies = 0;     // of one packet
  uint32_t max_log = 0;        // entries
  uint64_t tagged_fields = 0;  // of forwarded packets: bit per field
  bool collects = false;
  CostCertificate cost;

  // Where expressions and guards find a variable.
  VariablePlace PlaceToRead(MeasureIndex variable) const {
    VariablePlace place = variables[variable];
    if (variable != viewed) return place;
    place.region = kViewRegion;
    place.offset = 0;
    return place;
  }
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_COMPILED_PROGRAM_H
