// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/replay/replay_options.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

namespace trumpet {
namespace {

constexpr Nanos kMinFlowTimeout = kNanosPerMilli;
constexpr Nanos kMaxFlowTimeout = 3600 * kNanosPerSecond;
constexpr Nanos kMaxBurstGap = kNanosPerSecond;
constexpr uint64_t kMaxThreads = 64;
constexpr uint64_t kMinFlows = 16;
constexpr size_t kMaxPrograms = 64;  // as in a switch

std::optional<uint64_t> ParseDigits(std::string_view text) {
  uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// "10s", "10ms", "10us", "10ns"; at most an hour.
std::optional<Nanos> ParseDuration(std::string_view text) {
  static constexpr std::pair<std::string_view, Nanos> kUnits[] = {
      {"ns", 1}, {"us", kNanosPerMicro}, {"ms", kNanosPerMilli}, {"s", kNanosPerSecond}};
  for (const auto& [unit, factor] : kUnits) {
    if (text.size() <= unit.size() || text.substr(text.size() - unit.size()) != unit) continue;
    const auto count = ParseDigits(text.substr(0, text.size() - unit.size()));
    if (!count) continue;
    if (*count > static_cast<uint64_t>(kMaxFlowTimeout / factor)) return std::nullopt;
    return static_cast<Nanos>(*count) * factor;
  }
  return std::nullopt;
}

class OptionParser {
 public:
  explicit OptionParser(const std::vector<std::string>& arguments) : arguments_(arguments) {}

  Result<ReplayOptions> Parse() {
    bool has_ended = false;  // by "--"
    for (; at_ < arguments_.size(); ++at_) {
      const std::string& argument = arguments_[at_];
      const bool is_option = !has_ended && argument.size() > 1 && argument[0] == '-';
      if (!is_option) {
        options_.captures.push_back(argument);
      } else if (argument == "--") {
        has_ended = true;
      } else {
        Status status = TakeOption(argument);
        if (!status.ok()) return status;
        if (options_.wants_help || options_.wants_version) return options_;
      }
    }
    if (options_.events_path.empty() && options_.programs.empty()) {
      return Status::Error("--events FILE.yaml or --program FILE.mafia is missing");
    }
    if (options_.captures.empty()) return Status::Error("no capture is given");
    if (Status status = CheckProgramOptions(); !status.ok()) return status;
    return options_;
  }

 private:
  Status TakeOption(const std::string& argument) {
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    if (name == "-h" || name == "--help") return TakeFlag(argument, &options_.wants_help);
    if (name == "-V" || name == "--version") return TakeFlag(argument, &options_.wants_version);
    if (name == "--stats") return TakeFlag(argument, &options_.wants_stats);
    if (name == "--state") {
      is_of_program_ = name;
      return TakeFlag(argument, &options_.wants_state);
    }
    static constexpr std::string_view kWithValue[] = {
        "--events",      "--schedule", "--flow-timeout", "--burst-gap", "--vxlan-port",
        "--geneve-port", "--threads",  "--split",        "--flows",     "--program",
        "--meta",        "--hash",     "--param",        "--batch"};
    if (std::count(std::begin(kWithValue), std::end(kWithValue), name) == 0) {
      return Status::Error(name + ": unknown option");
    }
    std::string value;
    if (equals != std::string::npos) {
      value = argument.substr(equals + 1);
    } else if (++at_ < arguments_.size()) {
      value = arguments_[at_];
    } else {
      return Status::Error(name + " needs a value");
    }
    return TakeValue(name, value);
  }

  static Status TakeFlag(const std::string& argument, bool* flag) {
    if (argument.find('=') != std::string::npos) {
      return Status::Error(argument.substr(0, argument.find('=')) + " takes no value");
    }
    *flag = true;
    return Status::Ok();
  }

  Status TakeValue(const std::string& name, const std::string& value) {
    if (name == "--events") return TakePath(name, value, &options_.events_path);
    if (name == "--program") return TakeProgram(value);
    if (name == "--meta" || name == "--hash" || name == "--param" || name == "--batch") {
      return TakeProgramValue(name, value);
    }
    is_of_events_ = name;
    if (name == "--schedule") return TakePath(name, value, &options_.schedule_path);
    if (name == "--threads") return TakeCount(name, value, 1, kMaxThreads, &options_.thread_count);
    if (name == "--flows") {
      return TakeCount(name, value, kMinFlows, kMaxOfflineFlows, &options_.max_flows);
    }
    if (name == "--split") return TakeSplit(value);
    if (name == "--flow-timeout") {
      const auto duration = ParseDuration(value);
      if (!duration || *duration < kMinFlowTimeout) {
        return Status::Error("--flow-timeout is '" + value + "'; it takes 1ms to 3600s, like 10s");
      }
      options_.flow_timeout_ns = *duration;
      return Status::Ok();
    }
    if (name == "--burst-gap") {
      const auto duration = ParseDuration(value);
      if (!duration || *duration > kMaxBurstGap) {
        return Status::Error("--burst-gap is '" + value + "'; it takes 0ns to 1s, like 10us");
      }
      options_.burst_gap_ns = *duration;
      return Status::Ok();
    }
    return TakePort(
        name, value,
        name == "--vxlan-port" ? &options_.parse.vxlan_ports : &options_.parse.geneve_ports);
  }

  // What belongs to measurement programs.
  Status TakeProgramValue(const std::string& name, const std::string& value) {
    is_of_program_ = name;
    if (name == "--meta") return TakePath(name, value, &options_.meta_path);
    if (name == "--batch") {
      return TakeCount(name, value, 1, kMaxMeasureBurst, &options_.program_batch);
    }
    if (name == "--param") {
      params_.push_back(value);
      return Status::Ok();
    }
    if (value != "fast" && value != "reference") {
      return Status::Error("--hash is '" + value + "'; it takes fast or reference");
    }
    options_.hash = value == "fast" ? MeasureHashFamily::kFast : MeasureHashFamily::kReference;
    return Status::Ok();
  }

  Status TakeProgram(const std::string& value) {
    const ProgramFile program = ProgramFileOf(value);
    if (program.path.empty()) return Status::Error("--program: the name of the file is empty");
    for (const ProgramFile& other : options_.programs) {
      if (other.name != program.name) continue;
      return Status::Error("--program: two are named '" + program.name + "'; say NAME=FILE.mafia");
    }
    options_.programs.push_back(program);
    return Status::Ok();
  }

  // "NAME=VALUE", or "PROGRAM.NAME=VALUE": names of params have no dots.
  Status TakeParam(const std::string& text) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const size_t dot = name.find_last_of('.');
    const size_t begin = dot == std::string::npos ? 0 : dot + 1;
    if (equals == std::string::npos || begin == equals || dot == 0) {
      return Status::Error("--param is '" + text + "'; it takes NAME=VALUE or PROGRAM.NAME=VALUE");
    }
    if (begin == 0 && options_.programs.size() > 1) {
      return Status::Error("--param is '" + text + "'; of several programs it takes " +
                           "PROGRAM.NAME=VALUE");
    }
    for (ProgramFile& program : options_.programs) {
      if (begin != 0 && program.name != name.substr(0, dot)) continue;
      program.params[name.substr(begin)] = text.substr(equals + 1);
      return Status::Ok();
    }
    return Status::Error("--param is '" + text + "'; there is no program '" + name.substr(0, dot) +
                         "'");
  }

  // Options of events need events, those of programs a program.
  Status CheckProgramOptions() {
    if (options_.programs.empty()) {
      if (is_of_program_.empty()) return Status::Ok();
      return Status::Error(is_of_program_ + " needs --program FILE.mafia");
    }
    for (const std::string& param : params_) {
      if (Status status = TakeParam(param); !status.ok()) return status;
    }
    if (options_.events_path.empty()) {
      if (!is_of_events_.empty()) return Status::Error(is_of_events_ + " needs --events FILE.yaml");
      if (options_.programs.size() > 1) {
        return Status::Error("several programs need --events FILE.yaml");
      }
      return options_.captures.size() == 1
                 ? Status::Ok()
                 : Status::Error("--program without --events takes one capture");
    }
    if (options_.programs.size() > kMaxPrograms) {
      return Status::Error("--program may be given at most " + std::to_string(kMaxPrograms) +
                           " times");
    }
    if (options_.wants_state) {
      return Status::Error("--state and --events cannot be given together");
    }
    if (options_.meta_path.empty() || options_.captures.size() == 1) return Status::Ok();
    return Status::Error("--meta takes one capture");
  }

  static Status TakePath(const std::string& name, const std::string& value, std::string* path) {
    if (value.empty()) return Status::Error(name + ": the name of the file is empty");
    if (!path->empty()) return Status::Error(name + " is given twice");
    *path = value;
    return Status::Ok();
  }

  static Status TakeCount(const std::string& name, const std::string& value, uint64_t least,
                          uint64_t most, uint32_t* count) {
    const auto number = ParseDigits(value);
    if (!number || *number < least || *number > most) {
      return Status::Error(name + " is '" + value + "'; it takes " + std::to_string(least) +
                           " to " + std::to_string(most));
    }
    *count = static_cast<uint32_t>(*number);
    return Status::Ok();
  }

  Status TakeSplit(const std::string& value) {
    static constexpr std::pair<std::string_view, OfflineSplit> kSplits[] = {
        {"flow", OfflineSplit::kConnection},
        {"direction", OfflineSplit::kDirection},
        {"packet", OfflineSplit::kPacket}};
    for (const auto& [name, split] : kSplits) {
      if (value != name) continue;
      options_.split = split;
      return Status::Ok();
    }
    return Status::Error("--split is '" + value + "'; it takes flow, direction or packet");
  }

  static Status TakePort(const std::string& name, const std::string& value,
                         std::array<uint16_t, kMaxTunnelPorts>* ports) {
    const auto number = ParseDigits(value);
    if (!number || *number < 1 || *number > 65535) {
      return Status::Error(name + " is '" + value + "'; it takes a UDP port, 1 to 65535");
    }
    const auto port = static_cast<uint16_t>(*number);
    if (std::count(ports->begin(), ports->end(), port) != 0) return Status::Ok();
    const auto slot = std::find(ports->begin(), ports->end(), 0);
    if (slot == ports->end()) {
      return Status::Error(name + " may be given at most " + std::to_string(kMaxTunnelPorts - 1) +
                           " times");
    }
    *slot = port;
    return Status::Ok();
  }

  const std::vector<std::string>& arguments_;
  size_t at_ = 0;
  std::string is_of_events_;   // an option that only events have
  std::string is_of_program_;  // an option that only programs have
  std::vector<std::string> params_;
  ReplayOptions options_;
};

}  // namespace

Result<ReplayOptions> ParseReplayOptions(const std::vector<std::string>& arguments) {
  return OptionParser(arguments).Parse();
}

const char* ReplayHelp() {
  return R"(trumpet-replay: run events and measurement programs over packet captures

Usage: trumpet-replay --events FILE.yaml [--program FILE.mafia]... [OPTION]... PCAP...
       trumpet-replay --program FILE.mafia [OPTION]... PCAP

The monitor that runs inside the switch reads the captures (pcap or pcapng, merged by
time as the traffic of one host; '-' is standard input) by the clock of their time stamps and
prints each report as one JSON object a line, in the order of interval end, event, bucket.
The same input always gives the same output.

Options:
  --events FILE.yaml      the events, see docs/event-language.md; a FILE.json is JSON
  --flow-timeout TIME     TCP state lives so long after the last packet of a
                          connection: 1ms to 3600s (default 10s)
  --burst-gap TIME        packets of a flow at most so far apart are a burst:
                          0ns to 1s (default 10us)
  --vxlan-port PORT       look for VXLAN at this UDP port too, besides 4789;
                          may be repeated, up to 3 times
  --geneve-port PORT      the same for Geneve, besides 6081
  --schedule FILE         install and remove events at instants of the trace: lines
                          'NS install NAME' and 'NS remove NAME', NS in Unix time;
                          an event whose first line installs it waits for that
  --threads N             as on a switch with N packet threads: 1 to 64 (default 1)
  --split HOW             what stays on one thread: flow (both directions of a
                          connection, the default), direction, or packet (in turn)
  --flows N               room for so many flows a thread: 16 to 4194304 (default:
                          enough); what finds none marks reports incomplete
  --program [NAME=]FILE.mafia
                          a measurement program, see docs/measurement-language.md; events
                          read it as measure("NAME").STATE (NAME without it: the file's,
                          without .mafia); with --events it may be repeated, up to 64
                          times.  Without events each collected packet is printed as one
                          JSON object a line.  Programs with roles run on three switches
                          in a row, and what each collects is printed behind those before
  --state                 without events: prints one JSON object instead, variables,
                          diagnostics, and sums of what was collected and forwarded
  --meta FILE.csv         of each packet: path,qlen1,qlen2,qlen3,in_port,is_ctrl
  --hash FAMILY           fast (default), or reference: murmur3, to compare cell by cell
  --param NAME=VALUE      another value of a param of the program; may be repeated; of one
                          of several programs: PROGRAM.NAME=VALUE
  --batch N               a program takes so many packets at once: 1 to 32 (default 32);
                          what it says is the same
  --stats                 sum up the run on standard error
  -h, --help              print this text
  -V, --version           print the version

TIME is a whole number and one of ns, us, ms, s.  Packets of a capture have no inPort.

Exit status:
  0  all captures were read to the end
  1  an event, a program, a capture or the output is at fault; the message names the place,
     and nothing was printed unless writing itself failed, or the machine's memory is used up
  2  the command line is wrong
)";
}

}  // namespace trumpet
