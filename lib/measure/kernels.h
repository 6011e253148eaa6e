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

#include "lib/measure/operators.h"

namespace trumpet {

// What is added to cells, or compared.
enum class OperandKind : uint8_t { kConstant, kField, kExpression };

// -- The way of a packet --

const Operator* EndProgram(const Operator* op, RunContext* context);
// Skips unless the packet has a role of `mask`, was not collected, and no window of `constant` is
// clearing; nor window `target` (if it is not UINT32_MAX), which then looks at the packet.
const Operator* EnterTask(const Operator* op, RunContext* context);
// The same without a window of its own, and for a burst without any.
const Operator* EnterTaskWithoutWindow(const Operator* op, RunContext* context);
void EnterTaskByRole(const Operator& op, BurstContext* context);
void EnterTaskAlways(const Operator& op, BurstContext* context);
const Operator* Jump(const Operator* op, RunContext* context);
const Operator* RaiseFlag(const Operator* op, RunContext* context);
const Operator* LowerFlag(const Operator* op, RunContext* context);
const Operator* SkipUnlessFlag(const Operator* op, RunContext* context);
// Computes the slots of key `target` from the headers as they are now.
const Operator* LoadKey(const Operator* op, RunContext* context);
const Operator* DuplicatePacket(const Operator* op, RunContext* context);
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
// (field & mask) `compare` constant
KernelPair MatchFieldKernel(MeasureOp compare);
// The cell at the first slot, or a scalar, `compare` constant.
Kernel MatchCellKernel(MeasureOp compare, bool is_scalar);
// All `rows` cells of a membership filter are set, or not all of them.
Kernel MatchFilterKernel(bool is_negated, uint16_t rows);
// For a burst, of a kernel above or below; null: there is none.  `hashed`: one that takes hashes
// instead of the slots of this plan.
SplitKernel SplitKernelOf(Kernel guard, const SlotPlan* hashed = nullptr);
StopKernel StopKernelOf(Kernel guard, const SlotPlan* hashed = nullptr);
// Least of the `rows` cells of 32 bits over a scalar of 32 bits (in region `field` at `target`)
// above constant / mask.
const Operator* MatchLeastRatio(const Operator* op, RunContext* context);
// Adds field `expression` to the four cells first, which nobody else writes.
const Operator* AddAndMatchLeastRatio(const Operator* op, RunContext* context);

// -- Writes --

Kernel TagKernel(bool is_logged);
// Whether `kernel` adds a field to four cells of 32 bits of one thread, unlogged.
bool AddsFieldToFourCells(Kernel kernel);
// Cells, or a scalar, += operand modulo `mask` + 1; committed as a sum if `adds`, else as a value.
KernelPair AddKernel(OperandKind operand, const Operator& op, bool is_scalar, bool adds,
                     bool is_logged);
// Each cell = expression, where the cell is what kWrittenCell reads.
Kernel SetKernel(bool is_scalar, bool is_logged);
// Each cell = constant.
Kernel FillKernel(bool is_scalar, bool is_logged);
Kernel StampKernel(bool is_scalar, bool is_logged);
// Cells `slot` to `slot` + rows of a filter = bits of the expression.
Kernel InitFilterKernel(bool is_logged);
// Makes the key the owner of its slot in a map that evicts.
Kernel ClaimKernel(bool is_logged);
KernelPair BitmapKernel(uint8_t log2, bool is_logged);    // pcsa
KernelPair RegisterKernel(uint8_t log2, bool is_logged);  // hyperloglog
// What the burst kernel of an operator does, by hashes instead of slots; null: there is none.
BurstKernel HashedKernelOf(const Operator& op, const SlotPlan& plan);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_KERNELS_H
