// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What kernels that write are made of.
//
// Threads: see RunContext.

#ifndef TRUMPET_LIB_MEASURE_KERNEL_PARTS_H
#define TRUMPET_LIB_MEASURE_KERNEL_PARTS_H

#include <cstdint>

#include "lib/measure/cell.h"
#include "lib/measure/compiled_program.h"
#include "lib/measure/expression.h"
#include "lib/measure/kernels.h"

namespace trumpet {

template <bool kScalar>
inline uint8_t* CellAt(const Operator& op, const RunContext& context, uint32_t row) {
  return CellsOf(op, context.regions) + (kScalar ? op.slot : context.slots[op.slot + row]);
}

inline WriteLogEntry* Note(RunContext* context, WriteKind kind, uint64_t mask, uint64_t value) {
  WriteLogEntry* entry = &context->log[context->log_count++];  // the loader has counted them
  *entry = {};
  entry->kind = kind;
  entry->mask = mask;
  entry->value = value;
  return entry;
}

inline void NoteCell(RunContext* context, WriteKind kind, uint8_t* cell, uint8_t log2,
                     uint64_t mask, uint64_t value) {
  WriteLogEntry* entry = Note(context, kind, mask, value);
  entry->cell = cell;
  entry->log2 = log2;
  entry->before = LoadCell(cell, log2);
}

template <bool kLogged>
inline void Assign(RunContext* context, uint8_t* cell, uint8_t log2, uint64_t mask,
                   uint64_t value) {
  if constexpr (kLogged) {
    NoteCell(context, WriteKind::kAssign, cell, log2, mask, value & mask);
  }
  StoreCell(cell, log2, value & mask);
}

template <OperandKind kOperand>
inline uint64_t OperandOf(const Operator& op, RunContext* context) {
  if constexpr (kOperand == OperandKind::kConstant) return op.constant;
  if constexpr (kOperand == OperandKind::kField) return context->packet->value[op.field];
  return EvaluateShort(&context->program->steps[op.expression], context);
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_KERNEL_PARTS_H
