// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The commands of trumpetctl about events.

#include <algorithm>
#include <chrono>
#include <ostream>
#include <thread>

#include "lib/base/name_list.h"
#include "utilities/ctl/ctl_run.h"
#include "utilities/ctl/output.h"

namespace trumpet {
namespace {

constexpr auto kLookAgain = std::chrono::milliseconds(200);
constexpr char kYaml[] = "application/yaml";

int WaitForEvents(CtlRun* run, const std::vector<std::string>& names) {
  const auto deadline = WaitsUntil(run->invocation);
  while (true) {
    const auto answer = run->Get("/v1/events");
    if (!answer) return 1;
    uint64_t wanted = 0;
    uint64_t applied = 0;
    std::string problem;
    for (const ApiJson& event : (*answer)["events"]) {
      if (std::find(names.begin(), names.end(), event.value("name", "")) == names.end()) continue;
      wanted += event.value("hosts_wanted", uint64_t{0});
      applied += event.value("hosts_applied", uint64_t{0});
      if (problem.empty()) problem = event.value("problem", "");
    }
    const std::string text = "applied " + std::to_string(applied) + " of " +
                             std::to_string(wanted) + " (events times hosts)";
    run->ShowProgress(text);
    const bool is_late = std::chrono::steady_clock::now() >= deadline;
    if (applied == wanted || is_late || !problem.empty()) {
      run->ShowProgress("");
      if (!problem.empty()) return run->Fail(problem);
      return is_late && applied != wanted ? run->Fail("only " + text) : 0;
    }
    std::this_thread::sleep_for(kLookAgain);
  }
}

}  // namespace

int AddCtlEvents(CtlRun* run) {
  std::vector<std::string> names;
  ApiJson all = ApiJson::array();
  for (const std::string& file : run->invocation.arguments) {
    const auto document = run->ReadDocument(file);
    if (!document) return 1;
    ApiRequest request = RequestWith("POST", "/v1/events", *document, kYaml);
    if (run->invocation.Has("replace")) request.query.emplace_back("replace", "true");
    const auto answer = run->Ask(request, &*document);
    if (!answer) return 1;
    for (const ApiJson& event : (*answer)["events"]) {
      names.push_back(event.value("name", ""));
      all.push_back(event);
    }
  }
  const int waited = run->invocation.Has("wait") ? WaitForEvents(run, names) : 0;
  if (run->invocation.output == OutputFormat::kTable) {
    for (const std::string& name : names) *run->terminal.out << name << "\n";
    return waited;
  }
  run->Print(all, EventTable);
  return waited;
}

int CheckCtlEvents(CtlRun* run) {
  ApiJson all = ApiJson::array();
  for (const std::string& file : run->invocation.arguments) {
    const auto document = run->ReadDocument(file);
    if (!document) return 1;
    const auto answer = run->Ask(RequestWith("POST", "/v1/check", *document, kYaml), &*document);
    if (!answer) return 1;
    for (const ApiJson& event : (*answer)["events"]) all.push_back(event);
  }
  return run->Print(all, CheckTable);
}

int ShowCtlEvent(CtlRun* run) {
  const std::string path = ApiPath("events", run->argument(0));
  auto event = run->Get(path);
  if (!event) return 1;
  const auto hosts = run->Get(path + "/hosts");
  if (!hosts) return 1;
  const ApiJson on = hosts->value("hosts", ApiJson::array());
  if (run->invocation.output != OutputFormat::kTable) (*event)["hosts"] = on;
  return run->Print(*event, [&](const ApiJson& json) { return EventText(json, on); });
}

int WatchCtlEvents(CtlRun* run) {
  const uint64_t wanted = run->invocation.Whole("count", 0);  // 0: all
  uint64_t count = 0;
  const std::string names = JoinNames(run->invocation.arguments);
  CtlRun::Following following;
  if (!names.empty()) following.query.emplace_back("event", names);
  // A stream that is taken up again says what it had last, which goes before this.
  if (run->invocation.Has("after")) {
    following.query.emplace_back("after", run->invocation.Get("after"));
  }
  following.on_event = [&](const StreamedEvent& event) {
    const ApiJson json = ApiJson::parse(event.data, nullptr, false);
    if (event.type == "gap") {
      *run->terminal.err << "trumpetctl: reports are missing here: " << event.data << "\n";
      return true;
    }
    if (!event.type.empty() || json.is_discarded()) return true;
    *run->terminal.out << (run->invocation.output == OutputFormat::kTable ? ReportLine(json) + "\n"
                           : run->invocation.output == OutputFormat::kJson
                               ? event.data + "\n"
                               : "---\n" + PrintYaml(json))
                       << std::flush;
    return ++count != wanted && run->terminal.out->good();
  };
  return run->Follow(following);
}

}  // namespace trumpet
