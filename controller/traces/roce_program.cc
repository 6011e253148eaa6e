// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/roce_program.h"

#include <filesystem>
#include <optional>
#include <ostream>
#include <utility>

#include "controller/analyzer/trace_copy.h"
#include "controller/traces/arguments.h"
#include "controller/traces/capture_arguments.h"
#include "controller/traces/roce_debugger.h"
#include "controller/traces/trace_routes.h"
#include "controller/traces/trace_text.h"
#include "lib/model/slice_spec.h"
#include "lib/packet/capture_merge.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kUsage[] =
    "usage: trumpet-analyzer roce [OPTION]... [CAPTURE]...\n"
    "Says what the packets of RoCEv2 and the frames of PAUSE and PFC in captures tell of: loss,\n"
    "congestion, receivers that are not ready, PAUSE storms.  A line of JSON for each finding, "
    "then\n"
    "one of sums.  CAPTURE holds copies in ERSPAN, GRE, VXLAN or Geneve, or packets as they came "
    "to\n"
    "one place; - is standard input.\n"
    "  --hop=NAME=CAPTURE     frames as they came to the switch NAME (tcpdump -Q in)\n"
    "  --topology=FILE        names of switches, numbered 1, 2, ...\n"
    "  --switch=NAME=NUMBER   whose copies bear the number\n"
    "  --speed=GBPS           of links, which says how long a PAUSE is (default: 100)\n"
    "  --storm-share=PERCENT  of the time that a port is stopped in a storm (default: 50)\n"
    "  --storm-time=TIME      for so long (default: 100ms)\n"
    "  --max-queue-pairs=N    in memory at a time, each direction (default: 4096)\n"
    "  --part                 these are not all packets: gaps between them mean nothing\n"
    "  --queue-pairs          print each direction of each queue pair, too\n"
    "  -h, --help             print this\n";

struct ProgramOptions {
  CaptureArguments input;
  RoceOptions debugger;
  bool prints_flows = false;
};

Status TakeNumber(const std::string& name, const std::string& value, RoceOptions* options) {
  if (name == "--storm-time") {
    const auto span = ReadSpan(name, value);
    if (!span.ok()) return span.status();
    if (*span == 0) return Status::Error(name + " is 0");
    options->pauses.storm_time = *span;
    return Status::Ok();
  }
  const bool is_share = name == "--storm-share";
  const bool is_speed = name == "--speed";
  const auto count = ReadCount(name, value, 1, is_share ? 100 : is_speed ? 10000 : 1 << 20);
  if (!count.ok()) return count.status();
  if (is_share) {
    options->pauses.storm_share = static_cast<double>(*count) / 100;
  } else if (is_speed) {
    options->pauses.bits_per_second = *count * 1000000000;
  } else {
    options->max_flows = static_cast<size_t>(*count);
  }
  return Status::Ok();
}

Result<ProgramOptions> MakeOptions(const Arguments& arguments) {
  ProgramOptions options;
  options.prints_flows = arguments.Has("--queue-pairs");
  options.debugger.has_all_packets = !arguments.Has("--part");
  for (const auto& [name, value] : arguments.options) {
    const bool is_number = name == "--speed" || name == "--storm-share" || name == "--storm-time" ||
                           name == "--max-queue-pairs";
    const Status taken = is_number ? TakeNumber(name, value, &options.debugger) : Status::Ok();
    if (!taken.ok()) return taken;
  }
  auto input = ReadCaptureArguments(arguments);
  if (!input.ok()) return input.status();
  options.input = std::move(*input);
  return options;
}

struct FrameSums {
  uint64_t all = 0;
  uint64_t copies = 0;     // in tunnels
  uint64_t plain = 0;      // of RoCE or PAUSE, in none
  uint64_t of_others = 0;  // neither RoCE nor PAUSE
};

class RoceRun {
 public:
  explicit RoceRun(ProgramOptions options)
      : options_(std::move(options)), debugger_(options_.debugger) {
    copies_.layers = LayerOptions();
  }

  Status Read() {
    places_.resize(options_.input.captures.size());
    auto merge = CaptureMerge::Open(options_.input.paths());
    if (!merge.ok()) return merge.status();
    TimedFrame timed;
    for (;;) {
      const auto next = merge->Next(&timed);
      if (!next.ok()) return next.status();
      if (!*next) return Status::Ok();
      const Status taken = Take(timed, merge->capture());
      if (!taken.ok()) return taken;
    }
  }

  void Print(std::ostream* out) const {
    for (const Json& one : debugger_.Findings(options_.input.switches)) *out << JsonLine(one);
    if (options_.prints_flows) {
      for (const Json& one : debugger_.Flows(options_.input.switches)) *out << JsonLine(one);
    }
    Json sums = {{"frames",
                  {{"all", frames_.all},
                   {"copies", frames_.copies},
                   {"plain", frames_.plain},
                   {"of_others", frames_.of_others}}}};
    sums.update(debugger_.Sums());
    *out << JsonLine({{"sums", sums}});
  }

 private:
  Status Take(const TimedFrame& timed, size_t capture) {
    ++frames_.all;
    TraceCopy copy;
    const auto number = options_.input.captures[capture].switch_number;
    const bool is_copy =
        !number && ReadTraceCopy(timed.frame, timed.time, copies_, &copy) == TraceVerdict::kCopy;
    const bool is_ip = is_copy && (copy.packet.marks & kMarkIp) != 0;
    auto sight = is_copy ? ReadRoceSight(copy.bytes, copy.captured,
                                         is_ip ? LayerKind::kIpv4 : LayerKind::kEthernet)
                         : ReadRoceSight(timed.frame.data, timed.frame.captured_length,
                                         LayerKind::kEthernet);
    ++(!sight ? frames_.of_others : is_copy ? frames_.copies : frames_.plain);
    if (!sight) return Status::Ok();
    sight->time = timed.time;
    if (is_copy) {
      sight->switch_number = copy.hop.switch_number;
      sight->port = PortOfTag(copy.hop.tag);
    } else if (number) {
      sight->switch_number = *number;
    } else {
      const Status named = NamePlace(capture);
      if (!named.ok()) return named;
      sight->switch_number = *places_[capture];
    }
    debugger_.Take(*sight);
    return Status::Ok();
  }

  // Of packets in no tunnel: the capture is a place of its own.
  Status NamePlace(size_t capture) {
    if (places_[capture]) return Status::Ok();
    const std::string& path = options_.input.captures[capture].path;
    const std::string name =
        path == "-" ? "standard input" : std::filesystem::path(path).filename().string();
    // From the top: copies bear numbers from the bottom.
    for (uint16_t i = kMaxSwitchNumber; i > 0 && !options_.input.switches.NumberOf(name); --i) {
      if (options_.input.switches.names().count(i) == 0) {
        const Status added = options_.input.switches.Add(name, i);
        if (!added.ok()) return added;
      }
    }
    places_[capture] = options_.input.switches.NumberOf(name);
    return places_[capture] ? Status::Ok() : Status::Error(path + ": there are too many switches");
  }

  ProgramOptions options_;
  RoceDebugger debugger_;
  TraceCopyOptions copies_;
  FrameSums frames_;
  std::vector<std::optional<uint16_t>> places_;  // by capture
};

Status Run(ProgramOptions options, std::ostream* out) {
  RoceRun run(std::move(options));
  const Status read = run.Read();
  if (read.ok()) run.Print(out);
  return read;
}

}  // namespace

int RunRoceProgram(const std::vector<std::string>& words, std::ostream* out, std::ostream* err) {
  const auto run = [out](const Arguments& arguments) {
    auto options = MakeOptions(arguments);
    return options.ok() ? Run(std::move(*options), out) : options.status();
  };
  return RunProgram(words,
                    {{"--hop"},
                     {"--topology"},
                     {"--switch"},
                     {"--speed"},
                     {"--storm-share"},
                     {"--storm-time"},
                     {"--max-queue-pairs"},
                     {"--part", false},
                     {"--queue-pairs", false}},
                    kUsage, run, out, err);
}

}  // namespace trumpet
