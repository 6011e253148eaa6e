// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// StateQuestion: what an event asks of a measurement program, `measure("hh").flows` or
// `measure("hh").size("10.0.0.1,80")` (docs/adr/0048).
//
// The controller asks it of all hosts, and trumpet-replay of the switches that it plays: both
// refuse the same states, and make the same number of what they read.
//
// What can be read is bounded: a state has at most kMaxStateCells cells, and an event reads at most
// kMaxStateCellsPerSecond of them in a second from each switch; of a key there are few.
//
// Threads: pure functions.

#ifndef TRUMPET_LIB_MEASURE_STATE_QUESTION_H
#define TRUMPET_LIB_MEASURE_STATE_QUESTION_H

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/model/expr.h"
#include "lib/model/measure_program.h"

namespace trumpet {

constexpr uint64_t kMaxStateCells = 65536;
constexpr uint64_t kMaxStateCellsPerSecond = 524288;

struct StateQuestion {
  MeasureIndex variable = 0;
  std::vector<uint64_t> key;  // of which the number is; empty: of the whole variable
};

// An error says what the program has instead.
Result<StateQuestion> StateQuestionOf(const MeasureProgram& program, const MeasuredState& state);

// Why an event of that interval cannot ask it; empty: it can.  `is_of_one_switch`: else the cells
// of several are merged.
std::string ProblemOfQuestion(const MeasureProgram& program, const StateQuestion& question,
                              bool is_of_one_switch, uint32_t interval_ms);

// `cells`: those that it is about, merged; at least one.
Number AnswerOf(const MeasureVariable& variable, const StateQuestion& question,
                const std::vector<uint64_t>& cells);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_STATE_QUESTION_H
