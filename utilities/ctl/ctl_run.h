// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CtlRun: a command of trumpetctl under way: what was asked, whom to ask, and where to say what
// came of it.  The commands themselves are in the files of their nouns.
//
// Threads: one.  Calls return when the answer is there.
// Lifetime: what it is made of must outlive it.

#ifndef TRUMPET_UTILITIES_CTL_CTL_RUN_H
#define TRUMPET_UTILITIES_CTL_CTL_RUN_H

#include <chrono>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "controller/view/api_tables.h"
#include "utilities/ctl/commands.h"
#include "utilities/ctl/event_stream.h"
#include "utilities/ctl/http_client.h"

namespace trumpet {

struct CtlDocument {
  std::string name;  // for messages
  std::string text;
  bool is_json = false;
};

struct CtlRun {
  using ToTable = std::function<std::string(const ApiJson&)>;

  const CtlInvocation& invocation;
  const CtlTerminal& terminal;
  HttpClient* client;

  const std::string& argument(size_t index) const { return invocation.arguments[index]; }

  // Says what is wrong; the exit status that goes with it: 1, or 2 if it is the usage.
  int Fail(const std::string& text);
  int Misuse(const std::string& text);
  // The answer as JSON; null after a failure, which has been told.
  std::optional<ApiJson> Ask(const ApiRequest& request, const CtlDocument* document = nullptr);
  std::optional<ApiJson> Get(const std::string& path);
  // Table, JSON or YAML; the exit status.
  int Print(const ApiJson& json, const ToTable& to_table);
  // The list `key` of what is at `path`.
  int List(const char* path, const char* key, std::string (*to_table)(const ApiJson&));
  void ShowProgress(const std::string& text);
  // A file, or "-"; null after a failure, which has been told.
  std::optional<CtlDocument> ReadDocument(const std::string& name);
  // `method` at the path of each argument; nothing is printed.
  int ForEach(const char* method, const char* collection, const char* what,
              const std::string& body = "");

  // What `write` writes, to a file that gets its name when it is whole, or for "-" and "" to
  // standard output.  The exit status, `write`'s if that is not 0.
  int WriteTo(const std::string& path, const std::function<int(std::ostream*)>& write);

  // Reads a stream, and goes on where it was when the connection is cut, until `on_event` returns
  // false, which is a success, or until the time is up, told as `late`.  `on_open` is called once,
  // when the first stream is there; false ends it all.
  struct Following {
    std::string path = "/v1/stream";
    std::vector<std::pair<std::string, std::string>> query;
    std::function<bool(const StreamedEvent& event)> on_event;
    std::function<bool()> on_open;  // may be null
    std::optional<std::chrono::steady_clock::time_point> deadline;
    std::string late;
  };
  int Follow(const Following& following);
};

// "/v1/events/NAME"
std::string ApiPath(const char* collection, const std::string& name);
ApiRequest RequestWith(const char* method, const std::string& path, const CtlDocument& document,
                       const char* content_type);

// When `--wait=SECONDS` is up.
std::chrono::steady_clock::time_point WaitsUntil(const CtlInvocation& invocation);

// What --count, --rate and --timeout say of packets to be sent, by the API's names.
void AddSending(const CtlInvocation& invocation, ApiJson* body);

// The commands; each returns the exit status.
int AddCtlEvents(CtlRun* run);
int CheckCtlEvents(CtlRun* run);
int ShowCtlEvent(CtlRun* run);
int WatchCtlEvents(CtlRun* run);
int ListCtlReports(CtlRun* run);
int SimulateCtlEvents(CtlRun* run);
int PlanCtlSlices(CtlRun* run);
int CheckCtlMeasure(CtlRun* run);       // needs no controller
int CheckCtlTraceRules(CtlRun* run);    // likewise
int CompileCtlTraceRules(CtlRun* run);  // likewise
int ImportCtlTraceRules(CtlRun* run);   // likewise
int ExportCtlTraceRules(CtlRun* run);   // likewise
int QueryCtlTraces(CtlRun* run);
int ShowCtlTrace(CtlRun* run);
int WatchCtlTraces(CtlRun* run);
int ExportCtlTraces(CtlRun* run);
int ShowCtlCounters(CtlRun* run, const char* path);
int RunCtlApp(CtlRun* run, const std::string& app);
int AddCtlCounter(CtlRun* run);
int ShowCtlCounter(CtlRun* run);
int BounceCtlProbe(CtlRun* run);
int BounceCtlLinks(CtlRun* run);
int SearchCtlDrops(CtlRun* run);
int ShowCtlDropSearch(CtlRun* run);
int SendCtlProbe(CtlRun* run);
int ReplayCtlTrace(CtlRun* run);
int ShowCtlProbe(CtlRun* run);
int ApplyCtlTraceRules(CtlRun* run);
int ListCtlTraceRules(CtlRun* run);
int ShowCtlTraceRule(CtlRun* run);
int RemoveCtlTraceRules(CtlRun* run);
int EnableCtlDebug(CtlRun* run);
int InstallCtlMeasurement(CtlRun* run);
int ShowCtlMeasurement(CtlRun* run);
int ReadCtlMeasurement(CtlRun* run);
int WatchCtlMeasurement(CtlRun* run);
int AskCtlMeasurement(CtlRun* run);
int RunCtlSlices(CtlRun* run);
int ShowCtlSlices(CtlRun* run);
int SaveCtlPackets(CtlRun* run);

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_CTL_CTL_RUN_H
