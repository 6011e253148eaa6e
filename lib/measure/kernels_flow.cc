// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/cell.h"
#include "lib/measure/compiled_program.h"
#include "lib/measure/kernels.h"
#include "lib/measure/key_slots.h"
#include "lib/measure/program_state.h"

namespace trumpet {

const Operator* EndProgram(const Operator*, RunContext*) { return nullptr; }

const Operator* EnterTask(const Operator* op, RunContext* context) {
  const bool enters = (context->roles & op->mask) != 0 && !context->is_collected &&
                      (context->clearing & op->constant) == 0;
  return GoOn(enters ? op + 1 : op + op->skip, context);
}

void EnterTaskByRole(const Operator& op, BurstContext* context) {
  const auto plays = [&](uint32_t number) {
    return (context->roles[context->packets[number].hops] & op.mask) != 0;
  };
  if (context->has_same_hops) {
    if (!plays(0)) context->chosen = 0;
    return;
  }
  uint32_t kept = 0;
  ForChosen(*context, [&](uint32_t number) { kept |= uint32_t{plays(number)} << number; });
  context->chosen = kept;
}

void EnterTaskAlways(const Operator&, BurstContext*) {}

const Operator* LookAtWindow(const Operator* op, RunContext* context) {
  context->state->AdvanceWindow(op->target, context);
  return (context->clearing >> op->target & 1) != 0 ? op + op->skip : op + 1;
}

const Operator* LeaveStage(const Operator* op, RunContext* context) {
  context->arrivals[op->target] |= context->packet_bit;
  return nullptr;
}

const Operator* Jump(const Operator* op, RunContext* context) {
  return GoOn(op + op->skip, context);
}

const Operator* RaiseFlag(const Operator* op, RunContext* context) {
  context->flags |= uint64_t{1} << op->target;
  return op + 1;
}

const Operator* LowerFlag(const Operator* op, RunContext* context) {
  context->flags &= ~(uint64_t{1} << op->target);
  return op + 1;
}

const Operator* SkipUnlessFlag(const Operator* op, RunContext* context) {
  return (context->flags >> op->target & 1) != 0 ? op + 1 : op + op->skip;
}

const Operator* LoadKey(const Operator* op, RunContext* context) {
  const CompiledProgram& program = *context->program;
  PackedKey key;
  PackKey(program, op->target, *context->packet, &key);
  FillKeySlots(program, op->target, key, context->slots);
  return op + 1;
}

const Operator* DuplicatePacket(const Operator* op, RunContext* context) {
  if (context->frame != nullptr) ReadPlacedPacket(*context->frame, context->packet);
  context->state->PushCopy(op->target, *context->packet);
  return op + 1;
}

const Operator* MarkCopy(const Operator* op, RunContext* context) {
  context->marks[op->target] |= context->packet_bit;
  return GoOn(op + 1, context);
}

void MarkCopies(const Operator& op, BurstContext* context) {
  context->marks[op.target] |= context->chosen;
}

const Operator* CollectPacket(const Operator* op, RunContext* context) {
  context->state->Collect(op->target, *context);
  context->is_collected = true;
  return op + op->skip;
}

namespace {

void RedoTag(WriteLogEntry* entry, PacketValues* packet) {
  const uint64_t bit = uint64_t{1} << entry->field;
  entry->before = packet->value[entry->field];
  entry->was_present = (packet->present & bit) != 0;
  entry->was_tagged = (packet->tagged & bit) != 0;
  packet->value[entry->field] = entry->value;
  packet->present |= bit;
  packet->tagged |= bit;
}

void UndoTag(const WriteLogEntry& entry, PacketValues* packet) {
  const uint64_t bit = uint64_t{1} << entry.field;
  packet->value[entry.field] = entry.before;
  if (!entry.was_present) packet->present &= ~bit;
  if (!entry.was_tagged) packet->tagged &= ~bit;
}

// Writes what the entry says, and notes what was there.
void Redo(WriteLogEntry* entry, RunContext* context) {
  if (entry->kind == WriteKind::kTag) return RedoTag(entry, context->packet);
  entry->before = LoadCell(entry->cell, entry->log2);
  uint64_t after = entry->value;
  if (entry->kind == WriteKind::kAdd) after += entry->before;
  if (entry->kind == WriteKind::kClaim) {
    entry->owner_before = LoadCell<uint64_t>(entry->owner);
    if (entry->owner_before == entry->value) return;
    StoreCell<uint64_t>(entry->owner, entry->value);
    after = 0;
  }
  StoreCell(entry->cell, entry->log2, after & entry->mask);
}

void Undo(const WriteLogEntry& entry, RunContext* context) {
  if (entry.kind == WriteKind::kTag) return UndoTag(entry, context->packet);
  if (entry.kind == WriteKind::kClaim) StoreCell<uint64_t>(entry.owner, entry.owner_before);
  StoreCell(entry.cell, entry.log2, entry.before);
}

}  // namespace

const Operator* BeginFork(const Operator* op, RunContext* context) {
  context->state->log_marks()[2 * op->target] = context->log_count;
  return op + 1;
}

const Operator* BeginBranch(const Operator* op, RunContext* context) {
  context->state->log_marks()[2 * op->target + 1] = context->log_count;
  return op + 1;
}

const Operator* EndBranch(const Operator* op, RunContext* context) {
  const uint32_t first = context->state->log_marks()[2 * op->target + 1];
  for (uint32_t i = context->log_count; i > first; --i) Undo(context->log[i - 1], context);
  return op + 1;
}

const Operator* CommitFork(const Operator* op, RunContext* context) {
  const uint32_t first = context->state->log_marks()[2 * op->target];
  for (uint32_t i = first; i < context->log_count; ++i) Redo(&context->log[i], context);
  if (op->target == 0) context->log_count = 0;  // else the log of the fork around it
  return op + 1;
}

}  // namespace trumpet
