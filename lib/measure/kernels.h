// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Kernels: the native code of operators; the loader picks them.
//
// A kernel that writes comes in two forms: inside a fork that must look atomic it notes each write
// in the log (`is_logged`), otherwise it just writes.
//
// Threads: see RunContext.

#ifndef TRUMPET_LIB_MEASURE_KERNELS_H
#define TRUMPET_LIB_MEASURE_KERNELS_H

#include "lib/measure/expression.h"
#include "lib/measure/operators.h"

namespace trumpet {

// What is added to cells, or compared.
enum class OperandKind : uint8_t { kConstant, kField, kExpression };

// -- The way of a packet --

const Operator* EndProgram(const Operator* op, RunContext* context);
// Skips unless the packet has a role of `mask`, was not collected, and no window of `constant` is
// clearing.
const Operator* EnterTask(const Operator* op, RunContext* context);
// The same for a burst with which no window has anything to do.
void EnterTaskByRole(const Operator& op, BurstContext* context);
void EnterTaskAlways(const Operator& op, BurstContext* context);
// Lets window `target` look at the packet, and skips if it is clearing.
const Operator* LookAtWindow(const Operator* op, RunContext* context);
// The end of a stage of a burst: goes on at stage `target`.
const Operator* LeaveStage(const Operator* op, RunContext* context);
const Operator* Jump(const Operator* op, RunContext* context);
const Operator* RaiseFlag(const Operator* op, RunContext* context);
const Operator* LowerFlag(const Operator* op, RunContext* context);
const Operator* SkipUnlessFlag(const Operator* op, RunContext* context);
// Computes the slots of key `target` from the headers as they are now.
const Operator* LoadKey(const Operator* op, RunContext* context);
const Operator* DuplicatePacket(const Operator* op, RunContext* context);
// Notes that the packet leaves copy `target` of CompiledProgram::burst_copies.
const Operator* MarkCopy(const Operator* op, RunContext* context);
void MarkCopies(const Operator& op, BurstContext* context);
const Operator* CollectPacket(const Operator* op, RunContext* context);

// -- Forks whose branches must see the state at the fork; `target` is the depth --

const Operator* BeginFork(const Operator* op, RunContext* context);
const Operator* BeginBranch(const Operator* op, RunContext* context);
// Takes back what the branch has written.
const Operator* EndBranch(const Operator* op, RunContext* context);
// Does all writes of all branches again, in order.
const Operator* CommitFork(const Operator* op, RunContext* context);

// -- Guards: skip if false --

const Operator* MatchExpression(const Operator* op, RunContext* context);
// field & mask is in the range; the cell at the slot; a scalar.
KernelPair MatchFieldKernel();
KernelPair MatchCellKernel(uint8_t log2);
Kernel MatchScalarKernel();
// A random number from `constant` to below `mask` is.
KernelPair MatchRandomKernel();
// All `rows` cells of a membership filter are set, or not all of them.
KernelPair MatchFilterKernel(bool is_negated, uint16_t rows);
// By hashes, of a guard that matches a cell or a filter; null: there is none.
BurstKernel HashedGuardOf(const Operator& op, const SlotPlan& plan);
// For a burst, of a kernel below; null: there is none.  `hashed`: one that takes hashes instead of
// the slots of this plan.
StopKernel StopKernelOf(Kernel guard, const SlotPlan* hashed = nullptr);
// Least of the `rows` cells of 32 bits over a scalar of 32 bits (in region `field` at `target`)
// above constant / mask.
const Operator* MatchLeastRatio(const Operator* op, RunContext* context);
// Adds field `expression` to the four cells first, which nobody else writes.
const Operator* AddAndMatchLeastRatio(const Operator* op, RunContext* context);

// -- Writes --

// Field = operand: `constant`, field `target` or an expression.
KernelPair TagKernel(OperandKind operand, bool is_logged);
// Whether `kernel` adds a field to four cells of 32 bits of one thread, unlogged.
bool AddsFieldToFourCells(Kernel kernel);
// Cells, or a scalar, += operand modulo `mask` + 1; committed as a sum if `adds`, else as a value.
KernelPair AddKernel(OperandKind operand, const Operator& op, bool is_scalar, bool adds,
                     bool is_logged);
// Whether both add to one cell each, of maps that have the same slots; then a kernel for a burst
// that is shown `first` does what the operator behind it does, too.  By the hash if its slots are
// `hashed`; null: there is none.
bool AddToSameCells(const Operator& first, const Operator& second);
BurstKernel AddTwoKernel(const Operator& first, const SlotPlan* hashed);
// Each cell = expression, where the cell is what kWrittenCell reads; its steps begin at `first`.
KernelPair SetKernel(const Operator& op, const ExpressionStep* first, bool is_scalar,
                     bool is_logged);
// Each cell = constant, which fits it.
KernelPair FillKernel(const Operator& op, bool is_scalar, bool is_logged);
KernelPair StampKernel(bool is_scalar, bool is_logged);
// The time of the packet to a cell of 64 bits while it is 0.  Later packets stamp the scalar of 64
// bits in region `field` at `target`, and leave the time since then in the cell of the same slot
// that counts from `expression`.
KernelPair StampOrSinceKernel();
BurstKernel HashedStampOrSince(const SlotPlan& plan);
// Cells `slot` to `slot` + rows of a filter = bits of the operand.
Kernel InitFilterKernel(OperandKind operand, bool is_logged);
// Sets filter cells, `constant` of them from `expression` on, from field `target`, puts the key in,
// tags `field` with the filter, and takes the key out again.
KernelPair CarryFilterKernel();
// What `add`, an operator that adds to one cell of a map, and a guard on that cell do as one; none
// (its `one` is null) if there is no such kernel.
KernelPair AddAndMatchKernel(const Operator& add);
// Makes the key the owner of its slot in a map that evicts.
Kernel ClaimKernel(bool is_logged);
KernelPair BitmapKernel(uint8_t log2, bool is_logged);    // pcsa
KernelPair RegisterKernel(uint8_t log2, bool is_logged);  // hyperloglog
// What the burst kernel of an operator does, by hashes instead of slots; null: there is none.
BurstKernel HashedKernelOf(const Operator& op, const SlotPlan& plan);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_KERNELS_H
