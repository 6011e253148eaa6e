// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ReplayOptions: the command line of trumpet-replay.

#ifndef TRUMPET_UTILITIES_REPLAY_REPLAY_OPTIONS_H
#define TRUMPET_UTILITIES_REPLAY_REPLAY_OPTIONS_H

#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/measure/measure_hash.h"
#include "lib/measure/measured_packet.h"
#include "lib/packet/parse.h"
#include "lib/tpm/offline_run.h"
#include "utilities/replay/program_file.h"

namespace trumpet {

struct ReplayOptions {
  bool wants_help = false;     // then nothing else counts
  bool wants_version = false;  // likewise
  bool wants_stats = false;
  std::string events_path;            // empty: a program runs by itself
  std::vector<ProgramFile> programs;  // several only beside events, which read them
  std::string meta_path;              // empty: packets without metadata
  MeasureHashFamily hash = MeasureHashFamily::kFast;
  uint32_t program_batch = kMaxMeasureBurst;  // packets that a program takes at once
  bool wants_state = false;
  std::string schedule_path;  // empty: all events run throughout
  std::vector<std::string> captures;
  uint32_t thread_count = 1;
  OfflineSplit split = OfflineSplit::kConnection;
  uint32_t max_flows = 0;  // 0: enough
  Nanos flow_timeout_ns = 10 * kNanosPerSecond;
  Nanos burst_gap_ns = 10 * kNanosPerMicro;
  ParseOptions parse;
};

// Reads the arguments after the program's name.  An error says what is wrong and what is allowed.
Result<ReplayOptions> ParseReplayOptions(const std::vector<std::string>& arguments);

// What --help prints.
const char* ReplayHelp();

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_REPLAY_REPLAY_OPTIONS_H
