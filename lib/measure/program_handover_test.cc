// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/program_handover.h"

#include <gtest/gtest.h>

#include <thread>

#include "lib/measure/program_loader.h"
#include "lib/measure/read_state.h"

namespace trumpet {
namespace {

constexpr uint32_t kThreads = 2;
constexpr int kChanges = 50;

enum : MeasureIndex { kTotal, kShared, kSketch };

MeasureVariable Variable(const char* name, MeasureKind kind, MeasureMerge merge) {
  MeasureVariable variable;
  variable.name = name;
  variable.kind = kind;
  variable.merge = merge;
  variable.bits = 64;
  return variable;
}

// pkts >> total.add(1) >> shared.add(1) >> sketch.add(1)
MeasureProgram CountingProgram() {
  MeasureProgram program;
  program.streams = {{"pkts"}, {"ctrl"}};
  program.keys.push_back({"key", kNoIndex, {kIpv4Src}, 4});
  program.variables = {Variable("total", MeasureKind::kCounter, MeasureMerge::kSum),
                       Variable("shared", MeasureKind::kCounter, MeasureMerge::kShared),
                       Variable("sketch", MeasureKind::kCountMin, MeasureMerge::kSum)};
  program.variables[kSketch].key = 0;
  program.variables[kSketch].hashes = 4;
  program.variables[kSketch].size = 64;
  MeasureExpr one;
  one.value = 1;
  program.exprs = {one};
  MeasureNode seq;
  for (const MeasureIndex variable : {kTotal, kShared, kSketch}) {
    MeasureNode add;
    add.kind = MeasureNodeKind::kUpdate;
    add.update = MeasureUpdate::kAdd;
    add.target = variable;
    add.expr = 0;
    program.nodes.push_back(add);
    seq.children.push_back(variable);
  }
  program.nodes.push_back(seq);
  MeasureTask task;
  task.root = 3;
  program.tasks = {task};
  return program;
}

// A program with a state for each thread.
class Installed {
 public:
  explicit Installed(const CompiledProgram* program) {
    EXPECT_TRUE(cells_.Init(*program));
    for (auto& state : states_) state = ProgramState::Create(program, &cells_, {});
  }
  ProgramState* state(uint32_t thread) const { return states_[thread].get(); }
  uint64_t Read(MeasureIndex variable, size_t first, size_t count) const {
    const std::vector<uint64_t> cells = ReadVariable({state(0), state(1)}, variable, false);
    uint64_t sum = 0;
    for (size_t i = first; i < first + count; ++i) sum += cells[i];
    return sum;
  }

 private:
  SharedCells cells_;
  std::unique_ptr<ProgramState> states_[kThreads];
};

class PacketThread {
 public:
  void Start() {
    thread_ = std::thread([this] { Run(); });
  }
  // Packets that it has seen.
  uint64_t Stop() {
    is_stopped_.store(true);
    thread_.join();
    return packets_;
  }
  ProgramHandover handover;

 private:
  void Run() {
    PacketValues values[kMaxMeasureBurst];
    MeasuredPacket packets[kMaxMeasureBurst];
    for (uint32_t i = 0; i < kMaxMeasureBurst; ++i) {
      values[i].Set(kIpv4Src, i);
      packets[i].values = &values[i];
    }
    while (!is_stopped_.load(std::memory_order_relaxed)) {
      handover.Current()->Run(packets, kMaxMeasureBurst);
      packets_ += kMaxMeasureBurst;
      std::this_thread::yield();  // processors may be fewer than threads
    }
  }

  std::atomic<bool> is_stopped_{false};
  uint64_t packets_ = 0;
  std::thread thread_;
};

class Handover : public testing::Test {
 protected:
  void SetUp() override {
    MeasureLoadOptions options;
    options.thread_count = kThreads;
    auto loaded = LoadMeasureProgram(CountingProgram(), options);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    program_ = std::move(*loaded);
  }
  void OfferAll(const std::vector<const Installed*>& programs) {
    for (uint32_t thread = 0; thread < kThreads; ++thread) {
      std::vector<ProgramState*> states;
      for (const Installed* each : programs) states.push_back(each->state(thread));
      threads_[thread].handover.Offer(
          std::make_unique<ProgramSet>(states, std::vector<std::string>{}));
    }
  }
  void AwaitAll() {
    for (PacketThread& thread : threads_) {
      while (!thread.handover.IsSettled()) std::this_thread::yield();
    }
  }

  std::unique_ptr<const CompiledProgram> program_;
  PacketThread threads_[kThreads];
};

TEST_F(Handover, LosesNoPacketWhileProgramsComeAndGo) {
  const Installed stays(program_.get());
  OfferAll({&stays});
  for (PacketThread& thread : threads_) thread.Start();
  uint64_t last = 0;
  for (int change = 0; change < kChanges; ++change) {
    const auto guest = std::make_unique<Installed>(program_.get());
    OfferAll({&stays, guest.get()});
    AwaitAll();
    const uint64_t total = stays.Read(kTotal, 0, 1);  // while they run
    EXPECT_GE(total, last);
    last = total;
    OfferAll({&stays});
    AwaitAll();
  }
  uint64_t packets = 0;
  for (PacketThread& thread : threads_) packets += thread.Stop();
  EXPECT_GE(packets, uint64_t{kChanges} * kMaxMeasureBurst);
  EXPECT_EQ(stays.Read(kTotal, 0, 1), packets);
  EXPECT_EQ(stays.Read(kShared, 0, 1), packets);
  for (size_t row = 0; row < 4; ++row) EXPECT_EQ(stays.Read(kSketch, row * 64, 64), packets);
}

TEST_F(Handover, CountsTheLastOfSeveralOffers) {
  const Installed first(program_.get());
  const Installed second(program_.get());
  OfferAll({&first});
  OfferAll({&second});
  for (PacketThread& thread : threads_) thread.Start();
  AwaitAll();
  uint64_t packets = 0;
  for (PacketThread& thread : threads_) packets += thread.Stop();
  EXPECT_EQ(first.Read(kTotal, 0, 1), 0u);
  EXPECT_EQ(second.Read(kTotal, 0, 1), packets);
}

}  // namespace
}  // namespace trumpet
