// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/state_question.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/measure/key_text.h"
#include "lib/measure/variable_reading.h"

namespace trumpet {
namespace {

// One variable of each kind, with a key of an address and a port where it has one.
MeasureProgram ProgramOfAllKinds() {
  MeasureProgram program;
  program.name = "all";
  MeasureKey key;
  key.name = "flow";
  key.fields = {kIpv4Src, kUdpDst};
  program.keys.push_back(key);
  for (const MeasureKind kind :
       {MeasureKind::kCounter, MeasureKind::kTimestamp, MeasureKind::kCounterMap,
        MeasureKind::kTimestampMap, MeasureKind::kBloomMembership, MeasureKind::kBloomCounting,
        MeasureKind::kCountMin, MeasureKind::kStore, MeasureKind::kPcsa,
        MeasureKind::kHyperLogLog}) {
    MeasureVariable variable;
    variable.name = MeasureKindName(kind);
    variable.kind = kind;
    const bool is_single = kind == MeasureKind::kCounter || kind == MeasureKind::kTimestamp;
    variable.key = is_single ? kNoIndex : MeasureIndex{0};
    variable.size = is_single ? 1 : 64;
    variable.hashes = kind == MeasureKind::kCountMin || kind == MeasureKind::kStore ? 4 : 1;
    program.variables.push_back(variable);
  }
  return program;
}

std::string ErrorOf(const std::string& state, const std::string& key) {
  const auto question = StateQuestionOf(ProgramOfAllKinds(), {"hh", state, key});
  return question.ok() ? "" : question.message();
}

TEST(StateQuestion, IsAboutAllCellsWhereTheseTellANumber) {
  for (const char* state : {"counter", "timestamp", "map", "timestamp map", "membership filter",
                            "counting filter", "pcsa", "hyperloglog"}) {
    EXPECT_EQ(ErrorOf(state, ""), "") << state;
  }
  EXPECT_EQ(ErrorOf("store", ""),
            "'store' is a store, which tells of one key at a time: 'store(\"KEY\")', KEY with "
            "values of ipv4.src,udp.dst");
  EXPECT_EQ(ErrorOf("none", "").substr(0, 58),
            "measurement 'hh' has no state 'none'; it has 'counter', 't");
}

TEST(StateQuestion, IsAboutOneKeyWhereCellsAreOfKeys) {
  for (const char* state :
       {"map", "timestamp map", "membership filter", "counting filter", "count-min", "store"}) {
    EXPECT_EQ(ErrorOf(state, "10.0.0.1,80"), "") << state;
    const auto question = StateQuestionOf(ProgramOfAllKinds(), {"hh", state, "0x0a000001,80"});
    ASSERT_TRUE(question.ok());
    EXPECT_EQ(question->key, (std::vector<uint64_t>{0x0a000001, 80}));
  }
  for (const char* state : {"counter", "timestamp", "pcsa", "hyperloglog"}) {
    EXPECT_EQ(ErrorOf(state, "10.0.0.1,80"),
              "'" + std::string(state) + "' is a " + state + ", which holds nothing of one key");
  }
}

TEST(StateQuestion, TakesKeysAsMeasureReadDoes) {
  EXPECT_EQ(ErrorOf("count-min", "10.0.0.1"),
            "the key is '10.0.0.1'; it takes values of ipv4.src,udp.dst");
  EXPECT_EQ(ErrorOf("count-min", "10.0.0.1,65536"),
            "udp.dst is '65536'; it takes a number of 16 bits");
}

TEST(StateQuestion, IsBoundedWhereAllCellsAreRead) {
  MeasureProgram program = ProgramOfAllKinds();
  program.variables[2].size = 65536;
  program.variables[6].size = 65536;
  EXPECT_EQ(ProblemOfQuestion(program, {2, {}}, false, 125), "");
  EXPECT_EQ(ProblemOfQuestion(program, {2, {}}, false, 124),
            "'map' has 65536 cells; an interval of 125ms is the least to read them in");
  EXPECT_EQ(ProblemOfQuestion(program, {6, {1, 2}}, false, 100), "") << "of a key there are four";
  program.variables[2].size = 65537;
  EXPECT_EQ(ProblemOfQuestion(program, {2, {}}, false, 60000),
            "'map' has 65537 cells; events read states of at most 65536");
}

TEST(StateQuestion, IsOfOneSwitchWhereCellsDoNotMerge) {
  MeasureProgram program = ProgramOfAllKinds();
  program.variables[7].merge = MeasureMerge::kShared;
  EXPECT_EQ(ProblemOfQuestion(program, {7, {1, 2}}, true, 100), "");
  EXPECT_EQ(ProblemOfQuestion(program, {7, {1, 2}}, false, 100),
            "'store' does not merge over hosts; events read it of a measurement of one host");
}

TEST(StateQuestion, IsAnsweredWithTheLeastOfTheCellsOfAKey) {
  const MeasureProgram program = ProgramOfAllKinds();
  const std::vector<uint64_t> cells = {9, 5, UINT64_MAX, 7};
  EXPECT_EQ(AnswerOf(program.variables[6], {6, {1, 2}}, cells), Number::Integer(5));
  EXPECT_EQ(AnswerOf(program.variables[6], {6, {1, 2}}, {UINT64_MAX}),
            Number::Integer(Int128{UINT64_MAX}));
  EXPECT_EQ(AnswerOf(program.variables[2], {2, {}}, {9, 0, 7}), Number::Integer(2));
}

}  // namespace
}  // namespace trumpet
