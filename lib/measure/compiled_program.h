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

// Variables of a key that are of one form and size have the same slots, which count from the first
// cell of each.
struct SlotPlan {
  SlotForm form = SlotForm::kMap;
  bool is_sliced = false;
  uint8_t log2 = 0;     // of the bytes of a cell
  uint8_t bits = 0;     // of a cell
  uint32_t number = 0;  // among the plans of the key
  uint32_t rows = 1;
  uint32_t size = 1;    // cells of a row
  uint32_t stride = 0;  // bytes from a cell of a map to the next
  uint32_t offset = 0;  // kOwnedMap: bytes in the region, of the first cell
  uint32_t owners = 0;  // likewise of the first owner
  uint32_t first = 0;   // slot
};

// Where the cells of a variable are.
struct VariablePlace {
  uint16_t region = 0;
  uint8_t log2 = 0;
  uint64_t mask = 0;
  uint32_t offset = 0;  // bytes in the region, of the first cell
  uint32_t stride = 0;  // bytes from a cell to the next
  uint32_t cell_count = 0;
  uint32_t owners = 0;  // bytes in the region; only of maps that evict
  uint32_t first_slot = 0;
  uint32_t slot_count = 0;  // selected cells
  uint32_t slot_base = 0;   // bytes in the region that slots count from
};

struct WindowPlan {
  Nanos duration = 0;
  uint32_t quantum = 0;
  bool flips = false;
  bool is_shared = false;    // threads have some of its variables in common
  bool is_of_scope = false;  // looks at each packet before the first task; else at those of a task
  uint64_t roles = 0;        // bit per role; all for the whole program
  uint32_t bytes = 0;        // flipping: of an epoch
  std::vector<MeasureIndex> variables;
};

// Where a kernel for bursts takes hashes from, instead of slots.
struct HashUse {
  uint32_t key = 0;
  const SlotPlan* plan = nullptr;  // in CompiledProgram::slots; null: it takes none
};

// An operator that packets of a burst take together.
struct BurstStep {
  uint32_t at = 0;  // operator
  BurstKernel kernel = nullptr;
  HashUse hash;
};

// Operators behind a guard that all packets take which come there, one by one, to the end of the
// program.
struct BurstArm {
  std::vector<BurstStep> steps;
  // Instead: operator `stop_at` alone, whose packets mostly end there.
  StopKernel stop = nullptr;
  uint32_t stop_at = 0;
  HashUse stop_hash;
};

// Operators that the packets of a burst take before any of them goes on behind (burst_stages.h).
struct BurstStage {
  uint32_t at = 0;               // the first operator
  BurstKernel kernel = nullptr;  // for all packets at once; null: they take it one after the other
  HashUse hash;                  // of `kernel`
  uint32_t next = 0;             // stage to go on at with `kernel`: of packets that it leaves,
  uint32_t skip = 0;             // and of those that it takes out
  uint64_t keys = 0;             // bit per key whose slots must be there
  bool tags = false;             // fields
  bool parts = false;            // `kernel` is the guard of CompiledProgram::arms
  // Of the first of several stages that are taken run by run (cell_runs.h): the stage behind them,
  // and of which map packets of a run have different cells.
  uint32_t runs_end = 0;  // 0: it is not
  HashUse run_cells;
  // Of the same: runs keep the order of all packets, as those of other cells could tell.
  bool keeps_order = true;
  bool takes_run_cells = false;  // `kernel` does, instead of slots
};

// A tag of a constant or of a field.
struct PlainTag {
  MeasureFieldId field = 0;
  bool makes_present = false;
  bool is_of_field = false;
  MeasureFieldId from = 0;
  uint64_t constant = 0;
  uint64_t mask = 0;
};

// A copy that packets of a burst may leave, which is run when all have gone through the stages.
struct BurstCopy {
  MeasureIndex stream = 0;
  std::vector<MeasureFieldId> tagged;  // by the tasks of the stream
  // It is tagged and collected, that is all.
  bool is_plain = false;
  std::vector<PlainTag> tags;
  uint32_t endpoint = 0;
};

// What one packet can cost at most, its copies and a window that clears included, and what the
// program keeps per packet thread.
struct CostCertificate {
  uint64_t operators = 0;    // weighted: some 3 ns each (packet_cost.h)
  uint64_t hashes = 0;       // of keys
  uint64_t cache_lines = 0;  // of cells; those that a packet meets again count once
  uint64_t bytes = 0;
};

struct CompiledProgram {
  static constexpr uint32_t kNoCode = UINT32_MAX;

  CompiledProgram() = default;
  // `stages` point into `slots`, which a move takes along and a copy would not.
  CompiledProgram(const CompiledProgram&) = delete;
  CompiledProgram& operator=(const CompiledProgram&) = delete;
  CompiledProgram(CompiledProgram&&) = default;
  CompiledProgram& operator=(CompiledProgram&&) = default;

  MeasureProgram source;
  MeasureHashFamily family = MeasureHashFamily::kFast;
  uint64_t seed = 0;
  std::vector<Operator> operators;
  std::vector<ExpressionStep> steps;
  // How bursts of pkts go through the program; none: there is no task of pkts.
  std::vector<BurstStage> stages;
  BurstArm arms[2];                     // of packets that the guard leaves, or takes out
  std::vector<BurstCopy> burst_copies;  // none: copies are run in the last stage
  bool has_plain_copies = false;        // all of those
  uint64_t copy_keys = 0;               // bit per key whose slots they must have
  uint64_t early_keys = 0;              // bit per key that is hashed once a packet
  // A scalar that is read in kViewRegion, so that packets of a burst find there what was in it when
  // they had added to it; kNoIndex: none is.
  MeasureIndex viewed = kNoIndex;
  std::vector<uint32_t> entries;  // of each stream: its first operator, or kNoCode
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
