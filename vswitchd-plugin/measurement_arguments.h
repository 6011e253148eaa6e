// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What `ovs-appctl trumpet/program-...` are told.
//
// Threads: functions of values; ReadProgramArguments() may read a file.

#ifndef TRUMPET_VSWITCHD_PLUGIN_MEASUREMENT_ARGUMENTS_H
#define TRUMPET_VSWITCHD_PLUGIN_MEASUREMENT_ARGUMENTS_H

#include <optional>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/measure/program_loader.h"
#include "vswitchd-plugin/measurement_place.h"

namespace trumpet {

constexpr size_t kDefaultCells = 20;
constexpr size_t kMaxShownCells = 10000;

// NAME @FILE|TEXT [edge=PORT,...] [switch=N] [lab=yes] [copy-rate=N] [PARAM=VALUE...]
// [ENDPOINT=ADDRESS...]
struct ProgramToAdd {
  std::string name;
  MeasureProgram program;
  MeasurementPlace place;
  std::vector<std::string> warnings;
};
Result<ProgramToAdd> ReadProgramArguments(const std::vector<std::string>& arguments);

// NAME [VARIABLE] [key=VALUE,VALUE...] [top=N]
struct ProgramQuestion {
  std::string name;
  std::string variable;            // empty: all of them
  std::optional<std::string> key;  // values of its fields, as written
  size_t top = kDefaultCells;
};
Result<ProgramQuestion> ReadProgramQuestion(const std::vector<std::string>& arguments);

// NAME [VARIABLE key=VALUE,VALUE...] [request=N]
struct ProgramRequest {
  ProgramQuestion question;         // with a key, or without a variable
  std::optional<uint16_t> request;  // pkt.request
};
Result<ProgramRequest> ReadProgramRequest(const std::vector<std::string>& arguments);

// [operators=N] [hashes=N] [cache-lines=N] [bytes=N]: what is not said stays as it is.
Status ReadBudgetArguments(const std::vector<std::string>& arguments, MeasureBudget* budget);

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_MEASUREMENT_ARGUMENTS_H
