// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/replay/event_replay.h"

#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/text_file.h"
#include "lib/lang/event/event_language.h"
#include "lib/packet/capture_merge.h"
#include "lib/tpm/offline_run.h"
#include "utilities/replay/measured_events.h"
#include "utilities/replay/packet_meta.h"
#include "utilities/replay/program_file.h"
#include "utilities/replay/schedule.h"

namespace trumpet {
namespace {

constexpr size_t kMaxReplayFileBytes = 16u << 20;  // nobody waits for it as for a switch
constexpr size_t kMaxTextBytes = 1u << 20;         // of a schedule
// For events that say nothing themselves: offline there is no switch to protect, and memory is only
// taken by buckets that exist.
constexpr uint32_t kOfflineBuckets = 1u << 24;

// Programs in the order of the command line, and their runs.
struct Programs {
  std::vector<std::unique_ptr<const CompiledProgram>> compiled;
  ProgramRuns runs;
};

Result<Programs> LoadPrograms(const ReplayOptions& options) {
  Programs programs;
  for (const ProgramFile& file : options.programs) {
    auto program = LoadProgram(file, options.hash);
    if (!program.ok()) return program.status();
    // What is collected and forwarded is what a run without events prints.
    auto run = std::make_unique<ProgramRun>(
        program->get(), [](size_t, const CollectedPacket&) {}, [](const PacketValues&) {});
    if (Status status = run->Start(options.program_batch); !status.ok()) {
      return Status::Error(file.path + ": " + status.message());
    }
    programs.compiled.push_back(std::move(*program));
    programs.runs[file.name] = std::move(run);
  }
  return programs;
}

bool IsMeasured(const EventSpec& event) { return !MeasuredStatesOf(event.predicate).empty(); }

// Plans of all events, those that count no packets among them.
Result<HostVerdicts::Plans> LoadPlans(const std::string& path, const ProgramRuns& programs) {
  const auto text = ReadTextFile(path, kMaxReplayFileBytes);
  if (!text.ok()) return text.status();
  const auto check = [&programs](const MeasuredState& state, uint32_t interval_ms) {
    return ProblemOfMeasured(programs, state, interval_ms);
  };
  auto events = ParseEventsFile(*text, path, check, kMaxReplayFileBytes);
  if (!events.ok()) return events.status();
  HostVerdicts::Plans plans;
  for (EventSpec& event : *events) {
    event.id = static_cast<uint32_t>(plans.size() + 1);
    if (event.max_buckets == 0) event.max_buckets = kOfflineBuckets;
    auto plan = std::make_shared<TriggerPlan>();
    if (IsMeasured(event)) {
      plan->spec = event;
    } else {
      *plan = MakeTriggerPlan(event);
    }
    plans.push_back(std::move(plan));
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

void PrintStats(std::FILE* err, size_t event_count, const OfflineSummary& summary,
                const MeasuredEvents& measured) {
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
  PrintCount(err, "intervals decided",
             summary.verdicts.intervals_decided + measured.intervals_decided());
  PrintCount(err, "reports", summary.verdicts.reports + measured.reports());
}

// Says what had to be left out; the reports concerned are marked incomplete as well.
void PrintLosses(std::FILE* err, const OfflineSummary& summary) {
  const MonitorCounters& monitor = summary.monitor;
  const VerdictCounters& verdicts = summary.verdicts;
  const std::pair<const char*, uint64_t> losses[] = {
      {"packets of flows that found no room", monitor.uncounted_packets},
      {"packets of flows that match too many events", monitor.partly_counted_packets},
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

// Line n of the metadata is packet n of the file, so the two are read in one order.
Status CheckMetas(const PacketMetas& metas, const std::string& capture) {
  auto reader = PcapReader::OpenFile(capture);
  if (!reader.ok()) return reader.status();
  Nanos last = INT64_MIN;
  for (;;) {
    TimedFrame frame;
    const auto has_frame = reader->Next(&frame);
    if (!has_frame.ok()) return has_frame.status();
    if (!*has_frame) return metas.CheckCount(reader->frame_count());
    if (frame.time < last) {
      return Status::Error(capture + ": packet " + std::to_string(reader->frame_count()) +
                           " is before the one above it; --meta with --events takes packets in "
                           "the order of time");
    }
    last = frame.time;
  }
}

// Events of packets under RunOffline(), which asks for frames and gives reports; in between, what
// is measured goes on.
class EventReplay {
 public:
  EventReplay(CaptureMerge captures, PacketMetas metas, const HostVerdicts::Plans& plans,
              Schedule schedule, ProgramRuns* programs, std::FILE* out)
      : captures_(std::move(captures)),
        metas_(std::move(metas)),
        out_(out),
        has_programs_(!programs->empty()),
        places_(PlacesOf(plans)),
        first_(TakeMeasured(&schedule.first)),
        measured_(programs, ChangesOf(&schedule), [this](const Report& r) { return Write(r); }),
        schedule_(std::move(schedule)) {}

  Result<OfflineSummary> Run(OfflineOptions options) {
    options.frame_count = captures_.frame_count();
    options.changes = std::move(schedule_.changes);
    auto summary = RunOffline(
        schedule_.first, options, [this](Nanos* time, Frame* frame) { return Next(time, frame); },
        [this](const Report& report) { return Take(report); });
    if (!summary.ok()) return summary;
    if (Status status = measured_.DecideUntil(INT64_MAX); !status.ok()) return status;
    if (std::fflush(out_) != 0) return WriteError();
    return summary;
  }

  const MeasuredEvents& measured() const { return measured_; }

 private:
  static std::map<std::string, size_t> PlacesOf(const HostVerdicts::Plans& plans) {
    std::map<std::string, size_t> places;
    for (const auto& plan : plans) places.emplace(plan->spec.name, places.size());
    return places;
  }

  // Those that read programs, which are not among `plans` any more.
  std::vector<MeasuredEvents::Placed> TakeMeasured(HostVerdicts::Plans* plans) const {
    std::vector<MeasuredEvents::Placed> taken;
    HostVerdicts::Plans left;
    for (auto& plan : *plans) {
      if (IsMeasured(plan->spec)) {
        taken.push_back({plan->spec, places_.at(plan->spec.name)});
      } else {
        left.push_back(std::move(plan));
      }
    }
    *plans = std::move(left);
    return taken;
  }

  std::vector<MeasuredEvents::Change> ChangesOf(Schedule* schedule) const {
    std::vector<MeasuredEvents::Change> changes;
    for (OfflineChange& change : schedule->changes) {
      changes.push_back({change.at, TakeMeasured(&change.plans)});
    }
    return changes;
  }

  // The frame that was given last is measured now: what ended before it has been decided.
  Result<bool> Next(Nanos* time, Frame* frame) {
    if (frame_ && has_programs_) {
      if (Status status = measured_.DecideUntil(frame_->time); !status.ok()) return status;
      measured_.Add(*frame_, metas_.Of(frames_ - 1));
    }
    TimedFrame next;
    const Result<bool> has_frame = captures_.Next(&next);
    if (!has_frame.ok() || !*has_frame) {
      frame_.reset();
      return has_frame;
    }
    if (!metas_.Describes(frames_)) return metas_.CheckCount(frames_ + 1);
    if (++frames_ == 1) measured_.StartAt(next.time, first_);
    measured_.See(next.time);
    frame_ = next;
    *time = next.time;
    *frame = next.frame;
    return true;
  }

  Status Take(const Report& report) {
    if (has_programs_) {
      Status status = measured_.DecideBefore(report.end_ns, places_.at(report.event));
      if (!status.ok()) return status;
    }
    return Write(report);
  }

  Status Write(const Report& report) const {
    const std::string line = ToJsonLine(report) + "\n";
    return std::fwrite(line.data(), 1, line.size(), out_) == line.size() ? Status::Ok()
                                                                         : WriteError();
  }

  static Status WriteError() {
    return Status::Error(std::string("cannot write reports: ") + std::strerror(errno));
  }

  CaptureMerge captures_;
  const PacketMetas metas_;
  std::FILE* const out_;
  const bool has_programs_;
  const std::map<std::string, size_t> places_;  // of events in their file
  const std::vector<MeasuredEvents::Placed> first_;
  MeasuredEvents measured_;
  Schedule schedule_;  // without what is measured
  uint64_t frames_ = 0;
  std::optional<TimedFrame> frame_;
};

// Ends of intervals are to be numbers, too.
Status CheckTimes(const CaptureMerge& captures) {
  constexpr Nanos kLatest = INT64_MAX - 7200 * kNanosPerSecond;
  if (captures.frame_count() == 0 || captures.last_time() <= kLatest) return Status::Ok();
  return Status::Error("the last packet is of the year 2262, in which time ends");
}

}  // namespace

Status ReplayEvents(const ReplayOptions& options, std::FILE* out, std::FILE* err) {
  auto programs = LoadPrograms(options);
  if (!programs.ok()) return programs.status();
  const auto plans = LoadPlans(options.events_path, programs->runs);
  if (!plans.ok()) return plans.status();
  auto schedule = LoadSchedule(options.schedule_path, *plans);
  if (!schedule.ok()) return schedule.status();
  auto captures = CaptureMerge::Open(options.captures);  // reads them all once
  if (!captures.ok()) return captures.status();
  auto metas = PacketMetas::Load(options.meta_path);
  if (!metas.ok()) return metas.status();
  Status status = programs->runs.empty() ? Status::Ok() : CheckTimes(*captures);
  if (status.ok() && !options.meta_path.empty()) status = CheckMetas(*metas, options.captures[0]);
  if (!status.ok()) return status;

  OfflineOptions run;
  run.flow_timeout_ns = options.flow_timeout_ns;
  run.burst_gap_ns = options.burst_gap_ns;
  run.parse = options.parse;
  run.max_flows = options.max_flows;
  run.thread_count = options.thread_count;
  run.split = options.split;
  EventReplay replay(std::move(*captures), std::move(*metas), *plans, std::move(*schedule),
                     &programs->runs, out);
  const auto summary = replay.Run(run);
  if (!summary.ok()) return summary.status();
  PrintLosses(err, *summary);
  if (!options.wants_stats) return Status::Ok();
  PrintStats(err, plans->size(), *summary, replay.measured());
  for (const auto& [name, each] : programs->runs) {
    std::fprintf(err, "%-28s %s\n", "program", name.c_str());
    each->PrintStats(err);
  }
  return Status::Ok();
}

}  // namespace trumpet
