// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/replay/replay.h"

#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <memory>
#include <utility>

#include "lib/lang/event/event_language.h"
#include "lib/packet/capture_merge.h"
#include "lib/tpm/offline_run.h"
#include "utilities/replay/program_replay.h"
#include "utilities/replay/replay_options.h"
#include "utilities/replay/schedule.h"
#include "utilities/replay/text_file.h"

namespace trumpet {
namespace {

constexpr size_t kMaxTextBytes = 1u << 20;
// For events that say nothing themselves: offline there is no switch to protect, and memory is only
// taken by buckets that exist.
constexpr uint32_t kOfflineBuckets = 1u << 24;

Result<HostVerdicts::Plans> LoadPlans(const std::string& path) {
  const auto text = ReadTextFile(path, kMaxTextBytes);
  if (!text.ok()) return text.status();
  auto events = ParseEventsYaml(*text, path, RefuseMeasured);
  if (!events.ok()) return events.status();
  HostVerdicts::Plans plans;
  for (EventSpec& event : *events) {
    event.id = static_cast<uint32_t>(plans.size() + 1);
    if (event.max_buckets == 0) event.max_buckets = kOfflineBuckets;
    plans.push_back(std::make_shared<const TriggerPlan>(MakeTriggerPlan(event)));
  }
  return plans;
}

Result<Schedule> LoadSchedule(const std::string& path, const HostVerdicts::Plans& plans) {
  if (path.empty()) return Schedule{plans, {}};
  const auto text = ReadTextFile(path, kMaxTextBytes);
  if (!text.ok()) return text.status();
  if (text->size() > kMaxTextBytes) return Status::Error(path + ": is longer than 1 MiB");
  return ParseSchedule(*text, path, plans);
}

void PrintCount(std::FILE* err, const char* what, uint64_t count) {
  std::fprintf(err, "%-28s %" PRIu64 "\n", what, count);
}

void PrintStats(std::FILE* err, size_t event_count, const OfflineSummary& summary) {
  const MonitorCounters& monitor = summary.monitor;
  PrintCount(err, "events", event_count);
  PrintCount(err, "packets", monitor.packets);
  PrintCount(err, "bytes", monitor.bytes);
  PrintCount(err, "undecodable frames", monitor.undecodable);
  PrintCount(err, "tunnels too deep", monitor.tunnels_too_deep);
  PrintCount(err, "packets matched", monitor.matched_packets);
  PrintCount(err, "flows added", monitor.flows_added);
  PrintCount(err, "flows reclaimed", monitor.flows_reclaimed);
  PrintCount(err, "RTT samples", monitor.rtt_samples);
  PrintCount(err, "intervals decided", summary.verdicts.intervals_decided);
  PrintCount(err, "reports", summary.verdicts.reports);
}

// Says what had to be left out; the reports concerned are marked incomplete as well.
void PrintLosses(std::FILE* err, const OfflineSummary& summary) {
  const MonitorCounters& monitor = summary.monitor;
  const VerdictCounters& verdicts = summary.verdicts;
  const std::pair<const char*, uint64_t> losses[] = {
      {"packets of flows that found no room", monitor.uncounted_packets},
      {"RTT samples whose flow had been given up", monitor.rtt_samples_orphaned},
      {"connections given up while alive", monitor.connections_evicted},
      {"segments forgotten too early", monitor.history_evicted},
      {"epochs that ended before the sweep of the one before", monitor.epochs_skipped},
      {"partial results dropped", monitor.partials_dropped},
      {"partial results too late", verdicts.late_partials + verdicts.unknown_partials},
      {"buckets given up", verdicts.buckets_evicted},
  };
  for (const auto& [what, count] : losses) {
    if (count == 0) continue;
    std::fprintf(err, "trumpet-replay: warning: not complete: %s: %" PRIu64 "\n", what, count);
  }
}

Status WriteLine(const Report& report, std::FILE* out) {
  const std::string line = ToJsonLine(report) + "\n";
  if (std::fwrite(line.data(), 1, line.size(), out) == line.size()) return Status::Ok();
  return Status::Error(std::string("cannot write reports: ") + std::strerror(errno));
}

Status Replay(const ReplayOptions& options, std::FILE* out, std::FILE* err) {
  const auto plans = LoadPlans(options.events_path);
  if (!plans.ok()) return plans.status();
  auto schedule = LoadSchedule(options.schedule_path, *plans);
  if (!schedule.ok()) return schedule.status();
  auto captures = CaptureMerge::Open(options.captures);  // reads them all once
  if (!captures.ok()) return captures.status();

  OfflineOptions run;
  run.flow_timeout_ns = options.flow_timeout_ns;
  run.burst_gap_ns = options.burst_gap_ns;
  run.parse = options.parse;
  run.frame_count = captures->frame_count();
  run.max_flows = options.max_flows;
  run.thread_count = options.thread_count;
  run.split = options.split;
  run.changes = std::move(schedule->changes);
  const auto next_frame = [&captures](Nanos* time, Frame* frame) {
    TimedFrame timed;
    Result<bool> has_frame = captures->Next(&timed);
    *time = timed.time;
    *frame = timed.frame;
    return has_frame;
  };
  const auto take_report = [out](const Report& report) { return WriteLine(report, out); };
  const auto summary = RunOffline(schedule->first, run, next_frame, take_report);
  if (!summary.ok()) return summary.status();
  if (std::fflush(out) != 0) {
    return Status::Error(std::string("cannot write reports: ") + std::strerror(errno));
  }
  PrintLosses(err, *summary);
  if (options.wants_stats) PrintStats(err, plans->size(), *summary);
  return Status::Ok();
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
  const Status status = options->program_path.empty() ? Replay(*options, out, err)
                                                      : ReplayProgram(*options, out, err);
  if (status.ok()) return kExitOk;
  std::fprintf(err, "%s\n", status.message().c_str());
  return kExitInput;
}

}  // namespace trumpet
