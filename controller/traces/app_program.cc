// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/app_program.h"

#include <algorithm>
#include <optional>
#include <ostream>
#include <utility>

#include "controller/analyzer/trace_judge.h"
#include "controller/store/trace_reader.h"
#include "controller/traces/arguments.h"
#include "controller/traces/trace_apps.h"
#include "controller/traces/trace_query.h"
#include "controller/traces/trace_text.h"

namespace trumpet {
namespace {

constexpr char kUsage[] =
    "usage: trumpet-analyzer app drops|loops|ecmp --store=DIRECTORY [OPTION]...\n"
    "Prints what the traces of a store say together, a line of JSON for each finding.\n"
    "  drops   where packets are lost: all, of one flow, to one prefix, or by chance\n"
    "  loops   which switches packets went round\n"
    "  ecmp    whether connections are spread evenly: --at=SWITCH --members=SWITCH,SWITCH,...\n"
    "  --from=TIME --until=TIME   as of trumpet-analyzer query\n"
    "  -h, --help                 print this\n";

struct AppOptions {
  std::string app;
  std::string store;
  SwitchBook switches;
  TraceQuery query;
  std::optional<uint16_t> at;
  std::vector<uint16_t> members;
};

Result<uint16_t> FindSwitch(const std::string& name, const std::string& text,
                            const SwitchBook& switches) {
  TraceQuery query;
  const Status set = SetTraceQuery("through", text, switches, &query);
  if (set.ok()) return *query.through;
  return Status::Error(name + ": there is no switch '" + text + "'");
}

Status TakeMembers(const std::string& text, AppOptions* options) {
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const auto number = FindSwitch("--members", text.substr(at, end - at), options->switches);
    if (!number.ok()) return number.status();
    const auto& members = options->members;
    if (std::find(members.begin(), members.end(), *number) != members.end()) {
      return Status::Error("--members: " + text.substr(at, end - at) + " is named twice");
    }
    options->members.push_back(*number);
    at = end + 1;
  }
  return Status::Ok();
}

Status TakeOption(const std::string& name, const std::string& value, AppOptions* options) {
  if (name == "--members") return TakeMembers(value, options);
  if (name == "--at") {
    const auto number = FindSwitch(name, value, options->switches);
    if (!number.ok()) return number.status();
    options->at = *number;
    return Status::Ok();
  }
  const Status set = SetTraceQuery(name.substr(2), value, options->switches, &options->query);
  return set.ok() ? set : Status::Error("--" + set.message());
}

Result<AppOptions> MakeOptions(const Arguments& arguments) {
  AppOptions options;
  if (arguments.files.size() == 1) options.app = arguments.files[0];
  if (options.app != "drops" && options.app != "loops" && options.app != "ecmp") {
    return Status::Error("one of drops, loops and ecmp must be given");
  }
  for (const auto& [name, value] : arguments.options) {
    if (name == "--store") options.store = value;
  }
  if (options.store.empty()) return Status::Error("--store=DIRECTORY is missing");
  auto switches = LoadSwitchBook(options.store);
  if (!switches.ok()) return switches.status();
  options.switches = std::move(*switches);
  for (const auto& [name, value] : arguments.options) {
    const Status taken = name == "--store" ? Status::Ok() : TakeOption(name, value, &options);
    if (!taken.ok()) return taken;
  }
  const bool is_ecmp = options.app == "ecmp";
  if (is_ecmp && (!options.at || options.members.empty())) {
    return Status::Error("ecmp needs --at=SWITCH and --members=SWITCH,SWITCH,...");
  }
  if (!is_ecmp && (options.at || !options.members.empty())) {
    return Status::Error("--at and --members are of ecmp");
  }
  options.query.limit = kMaxTracesAsked;
  return options;
}

Status Run(AppOptions options, std::ostream* out) {
  auto reader = OpenTraceReader(options.store);
  if (!reader.ok()) return reader.status();
  const auto links = (*reader)->Links(options.query.from, options.query.until, nullptr);
  if (!links.ok()) return links.status();
  if (options.app == "ecmp") {
    *out << JsonLine(ProfileEcmp(*links, *options.at, options.members, options.switches));
    return Status::Ok();
  }
  const bool is_loops = options.app == "loops";
  options.query.fault = static_cast<uint8_t>(is_loops ? TraceFault::kLoop : TraceFault::kDropped);
  const auto traces = (*reader)->Find(options.query, {}, nullptr);
  if (!traces.ok()) return traces.status();
  const auto findings = is_loops ? DebugLoops(*traces, options.switches)
                                 : DebugDrops(*traces, *links, options.switches);
  for (const auto& finding : findings) *out << JsonLine(finding);
  return Status::Ok();
}

}  // namespace

int RunAppProgram(const std::vector<std::string>& words, std::ostream* out, std::ostream* err) {
  const auto run = [out](const Arguments& arguments) {
    auto options = MakeOptions(arguments);
    return options.ok() ? Run(std::move(*options), out) : options.status();
  };
  return RunProgram(words, {{"--store"}, {"--at"}, {"--members"}, {"--from"}, {"--until"}}, kUsage,
                    run, out, err);
}

}  // namespace trumpet
