// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/ctl/commands.h"

#include <algorithm>
#include <ctime>
#include <ostream>

#include "controller/view/bounce_tables.h"
#include "controller/view/drop_tables.h"
#include "controller/view/measurement_tables.h"
#include "controller/view/probe_tables.h"
#include "controller/view/reshuffler_tables.h"
#include "controller/view/slice_tables.h"
#include "controller/view/trace_rule_tables.h"
#include "controller/view/trace_tables.h"
#include "lib/base/units.h"
#include "lib/base/utc_time.h"
#include "utilities/ctl/ctl_run.h"
#include "utilities/ctl/network_file.h"
#include "utilities/ctl/output.h"
#include "utilities/ctl/slice_commands.h"

namespace trumpet {
namespace {

constexpr size_t kMaxTokenFileBytes = 64 * 1024;

int ShowStatus(CtlRun* run) {
  ApiRequest request;
  request.path = "/readyz";
  const Result<ApiAnswer> answer = run->client->Send(request);
  if (!answer) return run->Fail(answer.message());
  ApiJson status = ApiJson::parse(answer->body, nullptr, false);
  if (!status.is_object()) return run->Fail(DescribeProblem(answer->status, answer->body, "", ""));
  if (!status.contains("events"))
    return run->Fail(DescribeProblem(answer->status, answer->body, "", ""));
  const auto events = run->Get("/v1/events");
  const auto hosts = events ? run->Get("/v1/hosts") : std::nullopt;
  if (!hosts) return 1;
  size_t connected = 0;
  size_t behind = 0;
  for (const ApiJson& host : (*hosts)["hosts"]) connected += host.value("connected", false) ? 1 : 0;
  for (const ApiJson& event : (*events)["events"]) {
    behind += event.value("hosts_applied", 0) != event.value("hosts_wanted", 0) ? 1 : 0;
  }
  status["server"] = run->invocation.server;
  status["event_count"] = (*events)["events"].size();
  status["events_not_everywhere"] = behind;
  status["host_count"] = (*hosts)["hosts"].size();
  status["hosts_connected"] = connected;
  run->Print(status, [&](const ApiJson& json) {
    return run->invocation.server + ": " + json.value("status", "") + "\n" +
           "  events: " + std::to_string((*events)["events"].size()) + ", of which " +
           std::to_string(behind) + " do not yet run on all their hosts\n  hosts: " +
           std::to_string((*hosts)["hosts"].size()) + ", of which " + std::to_string(connected) +
           " are connected\n  database of events: " + json.value("events", "") +
           "\n  database of reports: " + json.value("reports", "") + "\n";
  });
  return answer->is_success() ? 0 : 1;
}

int MakeToken(CtlRun* run) {
  const Status usage = CheckCtlToken(run->invocation);
  if (!usage) return run->Misuse(usage.message());
  const auto made = MakeCtlToken(run->invocation);
  if (!made) return run->Fail(made.message());
  if (run->invocation.Has("append")) {
    const Status appended =
        AppendCtlToken(run->invocation.Get("append"), run->argument(0), made->second);
    if (!appended) return run->Fail(appended.message());
    *run->terminal.out << made->first << "\n";
    return 0;
  }
  *run->terminal.out << made->first << "\n";
  *run->terminal.err
      << "Give the line above to its user; it is not kept anywhere.  Put this under\n"
         "'tokens:' in the controller's tokens.yaml:\n"
      << std::flush;
  *run->terminal.out << made->second;
  return 0;
}

// The first line of a file.
Result<std::string> ReadToken(const std::string& path) {
  const auto text = ReadBoundedFile(path, kMaxTokenFileBytes);
  if (!text) return Status::Error("the token: " + text.message());
  if (text->empty()) return Status::Error("there is no token in " + path);
  return text->substr(0, text->find('\n'));
}

int Do(CtlRun* run) {
  const std::string name = run->invocation.command->name;
  if (name == "event add") return AddCtlEvents(run);
  if (name == "event check") return CheckCtlEvents(run);
  if (name == "event list") return run->List("/v1/events", "events", EventTable);
  if (name == "event show") return ShowCtlEvent(run);
  if (name == "event rm") return run->ForEach("DELETE", "events", "");
  if (name == "event enable") return run->ForEach("PATCH", "events", "", R"({"enabled":true})");
  if (name == "event disable") return run->ForEach("PATCH", "events", "", R"({"enabled":false})");
  if (name == "event watch") return WatchCtlEvents(run);
  if (name == "report list") return ListCtlReports(run);
  if (name == "host list") return run->List("/v1/hosts", "hosts", HostTable);
  if (name == "simulate") return SimulateCtlEvents(run);
  if (name == "slice plan") return PlanCtlSlices(run);
  if (name == "slice run") return RunCtlSlices(run);
  if (name == "slice list") return run->List("/v1/slices", "slices", SliceTable);
  if (name == "slice show") return ShowCtlSlices(run);
  if (name == "slice packets") return SaveCtlPackets(run);
  if (name == "slice stop") return run->ForEach("POST", "slices", "/stop");
  if (name == "slice rm") return run->ForEach("DELETE", "slices", "");
  if (name == "measure install") return InstallCtlMeasurement(run);
  if (name == "measure list") {
    return run->List("/v1/measurements", "measurements", MeasurementTable);
  }
  if (name == "measure show") return ShowCtlMeasurement(run);
  if (name == "measure read") return ReadCtlMeasurement(run);
  if (name == "measure watch") return WatchCtlMeasurement(run);
  if (name == "measure ask") return AskCtlMeasurement(run);
  if (name == "measure rm") return run->ForEach("DELETE", "measurements", "");
  if (name.rfind("app ", 0) == 0) return RunCtlApp(run, name.substr(4));
  if (name == "counter links") return ShowCtlCounters(run, "/v1/counters/links");
  if (name == "counter traces") return ShowCtlCounters(run, "/v1/counters/traces");
  if (name == "counter add") return AddCtlCounter(run);
  if (name == "counter list") return run->List("/v1/counters", "counters", NamedCounterTable);
  if (name == "counter show") return ShowCtlCounter(run);
  if (name == "counter rm") return run->ForEach("DELETE", "counters", "");
  if (name == "probe send") return SendCtlProbe(run);
  if (name == "probe replay") return ReplayCtlTrace(run);
  if (name == "probe bounce") return BounceCtlProbe(run);
  if (name == "probe links") return BounceCtlLinks(run);
  if (name == "probe bounces") return run->List("/v1/bounces", "bounces", BounceTable);
  if (name == "probe drops") return SearchCtlDrops(run);
  if (name == "probe searches") {
    return run->List("/v1/apps/drops/probes", "searches", DropSearchTable);
  }
  if (name == "probe search") return ShowCtlDropSearch(run);
  if (name == "probe stop") return run->ForEach("DELETE", "apps/drops/probes", "");
  if (name == "probe list") return run->List("/v1/probes", "probes", ProbeTable);
  if (name == "probe show") return ShowCtlProbe(run);
  if (name == "trace query") return QueryCtlTraces(run);
  if (name == "trace show") return ShowCtlTrace(run);
  if (name == "trace watch") return WatchCtlTraces(run);
  if (name == "trace export") return ExportCtlTraces(run);
  if (name == "trace rules apply") return ApplyCtlTraceRules(run);
  if (name == "trace rules list") return ListCtlTraceRules(run);
  if (name == "trace rules show") return ShowCtlTraceRule(run);
  if (name == "trace rules rm") return RemoveCtlTraceRules(run);
  if (name == "debug enable") return EnableCtlDebug(run);
  if (name == "debug disable") return run->ForEach("DELETE", "debug-marks", "");
  if (name == "debug list") return run->List("/v1/debug-marks", "marks", DebugMarkTable);
  if (name == "trace reshuffler list") {
    return run->List("/v1/reshufflers", "reshufflers", ReshufflerTable);
  }
  if (name == "trace reshuffler show") {
    const auto answer = run->Get(ApiPath("reshufflers", run->argument(0)));
    return answer ? run->Print(*answer, ReshufflerText) : 1;
  }
  if (name == "status") return ShowStatus(run);
  if (name == "token new") return MakeToken(run);
  const bool is_host = name == "host show";
  const auto answer = run->Get(is_host ? ApiPath("hosts", run->argument(0)) : "/v1/topology");
  if (!answer) return 1;
  return run->Print(*answer, is_host ? HostText : TopologyText);
}

}  // namespace

Result<std::string> ParseCtlTime(const std::string& text) {
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  if (is_number) return text;
  tm parts{};
  const char* rest = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr) {
    parts = {};
    rest = strptime(text.c_str(), "%Y-%m-%d", &parts);
  }
  Nanos nanos = 0;
  if (rest != nullptr && *rest == '.') {
    Nanos digit = kNanosPerSecond / 10;
    for (++rest; *rest >= '0' && *rest <= '9'; ++rest, digit /= 10) nanos += (*rest - '0') * digit;
  }
  if (rest != nullptr && *rest == 'Z') ++rest;
  const auto seconds = rest != nullptr && *rest == '\0' ? UtcSeconds(parts) : std::nullopt;
  if (!seconds) {
    return Status::Error("'" + text +
                         "' is no time; 2026-11-21T12:00:00Z, 2026-11-21 and "
                         "nanoseconds of Unix time are");
  }
  return std::to_string(std::max<Nanos>(NanosOfSeconds(*seconds) + nanos, 0));
}

int RunCtl(const CtlInvocation& invocation, const CtlTerminal& terminal) {
  const std::string name = invocation.command->name;
  const bool is_offline =
      name == "slice solve" || (name == "slice plan" && !invocation.Has("controller"));
  if (is_offline) return RunSliceCommand(invocation, terminal);
  if (name == "store migrate") return MigrateCtlStore(invocation, terminal);
  CtlRun offline{invocation, terminal, nullptr};
  if (name == "measure check") return CheckCtlMeasure(&offline);
  if (name == "trace rules check") return CheckCtlTraceRules(&offline);
  if (name == "trace rules compile") return CompileCtlTraceRules(&offline);
  if (name == "trace rules import") return ImportCtlTraceRules(&offline);
  if (name == "trace rules export") return ExportCtlTraceRules(&offline);
  Result<std::string> token{std::string()};
  if (!invocation.token_file.empty() && name != "token new") {
    token = ReadToken(invocation.token_file);
    if (!token) return offline.Fail(token.message());
  }
  HttpClient client(invocation.server, *token, invocation.ca_file);
  CtlRun run{invocation, terminal, &client};
  return Do(&run);
}

}  // namespace trumpet
