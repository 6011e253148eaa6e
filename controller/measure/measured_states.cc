// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/measure/measured_states.h"

#include <memory>
#include <utility>
#include <vector>

#include "controller/measure/measurement_manager.h"

namespace trumpet {
namespace {

std::string Quoted(const std::string& name) { return "'" + name.substr(0, 64) + "'"; }

// "; there are 'a', 'b'", shortened; nothing if there are none.
std::string Listed(const std::string& lead, const std::vector<std::string>& names) {
  constexpr size_t kMost = 16;
  std::string list;
  for (size_t i = 0; i < names.size() && i < kMost; ++i) {
    list += (i == 0 ? lead : std::string(", ")) + Quoted(names[i]);
  }
  return names.size() > kMost ? list + ", ..." : list;
}

}  // namespace

std::string MeasuredStates::ProblemOf(const MeasuredState& state, uint32_t interval_ms) const {
  const std::string of = "measurement " + Quoted(state.measurement);
  const MeasureProgram* const program = measurements_.FindProgram(state.measurement);
  if (program == nullptr) {
    const auto known = measurements_.Find(state.measurement);
    if (known && !known->problem.empty()) return of + " does not run: " + known->problem;
    if (known) return of + " is being installed or removed";
    return "there is no " + of + Listed("; there are ", measurements_.Names());
  }
  const auto question = StateQuestionOf(*program, state);
  if (!question.ok()) return question.message();
  const MeasurementDefinition& definition = *measurements_.FindDefinition(state.measurement);
  const bool is_of_one_switch =  // names need not be unique
      definition.hosts.size() == 1 && measurements_.Find(state.measurement)->hosts.size() == 1;
  return ProblemOfQuestion(*program, *question, is_of_one_switch, interval_ms);
}

Result<uint64_t> MeasuredStates::Read(const MeasuredState& state, Done done) {
  const std::string problem = ProblemOf(state, UINT32_MAX);
  if (!problem.empty()) return Status::Error(problem);
  const MeasureProgram& program = *measurements_.FindProgram(state.measurement);
  const StateQuestion question = *StateQuestionOf(program, state);
  const MeasureVariable& variable = program.variables[question.variable];
  const auto count = static_cast<uint32_t>(question.key.empty() ? variable.CellCount() : 0);
  const auto number = std::make_shared<uint64_t>(0);  // known when the read has begun
  const Result<uint64_t> begun = measurements_.Read(
      state.measurement, "", {{question.variable, variable.merge, count, question.key}},
      [this, number, done = std::move(done)](const CellReading& cells) {
        const auto read = under_way_.find(*number);
        if (read == under_way_.end()) return;  // nobody waits any longer
        const MeasuredReading reading = ReadingOf(read->second, cells);
        under_way_.erase(read);
        done(reading);
      });
  if (!begun.ok()) return begun;
  *number = *begun;
  under_way_.emplace(*begun, Asked{variable, question});
  return begun;
}

MeasuredReading MeasuredStates::ReadingOf(const Asked& asked, const CellReading& cells) {
  MeasuredReading reading;
  if (!cells.cells.empty()) {
    reading.value = AnswerOf(asked.variable, asked.question, cells.cells[0]);
  }
  reading.hosts = cells.hosts;
  for (const SilentHost& host : cells.silent) reading.silent.push_back(host.host);
  return reading;
}

MeasuredReading MeasuredStates::SoFar(uint64_t number) const {
  const auto read = under_way_.find(number);
  if (read == under_way_.end()) return {};
  return ReadingOf(read->second, measurements_.reader().SoFar(number));
}

void MeasuredStates::End(uint64_t number) {
  if (under_way_.erase(number) != 0) measurements_.reader().End(number);
}

}  // namespace trumpet
