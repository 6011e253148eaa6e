// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MeasuredStates: state variables of measurements as numbers, for events that compare them
// (docs/adr/0048).  A part of MeasurementManager.
//
// What can be read is bounded (lib/measure/state_question.h).
//
// Threads: that of the loop.

#ifndef TRUMPET_CONTROLLER_MEASURE_MEASURED_STATES_H
#define TRUMPET_CONTROLLER_MEASURE_MEASURED_STATES_H

#include <cstdint>
#include <map>
#include <string>

#include "controller/measure/cell_reader.h"
#include "controller/tem/measured_source.h"
#include "lib/measure/state_question.h"
#include "lib/model/measure_program.h"

namespace trumpet {

class MeasurementManager;

class MeasuredStates final : public MeasuredSource {
 public:
  explicit MeasuredStates(MeasurementManager* measurements) : measurements_(*measurements) {}

  std::string ProblemOf(const MeasuredState& state, uint32_t interval_ms) const override;
  Result<uint64_t> Read(const MeasuredState& state, Done done) override;
  MeasuredReading SoFar(uint64_t number) const override;
  void End(uint64_t number) override;

 private:
  struct Asked {
    MeasureVariable variable;
    StateQuestion question;
  };

  static MeasuredReading ReadingOf(const Asked& asked, const CellReading& cells);

  MeasurementManager& measurements_;
  std::map<uint64_t, Asked> under_way_;  // what is read, by number
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_MEASURE_MEASURED_STATES_H
