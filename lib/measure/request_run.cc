// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/request_run.h"

#include <memory>
#include <string>
#include <utility>

#include "lib/measure/access_sets.h"
#include "lib/measure/program_set.h"
#include "lib/measure/read_state.h"

namespace trumpet {
namespace {

constexpr size_t kRingBytes = 1 << 17;  // for the largest copies of one packet

// Of tasks of `stream`, and of all streams that they copy to.
void AddStream(const MeasureProgram& program, MeasureIndex stream, std::vector<bool>* seen,
               StepAccess* access);

void AddCopiesOf(const MeasureProgram& program, MeasureIndex index, std::vector<bool>* seen,
                 StepAccess* access) {
  const MeasureNode& node = program.nodes[index];
  if (node.kind == MeasureNodeKind::kDuplicate) AddStream(program, node.target, seen, access);
  for (const MeasureIndex child : node.children) AddCopiesOf(program, child, seen, access);
}

void AddStream(const MeasureProgram& program, MeasureIndex stream, std::vector<bool>* seen,
               StepAccess* access) {
  if ((*seen)[stream]) return;
  (*seen)[stream] = true;
  for (const MeasureTask& task : program.tasks) {
    if (task.stream != stream) continue;
    const StepAccess of_task = AccessOf(program, task.root);
    access->reads.variables |= of_task.reads.variables;
    access->writes.variables |= of_task.writes.variables;
    AddCopiesOf(program, task.root, seen, access);
  }
}

Status CheckAccess(const MeasureProgram& program, const StepAccess& access) {
  uint64_t cells = 0;
  for (MeasureIndex i = 0; i < program.variables.size(); ++i) {
    const MeasureVariable& variable = program.variables[i];
    if (access.writes.variables[i]) {
      return Status::Error("tasks of ctrl change " + variable.name + "; here they only read");
    }
    if (access.reads.variables[i]) cells += variable.CellCount();
  }
  if (cells <= kMaxRequestCells) return Status::Ok();
  return Status::Error("tasks of ctrl read " + std::to_string(cells) + " cells; at most " +
                       std::to_string(kMaxRequestCells) + " are copied for a request");
}

void CopyCells(const std::vector<const ProgramState*>& states, const StepAccess& access,
               ProgramState* copy) {
  const MeasureProgram& program = copy->program().source;
  for (MeasureIndex i = 0; i < program.variables.size(); ++i) {
    if (!access.reads.variables[i]) continue;
    const uint32_t count = copy->program().variables[i].cell_count;
    for (uint32_t cell = 0; cell < count; ++cell) {
      copy->WriteCell(i, cell, ReadMergedCell(states, i, cell));
      // Maps that evict do not merge: all threads have the same one.
      if (program.variables[i].evicts) copy->WriteOwner(i, cell, states[0]->ReadOwner(i, cell));
    }
  }
}

}  // namespace

Result<std::vector<CollectedPacket>> RunRequest(const std::vector<const ProgramState*>& states,
                                                const PacketValues& request, uint64_t now) {
  const CompiledProgram& program = states[0]->program();
  if (program.entries[kCtrlStream] == CompiledProgram::kNoCode) {
    return Status::Error("the program has no task of ctrl");
  }
  StepAccess access;
  std::vector<bool> seen(program.source.streams.size());
  AddStream(program.source, kCtrlStream, &seen, &access);
  if (Status status = CheckAccess(program.source, access); !status.ok()) return status;
  SharedCells shared;
  ProgramState::Options options;
  options.ring_bytes = kRingBytes;
  options.random_seed = now;
  const auto copy =
      shared.Init(program) ? ProgramState::Create(&program, &shared, options) : nullptr;
  if (copy == nullptr) return Status::Error("the machine has no memory for a copy of the state");
  CopyCells(states, access, copy.get());
  PacketValues values = request;
  MeasuredPacket packet = {&values, now, kCtrlStream, kFirstHopBit | kLastHopBit};
  packet.has_all_fields = true;
  ProgramSet({copy.get()}, {}).Run(&packet, 1);
  std::vector<CollectedPacket> collected;
  for (CollectedPacket each; copy->ReadCollected(&each);) collected.push_back(each);
  return collected;
}

}  // namespace trumpet
