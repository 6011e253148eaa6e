// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/migrate_program.h"

#include <ctime>
#include <ostream>

#include "controller/store/trace_migration.h"
#include "controller/store/trace_reader.h"
#include "controller/traces/arguments.h"
#include "controller/traces/switch_book.h"
#include "controller/traces/trace_text.h"

namespace trumpet {
namespace {

constexpr char kUsage[] =
    "usage: trumpet-analyzer migrate --from=PLACE --to=PLACE [--progress=FILE]\n"
    "Copies all traces and counters of links, while both places may be written to; then counts, "
    "hour\n"
    "by hour, whether all are there.  Run again after it was ended, it goes on.  Removes nothing.\n"
    "  PLACE             a directory, whose analyzer may keep its traces on servers;\n"
    "                    files:DIRECTORY, its files in any case;\n"
    "                    clickhouse:URL,...,database=NAME, as in analyzer.yaml\n"
    "  --progress=FILE   how far it is (default: migration in the directory of --from, or of "
    "--to)\n"
    "  -h, --help        print this\n"
    "A directory of files that is copied to must have no other writer meanwhile.\n";

Nanos UnixNow() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * kNanosPerSecond + now.tv_nsec;
}

Result<TraceMigrationOptions> MakeOptions(const Arguments& arguments) {
  TraceMigrationOptions options;
  for (const auto& [name, value] : arguments.options) {
    if (name == "--from") options.from = value;
    if (name == "--to") options.to = value;
    if (name == "--progress") options.progress_file = value;
  }
  if (!arguments.files.empty()) return Status::Error(arguments.files[0] + ": is no option");
  if (options.from.empty()) return Status::Error("--from=PLACE is missing");
  if (options.to.empty()) return Status::Error("--to=PLACE is missing");
  const std::string from = FolderOfTracePlace(options.from);
  const std::string folder = from.empty() ? FolderOfTracePlace(options.to) : from;
  if (options.progress_file.empty() && folder.empty()) {
    return Status::Error("--progress=FILE is missing: neither place is a directory");
  }
  if (options.progress_file.empty()) options.progress_file = folder + "/migration";
  options.now = UnixNow;
  return options;
}

// Unless there are some.
Status CopySwitches(const TraceMigrationOptions& options) {
  const std::string from = FolderOfTracePlace(options.from);
  const std::string to = FolderOfTracePlace(options.to);
  if (from.empty() || to.empty() || from == to) return Status::Ok();
  const auto there = LoadSwitchBook(to);
  if (!there.ok()) return there.status();
  if (!there->names().empty()) return Status::Ok();
  const auto here = LoadSwitchBook(from);
  return here.ok() ? SaveSwitchBook(*here, to) : here.status();
}

Status Run(const TraceMigrationOptions& options, std::ostream* out) {
  const auto report = MigrateTraces(options);
  if (!report.ok()) return report.status();
  *out << JsonLine({{"went_on", report->has_gone_on},
                    {"traces_copied", report->traces_copied},
                    {"link_rows_copied", report->links_copied},
                    {"traces_there", report->traces_there},
                    {"verified", true}});
  return CopySwitches(options);
}

}  // namespace

int RunMigrateProgram(const std::vector<std::string>& words, std::ostream* out, std::ostream* err) {
  const auto run = [out](const Arguments& arguments) {
    const auto options = MakeOptions(arguments);
    return options.ok() ? Run(*options, out) : options.status();
  };
  return RunProgram(words, {{"--from"}, {"--to"}, {"--progress"}}, kUsage, run, out, err);
}

}  // namespace trumpet
