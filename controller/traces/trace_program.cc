// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/trace_program.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>

#include "controller/store/sqlite_trace_store.h"
#include "controller/traces/arguments.h"
#include "controller/traces/capture_arguments.h"
#include "controller/traces/frame_burst.h"
#include "controller/traces/known_captures.h"
#include "controller/traces/trace_routes.h"
#include "controller/traces/trace_run.h"
#include "controller/traces/trace_text.h"
#include "lib/packet/capture_merge.h"

namespace trumpet {
namespace {

constexpr char kUsage[] =
    "usage: trumpet-analyzer traces [OPTION]... [CAPTURE]...\n"
    "Puts the copies that switches have made of each packet together, and says what became of it:\n"
    "a line of JSON for each packet that is abnormal, marked or of a protocol, then one of sums.\n"
    "CAPTURE holds copies in ERSPAN, GRE, VXLAN or Geneve; - is standard input.\n"
    "  --hop=NAME=CAPTURE     frames as they came to the switch NAME (tcpdump -Q in)\n"
    "  --topology=FILE        where packets ought to go; default: as most of their flow did\n"
    "  --switch=NAME=NUMBER   whose copies bear the number; default: 1, 2, ... as in the topology\n"
    "  --rules=FILE           trace rules by which switches have copied: sums of each, and of\n"
    "                         samples how much there is in all\n"
    "  --store=DIRECTORY      keep there what is printed, and what links carried\n"
    "  --all                  print every packet\n"
    "  --nat=OUTSIDE=INSIDE   an address, and what a middlebox puts in its place\n"
    "  --debug-dscp=BITS      packets whose DSCP has all these bits are marked\n"
    "  --wait=TIME            without a copy until a trace is complete (default: 1s)\n"
    "  --max-traces=COUNT     packets under way at a time (default: 262144)\n"
    "  -h, --help             print this\n";

// Of the machine: files of a store are as old as what was written last.
Nanos Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

struct ProgramOptions {
  CaptureArguments input;
  std::string store;
  bool prints_all = false;
  std::vector<ToldRule> rules;
  TraceMakerOptions maker;
};

Status TakeNumber(const std::string& name, const std::string& value, ProgramOptions* options) {
  TraceTableOptions& table = options->maker.table;
  if (name == "--wait") {
    const auto span = ReadSpan(name, value);
    if (!span) return span.status();
    table.quiet = *span;
    table.max_quiet = table.retain = 3 * *span;
    return Status::Ok();
  }
  const bool is_dscp = name == "--debug-dscp";
  const auto count = is_dscp ? ReadCount(name, value, 0, 63) : ReadCount(name, value, 1, 1 << 24);
  if (!count) return count.status();
  if (is_dscp) {
    options->maker.copies.debug_dscp = static_cast<uint8_t>(*count);
  } else {
    table.max_traces = static_cast<size_t>(*count);
    table.max_hops = 4 * table.max_traces;
  }
  return Status::Ok();
}

Result<ProgramOptions> MakeOptions(const Arguments& arguments) {
  ProgramOptions options;
  for (const auto& [name, value] : arguments.options) {
    if (name == "--store") {
      options.store = value;
    } else if (name == "--rules") {
      auto rules = ReadRulesFile(value);
      if (!rules.ok()) return rules.status();
      options.rules = std::move(*rules);
    } else if (name == "--all") {
      options.prints_all = true;
    } else if (name == "--nat") {
      const Status added = options.maker.copies.pairs.Add(value);
      if (!added.ok()) return Status::Error("--nat: " + added.message());
    } else if (name == "--debug-dscp" || name == "--wait" || name == "--max-traces") {
      const Status taken = TakeNumber(name, value, &options);
      if (!taken.ok()) return taken;
    }
  }
  auto input = ReadCaptureArguments(arguments);
  if (!input.ok()) return input.status();
  options.input = std::move(*input);
  const auto& captures = options.input.captures;
  const bool has_pipe = std::any_of(captures.begin(), captures.end(),
                                    [](const auto& capture) { return capture.path == "-"; });
  if (has_pipe && !options.input.topology) {
    return Status::Error("- can be read only once: give a --topology");
  }
  return options;
}

// All frames in the order of their times.
Status ReadAll(const ProgramOptions& options, TraceMaker* maker,
               const std::function<void()>& then) {
  Result<CaptureMerge> merge = CaptureMerge::Open(options.input.paths());
  if (!merge) return merge.status();
  FrameBurst burst;
  const auto give = [&] {
    const std::vector<TimedFrame>& frames = burst.Frames();
    maker->TakeInTime(frames.data(), frames.size());
    burst.Clear();
    then();
  };
  TimedFrame timed;
  for (;;) {
    const Result<bool> next = merge->Next(&timed);
    if (!next || !*next) {
      give();
      if (!next) return next.status();
      break;
    }
    const auto number = options.input.captures[merge->capture()].switch_number;
    if (!number) {
      burst.Add(timed);
      if (burst.is_full()) give();
      continue;
    }
    give();
    maker->TakeFrameOf(*number, timed.frame, timed.time);
    maker->Advance(timed.time);
    then();
  }
  maker->Finish();
  return Status::Ok();
}

// Reads all captures once before, to know where packets of each flow go.
Status LearnRoutes(const ProgramOptions& options, LearnedRoutes* learned) {
  TraceMaker maker(
      options.maker, *learned, [](const TraceReport&) {},
      [learned](const Trace& trace) { learned->Learn(trace); });
  return ReadAll(options, &maker, [] {});
}

Status Run(const ProgramOptions& options, std::ostream* out) {
  LearnedRoutes learned;
  std::optional<NetworkRoutes> network;
  if (options.input.topology) {
    network.emplace(*options.input.topology, options.input.switches);
  } else {
    const Status status = LearnRoutes(options, &learned);
    if (!status.ok()) return status;
  }
  const TraceRoutes& routes = network ? static_cast<const TraceRoutes&>(*network) : learned;
  std::unique_ptr<SqliteTraceStore> store;
  if (!options.store.empty()) {
    SqliteTraceStoreOptions store_options;
    store_options.folder = options.store;
    auto opened = SqliteTraceStore::Open(store_options, Now());
    if (!opened) return opened.status();
    store = std::move(*opened);
    const Status saved = SaveSwitchBook(options.input.switches, options.store);
    if (!saved.ok()) return saved;
  }
  TraceRun run(options.input.switches, store.get(), options.prints_all, out);
  run.SetRules(options.rules);
  std::optional<KnownCaptures> known;
  if (store != nullptr) {
    auto read = KnownCaptures::Read(options.store, options.input.paths());
    if (!read.ok()) return read.status();
    known = std::move(*read);
    if (known->are_known()) run.LeaveLinks();
  }
  TraceMaker maker(options.maker, routes, [&run](const TraceReport& report) { run.Tell(report); });
  const Status status = ReadAll(options, &maker, [&run] { run.WriteIfMuch(Now()); });
  if (!status.ok()) return status;
  run.Write(Now());
  nlohmann::ordered_json sums = ToJson(maker, options.input.switches);
  if (!options.rules.empty()) sums["rules"] = run.rules().Show();
  if (!network) sums["flows_not_learned"] = learned.flows_not_learned();
  if (known && known->are_known()) sums["links_counted_before"] = true;
  *out << JsonLine({{"sums", sums}});
  const Status kept = known ? known->Keep() : Status::Ok();
  if (!kept.ok()) return kept;
  if (run.refused() == 0 && run.first_error().empty()) return Status::Ok();
  return Status::Error(run.first_error() + " (" + std::to_string(run.refused()) +
                       " rows were not stored)");
}

}  // namespace

int RunTraceProgram(const std::vector<std::string>& words, std::ostream* out, std::ostream* err) {
  const auto run = [out](const Arguments& arguments) {
    auto options = MakeOptions(arguments);
    return options.ok() ? Run(*options, out) : options.status();
  };
  return RunProgram(words,
                    {{"--hop"},
                     {"--topology"},
                     {"--switch"},
                     {"--rules"},
                     {"--store"},
                     {"--all", false},
                     {"--nat"},
                     {"--debug-dscp"},
                     {"--wait"},
                     {"--max-traces"}},
                    kUsage, run, out, err);
}

}  // namespace trumpet
