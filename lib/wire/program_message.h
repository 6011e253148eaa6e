// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Messages by which the controller installs measurement programs at a host and reads what they have
// measured; lib/wire/trumpet.proto says what each is for.

#ifndef TRUMPET_LIB_WIRE_PROGRAM_MESSAGE_H
#define TRUMPET_LIB_WIRE_PROGRAM_MESSAGE_H

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/units.h"
#include "lib/model/measure_copies.h"
#include "lib/model/measure_place.h"
#include "lib/model/measure_program.h"

namespace trumpet {

struct ProgramName {
  std::string name;
  uint32_t id = 0;
};

struct ProgramOn {
  ProgramName program;
  uint64_t seed = 0;
  MeasureProgram source;  // arrives without its diagnostics and places
  MeasurementPlace place = {};
};

struct ProgramOff {
  ProgramName program;
};

struct ProgramAck {
  ProgramName program;
  bool is_on = false;
  std::string error;  // why it is not on although it was to be
};

struct ProgramList {
  std::vector<ProgramName> programs;
};

struct CellsRequest {
  uint64_t number = 0;
  ProgramName program;
  MeasureIndex variable = 0;
  uint32_t first = 0;
  uint32_t max_cells = 0;
  std::vector<uint64_t> key;  // empty: from `first` on
  bool wants_keys = false;
  bool is_request = false;
  std::vector<MeasureFieldId> fields = {};  // of a request, whose values are in `key`
};

struct ProgramCopy {
  Nanos time_ns = 0;
  MeasureIndex endpoint = 0;
  uint64_t present = 0;          // bit per field
  std::vector<uint64_t> values;  // of the fields present, in their order
};

struct CellsAnswer {
  uint64_t number = 0;
  std::vector<uint64_t> cells;
  uint32_t cell_count = 0;
  std::string error;
  std::vector<ProgramCopy> copies = {};
  uint32_t left_out = 0;  // of copies
};

struct ProgramCounts {
  ProgramName program;
  Nanos since_ns = 0;
  ProgramCopies copies;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_PROGRAM_MESSAGE_H
