// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Operators: what a measurement program is compiled to, and what they work on.
//
// A program is one vector of operators.  Each has a kernel, which does its work and answers the
// operator to go on with: the next one, or the one `skip` further down, never one before; so a
// packet costs at most the length of the vector.  Cells are reached by slots only: byte offsets
// into a region that were scaled into range when they were computed.
//
// Threads: operators are constant; a RunContext belongs to one thread.

#ifndef TRUMPET_LIB_MEASURE_OPERATORS_H
#define TRUMPET_LIB_MEASURE_OPERATORS_H

#include <cstdint>

#include "lib/measure/field_columns.h"
#include "lib/measure/measured_packet.h"
#include "lib/model/measure_program.h"

namespace trumpet {

struct CompiledProgram;
struct SlotPlan;
class ProgramState;
struct Operator;

enum class WriteKind : uint8_t {
  kAssign,
  kAdd,
  kTag,    // a field of the packet
  kClaim,  // of a slot of a map that evicts: a new owner finds the cell 0
};

// One write inside a branch of `++`: enough to take it back, and to do it again at the commit.
struct WriteLogEntry {
  WriteKind kind;
  uint8_t log2;  // of the bytes of the cell
  bool was_present;
  bool was_tagged;
  MeasureFieldId field;
  uint8_t* cell;
  uint64_t mask;
  uint64_t before;
  uint64_t value;
  uint8_t* owner;  // kClaim: the place of the owner
  uint64_t owner_before;
};

// What kernels see while one packet runs through one program.
struct RunContext {
  PacketValues* packet = nullptr;
  const Frame* frame = nullptr;       // of which other fields are still to be read; null: none
  uint32_t* slots = nullptr;          // of this packet
  uint8_t* const* regions = nullptr;  // start of each region of cells
  const CompiledProgram* program = nullptr;
  ProgramState* state = nullptr;
  uint64_t now = 0;            // ns
  uint64_t roles = 0;          // bit per role of the program that the switch plays for the packet
  uint64_t clearing = 0;       // bit per window that is clearing its variables
  uint64_t flags = 0;          // bit per `++` that has yielded
  bool is_collected = false;   // which ends the packet
  uint64_t written_value = 0;  // of the cell that a set, add or init is at
  WriteLogEntry* log = nullptr;
  uint32_t log_count = 0;
  // Of a packet of a burst that takes the operators of one stage (burst_stages.h).
  uint32_t packet_bit = 0;
  uint32_t* arrivals = nullptr;  // by stage: a bit per packet that goes on there
  uint32_t* marks = nullptr;     // by BurstCopy: a bit per packet that leaves it
};

using Kernel = const Operator* (*)(const Operator* op, RunContext* context);

// What kernels see that do one operator for all packets of a burst that take it.
struct BurstContext {
  // The rest is to be set.
  explicit BurstContext(const ProgramBurst& burst)
      : packets(burst.packets),
        columns(burst.columns),
        slots(burst.slots),
        stride(burst.stride),
        roles(burst.roles),
        has_same_hops(burst.has_same_hops),
        has_same_time(burst.source->frames != nullptr),
        same_fields(burst.source->frames != nullptr ? kPlaceFields : 0),
        count(burst.count),
        all(burst.count == 32 ? UINT32_MAX : (1u << burst.count) - 1) {}

  const MeasuredPacket* packets;
  FieldColumns* columns;
  const uint32_t* slots;  // of packet i they begin at i * `stride`
  uint32_t stride;
  const SlotPlan* plan = nullptr;    // of kernels that take hashes: of their variable,
  const uint64_t* hashes = nullptr;  // and of its key, of each packet
  uint8_t* const* regions = nullptr;
  const uint64_t* roles;      // by hops
  bool has_same_hops;         // all packets
  bool has_same_time;         // all packets, that of the first one
  uint64_t same_fields;       // bit per field: all packets have the same value
  uint64_t* views = nullptr;  // by packet: the viewed variable (compiled_program.h)
  uint32_t view_bytes = 0;    // from the view of a packet to that of the next; 0: one for all
  uint32_t* marks = nullptr;  // as in RunContext
  ProgramState* state = nullptr;
  uint32_t count;       // of the burst
  uint32_t all;         // a bit for each
  uint32_t chosen = 0;  // those that take the operator

  // ns, of packet `number`.
  uint64_t NowOf(size_t number) const { return packets[has_same_time ? 0 : number].now; }
};
static_assert(kMaxMeasureBurst <= 32, "a bit for each packet");

// Calls `work` with the number of each packet of `chosen`.
template <typename Work>
void ForEachBit(uint32_t chosen, const Work& work) {
  for (; chosen != 0; chosen &= chosen - 1) work(static_cast<uint32_t>(__builtin_ctz(chosen)));
}
template <typename Work>
void ForChosen(const BurstContext& context, const Work& work) {
  if (context.chosen != context.all) return ForEachBit(context.chosen, work);
  const uint32_t count = context.count;
  for (uint32_t i = 0; i < count; ++i) work(i);
}

// A guard takes packets out of `chosen`; anything else leaves it alone.
using BurstKernel = void (*)(const Operator& op, BurstContext* context);

// Does its work for the chosen packets up to the first one that passes as a guard: the number of
// that one, or kMaxMeasureBurst.
using StopKernel = uint32_t (*)(const Operator& op, const BurstContext& context);

// What a burst kernel does with slots; there may be one that takes hashes instead.
enum class SlotUse : uint8_t {
  kNone,
  kAddScalar,  // none: it fills the views
  kStore,      // there is none
  kSetPair,    // likewise; its operands may be cells, too
  kAddConstant,
  kAddField,
  kBitmap,
  kRegister,
  kFilter,
  kNotFilter,
  kMatchCell,
  kStampOrSince,
  kAddConstantAndMatch,
  kAddFieldAndMatch,
};

constexpr bool UsesSlots(SlotUse use) { return use > SlotUse::kAddScalar; }

// Both do the same; without a burst kernel packets go through the program one by one.
struct KernelPair {
  KernelPair(Kernel one, BurstKernel all = nullptr, SlotUse use = SlotUse::kNone)
      : one(one), all(all), use(use) {}
  Kernel one;
  BurstKernel all;
  SlotUse use;
};

// `low` to `low` + `span`, or all other numbers: what a comparison with a constant holds for.
struct NumberRange {
  uint64_t low = 0;
  uint64_t span = 0;
  bool is_outside = false;

  bool Has(uint64_t number) const { return (number - low <= span) != is_outside; }
};

// Which members count depends on the kernel.
struct Operator {
  void Use(const KernelPair& pair) {
    kernel = pair.one;
    burst_kernel = pair.all;
    slot_use = pair.use;
  }

  Kernel kernel = nullptr;
  BurstKernel burst_kernel = nullptr;
  uint32_t skip = 1;  // where to go on when the packet does not: so many operators further
  uint32_t slot = 0;  // the first one; of a scalar: its byte offset in the region
  uint32_t base = 0;  // bytes in the region that slots count from
  uint16_t rows = 1;  // slots
  uint16_t region = 0;
  uint16_t field = 0;
  uint8_t log2 = 0;            // of the bytes of a cell
  bool is_shared = false;      // other threads write the cells, too
  bool is_viewed = false;      // of the viewed variable
  bool is_tag = false;         // writes a field
  bool makes_present = false;  // and packets that lack it have it then
  SlotUse slot_use = SlotUse::kNone;
  uint32_t expression = 0;  // first step in CompiledProgram::steps
  uint32_t target = 0;      // stream, endpoint, window, key, flag, depth or variable
  uint64_t mask = 0;        // of the cell or field
  uint64_t constant = 0;
  NumberRange range;  // of guards: of what they let pass
};

// Where the slots of an operator count from.
inline uint8_t* CellsOf(const Operator& op, uint8_t* const* regions) {
  return regions[op.region] + op.base;
}

// What frequent kernels end with instead of returning the operator: the call to the next one is the
// last thing they do, so it is a jump where compilers optimize, and no deeper than the program is
// long where they do not.
inline const Operator* GoOn(const Operator* op, RunContext* context) {
  return op->kernel(op, context);
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_OPERATORS_H
