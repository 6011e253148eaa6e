// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ProgramDesk: measurement programs that the controller installs at this switch, and what it reads
// of them.
//
// They run beside those that were installed here, within the same budget, and go on without a
// session.  Another controller finds none of them: they are removed when its session begins.
//
// Threads: the agent.  Installing takes the time that memory for all packet threads does, and at
// most 100 ms more; a read looks at no more than kMaxCellsAsked cells.

#ifndef TRUMPET_VSWITCHD_PLUGIN_PROGRAM_DESK_H
#define TRUMPET_VSWITCHD_PLUGIN_PROGRAM_DESK_H

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "lib/wire/message.h"
#include "vswitchd-plugin/measurement_table.h"

namespace trumpet {

class ProgramDesk {
 public:
  // `table` must outlive the desk.
  explicit ProgramDesk(MeasurementTable* table) : table_(table) {}

  // What is to be told of the programs that are still there.
  ProgramList BeginSession(uint64_t controller_id);

  // The answer to an order or a question, once it is carried out; nothing to any other message.
  // `now` is monotonic.
  std::optional<Message> Take(const Message& message, Nanos unix_now, Nanos now);

  // Of programs whose packets have come to something else since they were told last, or that this
  // session was not told of.
  std::vector<ProgramCounts> TakeCounts();

 private:
  ProgramAck TurnOn(const ProgramOn& on, Nanos now);
  ProgramAck TurnOff(const ProgramOff& off);
  CellsAnswer Read(const CellsRequest& request) const;
  CellsAnswer Ask(const CellsRequest& request, Nanos unix_now, Nanos now);
  bool Runs(const ProgramName& program) const;
  ProgramList List() const;

  MeasurementTable* const table_;
  uint64_t controller_id_ = 0;              // whose programs are there
  std::map<uint32_t, ProgramCopies> told_;  // by id, in this session
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_PROGRAM_DESK_H
