// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/state_question.h"

#include <optional>

#include "lib/measure/key_text.h"
#include "lib/measure/variable_reading.h"

namespace trumpet {
namespace {

std::string Quoted(const std::string& name) { return "'" + name.substr(0, 64) + "'"; }

// "; it has 'a', 'b'", shortened.
std::string StatesOf(const MeasureProgram& program) {
  constexpr size_t kMost = 16;
  std::string list;
  for (size_t i = 0; i < program.variables.size() && i < kMost; ++i) {
    list +=
        (i == 0 ? "; it has " : ", ") + Quoted(MeasureVariableLabel(program, program.variables[i]));
  }
  return program.variables.size() > kMost ? list + ", ..." : list;
}

std::string ProblemOfSize(const std::string& name, uint64_t cells, uint32_t interval_ms) {
  const std::string size = Quoted(name) + " has " + std::to_string(cells) + " cells; ";
  if (cells > kMaxStateCells) {
    return size + "events read states of at most " + std::to_string(kMaxStateCells);
  }
  constexpr uint64_t kMost = kMaxStateCellsPerSecond;
  if (cells * 1000 <= kMost * interval_ms) return "";
  return size + "an interval of " + std::to_string((cells * 1000 + kMost - 1) / kMost) +
         "ms is the least to read them in";
}

// Variables with a key, and those that are of one only.
Result<StateQuestion> KeyQuestionOf(const MeasureProgram& program, const MeasuredState& state,
                                    MeasureIndex index) {
  const MeasureVariable& variable = program.variables[index];
  if (variable.key == kNoIndex || CountsKeys(variable.kind)) {
    return Status::Error(Quoted(state.state) + " is a " + MeasureKindName(variable.kind) +
                         ", which holds nothing of one key");
  }
  const auto key = ReadMeasureKey(program, program.keys[variable.key], state.key);
  if (!key.ok()) return key.status();
  return StateQuestion{index, *key};
}

}  // namespace

Result<StateQuestion> StateQuestionOf(const MeasureProgram& program, const MeasuredState& state) {
  const auto index = FindMeasureVariable(program, state.state);
  if (!index.ok()) {
    return Status::Error("measurement " + Quoted(state.measurement) + " has no state " +
                         Quoted(state.state) + StatesOf(program));
  }
  if (!state.key.empty()) return KeyQuestionOf(program, state, *index);
  const MeasureVariable& variable = program.variables[*index];
  if (!HasNumber(variable.kind)) {
    return Status::Error(
        Quoted(state.state) + " is a " + MeasureKindName(variable.kind) +
        ", which tells of one key at a time: " + Quoted(state.state + "(\"KEY\")") +
        ", KEY with values of " + FormatMeasureKeyFields(program, program.keys[variable.key]));
  }
  return StateQuestion{*index, {}};
}

std::string ProblemOfQuestion(const MeasureProgram& program, const StateQuestion& question,
                              bool is_of_one_switch, uint32_t interval_ms) {
  const MeasureVariable& variable = program.variables[question.variable];
  const std::string name = MeasureVariableLabel(program, variable);
  if (variable.merge == MeasureMerge::kShared && !is_of_one_switch) {
    return Quoted(name) + " does not merge over hosts; events read it of a measurement of one host";
  }
  return !question.key.empty() ? "" : ProblemOfSize(name, variable.CellCount(), interval_ms);
}

Number AnswerOf(const MeasureVariable& variable, const StateQuestion& question,
                const std::vector<uint64_t>& cells) {
  if (question.key.empty()) return NumberOf(variable, cells);
  return Number::Integer(ReadingOfKey(variable, question.key, cells, std::nullopt).value);
}

}  // namespace trumpet
