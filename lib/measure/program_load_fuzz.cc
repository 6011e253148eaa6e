// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Programs made of any bytes: what the loader takes runs within its arena, and within its cost.

#include <cstring>
#include <memory>

#include "lib/measure/program_loader.h"
#include "lib/measure/program_set.h"
#include "lib/measure/test_programs.h"

namespace trumpet {
namespace {

constexpr uint64_t kMaxBytes = 1 << 20;

class ByteSource {
 public:
  ByteSource(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  bool is_empty() const { return size_ == 0; }
  // 0 when nothing is left.
  uint64_t Take(size_t bytes) {
    uint64_t value = 0;
    const size_t count = bytes < size_ ? bytes : size_;
    if (count != 0) std::memcpy(&value, data_, count);
    data_ += count;
    size_ -= count;
    return value;
  }
  // Often small, sometimes anything.
  uint32_t Index() {
    const uint64_t byte = Take(1);
    return byte < 250    ? static_cast<uint32_t>(byte % 24)
           : byte == 255 ? kNoIndex
                         : static_cast<uint32_t>(Take(4));
  }

 private:
  const uint8_t* data_;
  size_t size_;
};

MeasureVariable TakeVariable(ByteSource* source) {
  MeasureVariable variable;
  variable.kind = static_cast<MeasureKind>(source->Take(1) % 11);
  variable.merge = static_cast<MeasureMerge>(source->Take(1) % 6);
  variable.evicts = source->Take(1) % 4 == 0;
  variable.bits = static_cast<uint8_t>(source->Take(1) % 66);
  variable.hashes = static_cast<uint32_t>(source->Take(1) % 18);
  variable.size = uint64_t{1} << source->Take(1) % 12;
  if (source->Take(1) == 0) variable.size = source->Take(8);
  if (variable.kind <= MeasureKind::kTimestamp) variable.size = 1;
  if (variable.kind == MeasureKind::kBloomMembership) variable.bits = 1;
  if (variable.kind > MeasureKind::kTimestamp) variable.key = source->Index();
  variable.window = source->Take(1) % 2 == 0 ? kNoIndex : 0;
  return variable;
}

MeasureExpr TakeExpr(ByteSource* source) {
  MeasureExpr expr;
  expr.kind = static_cast<MeasureExprKind>(source->Take(1) % 13);
  expr.op = static_cast<MeasureOp>(source->Take(1) % 22);
  expr.aggregate = static_cast<MeasureAggregate>(source->Take(1) % 8);
  expr.field = static_cast<MeasureFieldId>(source->Index());
  expr.variable = source->Index();
  expr.a = source->Index();
  expr.b = source->Index();
  expr.value = source->Take(2);
  expr.denominator = source->Take(1);
  return expr;
}

MeasureNode TakeNode(ByteSource* source) {
  MeasureNode node;
  node.kind = static_cast<MeasureNodeKind>(source->Take(1) % 9);
  node.update = static_cast<MeasureUpdate>(source->Take(1) % 7);
  node.field = static_cast<MeasureFieldId>(source->Index());
  node.target = source->Index();
  node.expr = source->Index();
  if (node.kind <= MeasureNodeKind::kPar) {
    for (uint64_t i = source->Take(1) % 4; i > 0; --i) node.children.push_back(source->Index());
    node.expr = kNoIndex;
  }
  return node;
}

// Adds to a program that is sound, so that much of it passes.
MeasureProgram TakeProgram(ByteSource* source) {
  MeasureProgram program = TestProgram();
  program.roles.push_back({"first_hop", MeasureRoleKind::kFirstHop});
  MeasureWindow window;
  window.duration = static_cast<Nanos>(source->Take(2));
  window.quantum = static_cast<uint32_t>(source->Take(1));
  window.mode = static_cast<MeasureWindowMode>(source->Take(1) % 2);
  while (!source->is_empty()) {
    switch (source->Take(1) % 5) {
      case 0:
        program.variables.push_back(TakeVariable(source));
        if (program.variables.back().window == 0) {
          window.variables.push_back(static_cast<MeasureIndex>(program.variables.size() - 1));
        }
        break;
      case 1:
        program.exprs.push_back(TakeExpr(source));
        break;
      case 2:
        program.nodes.push_back(TakeNode(source));
        break;
      case 3: {
        MeasureTask task;
        task.stream = source->Index() % 4;
        task.root = source->Index();
        task.role = source->Take(1) % 4 == 0 ? 0 : kNoIndex;
        program.tasks.push_back(task);
        break;
      }
      default:
        program.keys.push_back({"", kNoIndex, {static_cast<MeasureFieldId>(source->Index())}, 0});
    }
  }
  if (!window.variables.empty()) program.windows.push_back(window);
  return program;
}

void RunPackets(const CompiledProgram& program) {
  SharedCells shared;
  if (!shared.Init(program)) return;
  const auto state = ProgramState::Create(&program, &shared, {});
  if (state == nullptr) return;
  ProgramSet set({state.get()}, {});
  for (uint64_t burst = 0; burst < 4; ++burst) {
    PacketValues values[kMaxMeasureBurst];
    MeasuredPacket packets[kMaxMeasureBurst];
    for (uint32_t i = 0; i < kMaxMeasureBurst; ++i) {
      values[i].Set(kIpv4Src, i * burst);
      values[i].Set(kPktSize, 64 + i);
      packets[i].values = &values[i];
      packets[i].now = (burst * kMaxMeasureBurst + i) * 1000;
      packets[i].stream = i % 8 == 0 ? kCtrlStream : kPktsStream;
      packets[i].hops = static_cast<uint8_t>(i % 4);
    }
    set.Run(packets, kMaxMeasureBurst);
    CollectedPacket collected;
    while (state->ReadCollected(&collected)) {
    }
    state->ClearRetired();
  }
}

}  // namespace
}  // namespace trumpet

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trumpet;
  ByteSource source(data, size);
  MeasureLoadOptions options;
  options.thread_count = 1 + static_cast<uint32_t>(source.Take(1) % 2);
  options.family =
      source.Take(1) % 2 == 0 ? MeasureHashFamily::kFast : MeasureHashFamily::kReference;
  options.budget = {4096, 256, 4096, kMaxBytes};
  const auto program = LoadMeasureProgram(TakeProgram(&source), options);
  if (program.ok()) RunPackets(**program);
  return 0;
}
