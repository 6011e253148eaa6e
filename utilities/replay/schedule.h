// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Schedules of trumpet-replay: which events are installed when.
//
//     # Unix time in ns, what, and the event's name
//     1700000000012000000 install heavy
//     1700000000500000000 remove heavy
//
// Times never fall.  An event whose first line installs it waits for that; all others run from the
// beginning.

#ifndef TRUMPET_UTILITIES_REPLAY_SCHEDULE_H
#define TRUMPET_UTILITIES_REPLAY_SCHEDULE_H

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/status.h"
#include "lib/tpm/offline_run.h"

namespace trumpet {

struct Schedule {
  HostVerdicts::Plans first;           // installed from the beginning
  std::vector<OfflineChange> changes;  // one for each instant
};

// Reads `text`, of the file `path`, about `events`.  An event that comes again has a new id, as it
// would have in the switch.  An error names its line.
Result<Schedule> ParseSchedule(std::string_view text, const std::string& path,
                               const HostVerdicts::Plans& events);

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_REPLAY_SCHEDULE_H
