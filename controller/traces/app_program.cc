// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/app_program.h"

#include <ostream>
#include <utility>

#include "controller/store/trace_reader.h"
#include "controller/traces/app_run.h"
#include "controller/traces/arguments.h"
#include "controller/traces/trace_text.h"

namespace trumpet {
namespace {

constexpr char kUsage[] =
    "usage: trumpet-analyzer app drops|loops|ecmp|latency|roce|sessions --store=DIRECTORY\n"
    "       [OPTION]...\n"
    "Prints what the traces of a store say together, a line of JSON for each finding.\n"
    "  drops     where packets are lost: all, of one flow, to one prefix, or by chance\n"
    "  loops     which switches packets went round\n"
    "  ecmp      whether connections are spread evenly: --at=SWITCH --members=SWITCH,SWITCH,...\n"
    "  latency   how long links take, and whether longer than in an --earlier=TIME as long\n"
    "  roce      what NAKs, congestion notifications and PAUSE tell: see trumpet-analyzer roce\n"
    "  sessions  what became of sessions of BGP, and why, with a timeline of each\n"
    "  --from=TIME --until=TIME   as of trumpet-analyzer query\n"
    "  -h, --help                 print this\n";

struct AppOptions {
  std::string store;
  SwitchBook switches;
  AppQuestion question;
};

Result<AppOptions> MakeOptions(const Arguments& arguments) {
  AppOptions options;
  AppQuestion& question = options.question;
  if (arguments.files.size() == 1) question.app = arguments.files[0];
  question.query.limit = kMaxTracesAsked;
  for (const auto& [name, value] : arguments.options) {
    if (name == "--store") options.store = value;
  }
  if (!question.app.empty() && options.store.empty()) {
    return Status::Error("--store=DIRECTORY is missing");
  }
  if (!options.store.empty()) {
    auto switches = LoadSwitchBook(options.store);
    if (!switches.ok()) return switches.status();
    options.switches = std::move(*switches);
  }
  for (const auto& [name, value] : arguments.options) {
    if (name == "--store") continue;
    const Status set = SetAppWord(name.substr(2), value, options.switches, &question);
    if (!set.ok()) return Status::Error("--" + set.message());
  }
  const Status checked = CheckApp(question);
  if (!checked.ok()) return checked;
  return options;
}

Status Run(const AppOptions& options, std::ostream* out) {
  auto reader = OpenTraceReader(options.store);
  if (!reader.ok()) return reader.status();
  const auto findings =
      RunApp(reader->get(), options.question, /*is_cut_wrong=*/false, options.switches,
             /*may_go_on=*/nullptr, /*missing=*/nullptr);
  if (!findings.ok()) return findings.status();
  for (const auto& finding : *findings) *out << JsonLine(finding);
  return Status::Ok();
}

}  // namespace

int RunAppProgram(const std::vector<std::string>& words, std::ostream* out, std::ostream* err) {
  const auto run = [out](const Arguments& arguments) {
    auto options = MakeOptions(arguments);
    return options.ok() ? Run(std::move(*options), out) : options.status();
  };
  return RunProgram(words,
                    {{"--store"}, {"--at"}, {"--members"}, {"--from"}, {"--until"}, {"--earlier"}},
                    kUsage, run, out, err);
}

}  // namespace trumpet
