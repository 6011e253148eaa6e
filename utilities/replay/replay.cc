// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/replay/replay.h"

#include <sys/resource.h>

#include <new>

#include "utilities/replay/event_replay.h"
#include "utilities/replay/program_replay.h"
#include "utilities/replay/replay_options.h"

namespace trumpet {
namespace {

// Captures that overlap are all open at once.
void AllowManyFiles() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

Status Replay(const ReplayOptions& options, std::FILE* out, std::FILE* err) {
  try {
    return options.events_path.empty() ? ReplayProgram(options, out, err)
                                       : ReplayEvents(options, out, err);
  } catch (const std::bad_alloc&) {
    return Status::Error("trumpet-replay: the machine has no memory for this");
  }
}

}  // namespace

int RunReplay(const std::vector<std::string>& arguments, std::FILE* out, std::FILE* err) {
  const auto options = ParseReplayOptions(arguments);
  if (!options.ok()) {
    std::fprintf(err, "trumpet-replay: %s\nTry 'trumpet-replay --help'.\n",
                 options.message().c_str());
    return kExitUsage;
  }
  if (options->wants_help) {
    std::fputs(ReplayHelp(), out);
    return kExitOk;
  }
  if (options->wants_version) {
    std::fprintf(out, "trumpet-replay (Trumpet for Open vSwitch) %s\n", TRUMPET_VERSION);
    return kExitOk;
  }
  AllowManyFiles();
  const Status status = Replay(*options, out, err);
  if (status.ok()) return kExitOk;
  std::fprintf(err, "%s\n", status.message().c_str());
  return kExitInput;
}

}  // namespace trumpet
