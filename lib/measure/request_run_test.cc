// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/request_run.h"

#include <gtest/gtest.h>

#include <random>

#include "lib/measure/program_loader.h"
#include "lib/measure/program_set.h"
#include "lib/measure/request_frame.h"
#include "lib/measure/test_programs.h"

namespace trumpet {
namespace {

// TestProgram(), and: ctrl >> match(pkt.request == 7) >> duplicate(asked);
// asked >> tag(pkt.hh_volume, hits.min()) >> collect(C)
MeasureProgram AskedProgram() {
  MeasureProgram program = TestProgram();
  const auto add_expr = [&program](const MeasureExpr& expr) {
    program.exprs.push_back(expr);
    return static_cast<MeasureIndex>(program.exprs.size() - 1);
  };
  const auto add_node = [&program](const MeasureNode& node) {
    program.nodes.push_back(node);
    return static_cast<MeasureIndex>(program.nodes.size() - 1);
  };
  MeasureExpr request;
  request.kind = MeasureExprKind::kField;
  request.field = kPktRequest;
  MeasureExpr is_volume;
  is_volume.kind = MeasureExprKind::kBinary;
  is_volume.op = MeasureOp::kEqual;
  is_volume.a = add_expr(request);
  is_volume.b = add_expr(TestConstant(7));
  MeasureNode match;
  match.kind = MeasureNodeKind::kMatch;
  match.expr = add_expr(is_volume);
  MeasureNode duplicate;
  duplicate.kind = MeasureNodeKind::kDuplicate;
  duplicate.target = 3;
  MeasureNode asking;
  asking.children = {add_node(match), add_node(duplicate)};
  MeasureNode tag;
  tag.kind = MeasureNodeKind::kTag;
  tag.field = kPktHhVolume;
  tag.expr = 3;  // hits.min()
  MeasureNode collect;
  collect.kind = MeasureNodeKind::kCollect;
  collect.target = 0;
  MeasureNode answering;
  answering.children = {add_node(tag), add_node(collect)};
  program.streams.push_back({"asked"});
  MeasureTask ask;
  ask.stream = kCtrlStream;
  ask.root = add_node(asking);
  MeasureTask answer;
  answer.stream = 3;
  answer.root = add_node(answering);
  program.tasks.push_back(ask);
  program.tasks.push_back(answer);
  return program;
}

// Two packet threads.
class RequestRunTest : public ::testing::Test {
 protected:
  void Load(const MeasureProgram& source) {
    auto loaded = LoadMeasureProgram(source, MeasureLoadOptions());
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    program_ = std::move(*loaded);
    for (auto& state : states_) {
      state = ProgramState::Create(program_.get(), nullptr, ProgramState::Options());
    }
  }
  void Pass(size_t thread, uint64_t host, int count) {
    ProgramSet set({states_[thread].get()}, {});
    for (int i = 0; i < count; ++i) {
      PacketValues values = KeyOf(host);
      MeasuredPacket packet = {&values, 1, kPktsStream, 0};
      set.Run(&packet, 1);
    }
  }
  static PacketValues KeyOf(uint64_t host) {
    PacketValues values;
    values.Set(kIpv4Src, host);
    values.Set(kIpv4Dst, 1);
    return values;
  }
  auto Ask(uint64_t host, uint64_t request) {
    PacketValues values = KeyOf(host);
    values.Set(kPktRequest, request);
    return RunRequest({states_[0].get(), states_[1].get()}, values, 17);
  }

  std::unique_ptr<const CompiledProgram> program_;
  std::unique_ptr<ProgramState> states_[2];
};

TEST_F(RequestRunTest, AnswersOfAllThreadsTogetherAndChangesNothing) {
  Load(AskedProgram());
  Pass(0, 10, 5);
  Pass(1, 10, 9);
  Pass(1, 11, 1);
  for (int round = 0; round < 2; ++round) {
    const auto copies = Ask(10, 7);
    ASSERT_TRUE(copies.ok()) << copies.message();
    ASSERT_EQ(copies->size(), 1u);
    EXPECT_EQ((*copies)[0].now, 17u);
    EXPECT_EQ((*copies)[0].values.back(), 14u) << "pkt.hh_volume is the last field there";
  }
  EXPECT_TRUE(Ask(10, 8)->empty()) << "the program answers to another request";
  EXPECT_EQ(Ask(12, 7)->front().values.back(), 0u);
}

TEST_F(RequestRunTest, RefusesWhatItCannotDo) {
  Load(TestProgram());
  EXPECT_EQ(Ask(10, 7).message(), "the program has no task of ctrl");
  MeasureProgram writing = TestProgram();
  writing.tasks[0].stream = kCtrlStream;
  Load(writing);
  EXPECT_EQ(Ask(10, 7).message(), "tasks of ctrl change hits; here they only read");
  MeasureProgram large = AskedProgram();
  large.variables[0].size = 1 << 19;
  Load(large);
  EXPECT_EQ(Ask(10, 7).message(),
            "tasks of ctrl read 2097152 cells; at most 1048576 are copied for a request");
}

TEST(RequestFrame, IsReadAsItWasWritten) {
  const RequestFrame request{"hh", {{"pkt.request", 7}, {"ipv4.src", 0xffffffffffffffff}}};
  const std::string frame = WriteRequestFrame(request);
  const auto* bytes = reinterpret_cast<const uint8_t*>(frame.data());
  ASSERT_GE(frame.size(), 60u);
  EXPECT_TRUE(IsRequestFrame(bytes, frame.size()));
  const auto read = ReadRequestFrame(bytes, frame.size());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->program, request.program);
  EXPECT_EQ(read->fields, request.fields);
  for (size_t cut = 0; cut < 50; ++cut) {
    EXPECT_FALSE(ReadRequestFrame(bytes, cut).has_value()) << cut;
  }
  EXPECT_EQ(WriteRequestFrame({std::string(256, 'x'), {}}), "");
  EXPECT_EQ(WriteRequestFrame({"x", std::vector<std::pair<std::string, uint64_t>>(65)}), "");
}

// Whatever the bytes are, what is read is what a frame of it would be.
TEST(RequestFrame, TakesAnyBytes) {
  std::mt19937_64 random(20261123);
  const std::string sound = WriteRequestFrame({"hh", {{"pkt.request", 7}, {"ipv4.src", 1}}});
  int read_count = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> bytes(sound.begin(), sound.end());
    for (uint64_t left = random() % 4; left > 0; --left) {
      bytes[18 + random() % (bytes.size() - 18)] = static_cast<uint8_t>(random());
    }
    bytes.resize(random() % (bytes.size() + 1));
    const auto read = ReadRequestFrame(bytes.data(), bytes.size());
    if (!read) continue;
    ++read_count;
    const std::string again = WriteRequestFrame(*read);
    const auto* frame = reinterpret_cast<const uint8_t*>(again.data());
    const auto twice = ReadRequestFrame(frame, again.size());
    ASSERT_TRUE(twice.has_value()) << "round " << round;
    ASSERT_EQ(twice->fields, read->fields) << "round " << round;
  }
  EXPECT_GT(read_count, 100);
}

}  // namespace
}  // namespace trumpet
