// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/read_state.h"

#include <gtest/gtest.h>

#include <memory>

#include "lib/measure/program_loader.h"
#include "lib/measure/program_set.h"
#include "lib/measure/test_programs.h"

namespace trumpet {
namespace {

PacketValues PacketOf(uint64_t source) {
  PacketValues packet;
  packet.Set(kIpv4Src, source);
  packet.Set(kIpv4Dst, 7);
  return packet;
}

// A program on several threads.
class Threads {
 public:
  Threads(const MeasureProgram& program, size_t count) {
    MeasureLoadOptions options;
    options.seed = 99;
    options.thread_count = static_cast<uint32_t>(count);
    program_ = std::move(*LoadMeasureProgram(program, options));
    if (!shared_.Init(*program_)) std::abort();
    for (size_t i = 0; i < count; ++i) {
      owned_.push_back(ProgramState::Create(program_.get(), &shared_, {}));
      sets_.push_back(std::make_unique<ProgramSet>(std::vector<ProgramState*>{owned_[i].get()},
                                                   std::vector<std::string>{}));
      states.push_back(owned_[i].get());
    }
  }

  void Bring(size_t thread, uint64_t source, int times = 1) {
    for (int i = 0; i < times; ++i) {
      PacketValues values = PacketOf(source);
      MeasuredPacket packet;
      packet.values = &values;
      packet.now = 1;
      sets_[thread]->Run(&packet, 1);
    }
  }

  std::vector<const ProgramState*> states;

 private:
  std::unique_ptr<const CompiledProgram> program_;
  SharedCells shared_;
  std::vector<std::unique_ptr<ProgramState>> owned_;
  std::vector<std::unique_ptr<ProgramSet>> sets_;
};

TEST(ReadState, FindsTheCellsOfAKeyOverAllThreads) {
  Threads threads(TestProgram(), 3);
  threads.Bring(0, 1, 5);
  threads.Bring(2, 1, 4);
  EXPECT_EQ(ReadKeyCells(threads.states, 0, PacketOf(1)), (std::vector<uint64_t>{9, 9, 9, 9}));
  const std::vector<uint64_t> all = ReadVariable(threads.states, 0);
  ASSERT_EQ(all.size(), 4 * 64u);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < all.size(); ++i) {
    sum += all[i];
    EXPECT_EQ(ReadMergedCell(threads.states, 0, i), all[i]);
  }
  EXPECT_EQ(sum, 4 * 9u);
  for (const uint32_t cell : CellsOfKey(threads.states[0]->program(), 0, PacketOf(1))) {
    EXPECT_EQ(all[cell], 9u) << cell;
  }
}

TEST(ReadState, WhatThreadsShareIsReadOnce) {
  MeasureProgram program = TestProgram();
  program.variables[0].merge = MeasureMerge::kShared;
  Threads threads(program, 2);
  threads.Bring(0, 1, 5);
  threads.Bring(1, 1, 4);
  EXPECT_EQ(ReadKeyCells(threads.states, 0, PacketOf(1)), (std::vector<uint64_t>{9, 9, 9, 9}));
}

// pkts >> last.set(last + 1), in one slot for all keys
MeasureProgram EvictingProgram() {
  MeasureProgram program;
  program.streams = {{"pkts"}, {"ctrl"}};
  program.keys.push_back({"key", kNoIndex, {kIpv4Src, kIpv4Dst}, 8});
  MeasureVariable last;
  last.name = "last";
  last.kind = MeasureKind::kCounterMap;
  last.evicts = true;
  last.key = 0;
  program.variables.push_back(last);
  MeasureExpr cell;
  cell.kind = MeasureExprKind::kWrittenCell;
  MeasureExpr sum;
  sum.kind = MeasureExprKind::kBinary;
  sum.a = 0;
  sum.b = 1;
  program.exprs = {cell, TestConstant(1), sum};
  MeasureNode set;
  set.kind = MeasureNodeKind::kUpdate;
  set.target = 0;
  set.expr = 2;
  program.nodes = {set};
  program.tasks.emplace_back();
  return program;
}

TEST(ReadState, ASlotThatBelongsToAnotherKeyHoldsNothingOfThisOne) {
  Threads threads(EvictingProgram(), 2);
  threads.Bring(0, 1, 5);
  threads.Bring(1, 2, 3);
  EXPECT_EQ(ReadKeyCells(threads.states, 0, PacketOf(1)), (std::vector<uint64_t>{5}));
  EXPECT_EQ(ReadKeyCells(threads.states, 0, PacketOf(2)), (std::vector<uint64_t>{3}));
  EXPECT_EQ(ReadKeyCells(threads.states, 0, PacketOf(3)), (std::vector<uint64_t>{0}));
  threads.Bring(1, 1, 1);  // evicts 2
  EXPECT_EQ(ReadKeyCells(threads.states, 0, PacketOf(1)), (std::vector<uint64_t>{6}));
  EXPECT_EQ(ReadKeyCells(threads.states, 0, PacketOf(2)), (std::vector<uint64_t>{0}));
}

}  // namespace
}  // namespace trumpet
