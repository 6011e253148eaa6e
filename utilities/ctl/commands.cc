// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/ctl/commands.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <istream>
#include <iterator>
#include <optional>
#include <ostream>
#include <thread>

#include "controller/view/slice_tables.h"
#include "lib/base/backoff.h"
#include "lib/base/units.h"
#include "utilities/ctl/event_stream.h"
#include "utilities/ctl/http_client.h"
#include "utilities/ctl/output.h"
#include "utilities/ctl/slice_commands.h"

namespace trumpet {
namespace {

constexpr auto kLookAgain = std::chrono::milliseconds(200);
constexpr Nanos kFirstReconnect = 200 * kNanosPerMilli;
constexpr Nanos kLongestReconnect = 10 * kNanosPerSecond;

struct Document {
  std::string name;  // for messages
  std::string text;
  bool is_json = false;
};

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// A command under way: what was asked, and where to say what came of it.
class Run {
 public:
  Run(const CtlInvocation& invocation, const CtlTerminal& terminal, HttpClient* client)
      : invocation_(invocation), terminal_(terminal), client_(client) {}

  int Do();

 private:
  int Fail(const std::string& text) {
    *terminal_.err << "trumpetctl: " << text << (EndsWith(text, "\n") ? "" : "\n");
    return 1;
  }

  // The answer as JSON; null after a failure, which has been told.
  std::optional<ApiJson> Ask(const ApiRequest& request, const Document* document = nullptr) {
    const Result<ApiAnswer> answer = client_->Send(request);
    if (!answer) {
      Fail(answer.message());
      return std::nullopt;
    }
    if (!answer->is_success()) {
      Fail(DescribeProblem(answer->status, answer->body, document ? document->text : "",
                           document ? document->name : ""));
      return std::nullopt;
    }
    if (answer->body.empty()) return ApiJson::object();
    ApiJson json = ApiJson::parse(answer->body, nullptr, false);
    if (!json.is_discarded()) return json;
    Fail(invocation_.server + " does not speak JSON; is it the controller?");
    return std::nullopt;
  }
  std::optional<ApiJson> Get(const std::string& path) {
    ApiRequest request;
    request.path = path;
    return Ask(request);
  }

  // Table, JSON or YAML.
  template <typename ToTable>
  int Print(const ApiJson& json, const ToTable& to_table) {
    switch (invocation_.output) {
      case OutputFormat::kJson:
        *terminal_.out << json.dump(2, ' ', false, ApiJson::error_handler_t::replace) << "\n";
        break;
      case OutputFormat::kYaml:
        *terminal_.out << PrintYaml(json);
        break;
      case OutputFormat::kTable:
        PrintTable(to_table(json));
    }
    return 0;
  }
  // The first line, the headings, in bold.
  void PrintTable(const std::string& table) {
    const size_t end = table.find('\n');
    if (!terminal_.out_has_colors || end == table.npos || end + 1 == table.size()) {
      *terminal_.out << table;
    } else {
      *terminal_.out << "\033[1m" << table.substr(0, end) << "\033[0m" << table.substr(end);
    }
  }
  void ShowProgress(const std::string& text) {
    if (terminal_.err_is_terminal) *terminal_.err << "\r\033[K" << text << std::flush;
  }

  std::optional<Document> ReadDocument(const std::string& name);
  int Add();
  int Check();
  int List(const char* path, const char* key, std::string (*to_table)(const ApiJson&));
  int ShowEvent();
  int Remove();
  int Enable(bool enabled);
  int Watch();
  int Reports();
  int Simulate();
  int ShowStatus();
  int MakeToken();
  int PlanSlice();
  int RunSlice();
  int WaitForRun(const std::string& path, uint64_t last_run);
  int ShowSlice();
  int ChangeSlice(const char* method, const char* what);
  int Wait(const std::vector<std::string>& names);

  const CtlInvocation& invocation_;
  const CtlTerminal& terminal_;
  HttpClient* const client_;
};

std::string EventPath(const std::string& name) { return "/v1/events/" + HttpClient::Escape(name); }

std::optional<Document> Run::ReadDocument(const std::string& name) {
  Document document;
  document.name = name == "-" ? "(standard input)" : name;
  std::ifstream file;
  std::istream* in = terminal_.in;
  if (name != "-") {
    file.open(name, std::ios::binary);
    in = &file;
  }
  document.text.assign(std::istreambuf_iterator<char>(*in), std::istreambuf_iterator<char>());
  if (in->bad() || (name != "-" && !file.is_open())) {
    Fail("cannot read " + name);
    return std::nullopt;
  }
  document.is_json = EndsWith(name, ".json");
  return document;
}

ApiRequest PostOf(const std::string& path, const Document& document) {
  ApiRequest request;
  request.method = "POST";
  request.path = path;
  request.body = document.text;
  request.content_type = document.is_json ? "application/json" : "application/yaml";
  return request;
}

int Run::Add() {
  std::vector<std::string> names;
  ApiJson all = ApiJson::array();
  for (const std::string& file : invocation_.arguments) {
    const auto document = ReadDocument(file);
    if (!document) return 1;
    ApiRequest request = PostOf("/v1/events", *document);
    if (invocation_.Has("replace")) request.query.emplace_back("replace", "true");
    const auto answer = Ask(request, &*document);
    if (!answer) return 1;
    for (const ApiJson& event : (*answer)["events"]) {
      names.push_back(event.value("name", ""));
      all.push_back(event);
    }
  }
  const int waited = invocation_.Has("wait") ? Wait(names) : 0;
  if (invocation_.output == OutputFormat::kTable) {
    for (const std::string& name : names) *terminal_.out << name << "\n";
    return waited;
  }
  Print(all, EventTable);
  return waited;
}

int Run::Wait(const std::vector<std::string>& names) {
  const long seconds = std::strtol(invocation_.Get("wait").c_str(), nullptr, 10);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (true) {
    const auto answer = Get("/v1/events");
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
    ShowProgress(text);
    const bool is_late = std::chrono::steady_clock::now() >= deadline;
    if (applied == wanted || is_late || !problem.empty()) {
      ShowProgress("");
      if (!problem.empty()) return Fail(problem);
      return is_late && applied != wanted ? Fail("only " + text) : 0;
    }
    std::this_thread::sleep_for(kLookAgain);
  }
}

int Run::Check() {
  ApiJson all = ApiJson::array();
  for (const std::string& file : invocation_.arguments) {
    const auto document = ReadDocument(file);
    if (!document) return 1;
    const auto answer = Ask(PostOf("/v1/check", *document), &*document);
    if (!answer) return 1;
    for (const ApiJson& event : (*answer)["events"]) all.push_back(event);
  }
  return Print(all, CheckTable);
}

int Run::List(const char* path, const char* key, std::string (*to_table)(const ApiJson&)) {
  const auto answer = Get(path);
  if (!answer) return 1;
  return Print(answer->value(key, ApiJson::array()), to_table);
}

int Run::ShowEvent() {
  const std::string path = EventPath(invocation_.arguments[0]);
  auto event = Get(path);
  if (!event) return 1;
  const auto hosts = Get(path + "/hosts");
  if (!hosts) return 1;
  const ApiJson on = hosts->value("hosts", ApiJson::array());
  if (invocation_.output != OutputFormat::kTable) (*event)["hosts"] = on;
  return Print(*event, [&](const ApiJson& json) { return EventText(json, on); });
}

int Run::Remove() {
  for (const std::string& name : invocation_.arguments) {
    ApiRequest request;
    request.method = "DELETE";
    request.path = EventPath(name);
    if (!Ask(request)) return 1;
  }
  return 0;
}

int Run::Enable(bool enabled) {
  for (const std::string& name : invocation_.arguments) {
    ApiRequest request;
    request.method = "PATCH";
    request.path = EventPath(name);
    request.body = std::string("{\"enabled\":") + (enabled ? "true" : "false") + "}";
    request.content_type = "application/json";
    if (!Ask(request)) return 1;
  }
  return 0;
}

// Goes on where it was when the connection is cut, until somebody stops it.
int Run::Watch() {
  const uint64_t wanted = std::strtoull(invocation_.Get("count", "0").c_str(), nullptr, 10);
  uint64_t count = 0;
  bool is_done = false;
  Backoff backoff(
      kFirstReconnect, kLongestReconnect,
      static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
  EventStreamReader reader([&](const StreamedEvent& event) {
    if (is_done) return;
    backoff.Reset();
    const ApiJson json = ApiJson::parse(event.data, nullptr, false);
    if (event.type == "gap") {
      *terminal_.err << "trumpetctl: reports are missing here: " << event.data << "\n";
      return;
    }
    if (!event.type.empty() || json.is_discarded()) return;
    *terminal_.out << (invocation_.output == OutputFormat::kTable  ? ReportLine(json) + "\n"
                       : invocation_.output == OutputFormat::kJson ? event.data + "\n"
                                                                   : "---\n" + PrintYaml(json))
                   << std::flush;
    is_done = ++count == wanted;
  });
  std::string last_told;
  while (true) {
    ApiRequest request;
    request.path = "/v1/stream";
    request.headers = {"Accept: text/event-stream"};
    std::string names;
    for (const std::string& name : invocation_.arguments)
      names += (names.empty() ? "" : ",") + name;
    if (!names.empty()) request.query.emplace_back("event", names);
    if (!reader.last_id().empty()) {
      request.headers.push_back("Last-Event-ID: " + reader.last_id());
    } else if (invocation_.Has("after")) {
      request.query.emplace_back("after", invocation_.Get("after"));
    }
    request.receive = [&](std::string_view bytes) { return reader.Read(bytes) && !is_done; };
    reader.Restart();
    const Result<ApiAnswer> answer = client_->Send(request);
    if (is_done) return 0;
    const bool is_refused = answer.ok() && answer->status >= 400 && answer->status < 500 &&
                            answer->status != 408 && answer->status != 429;
    if (is_refused) return Fail(DescribeProblem(answer->status, answer->body, "", ""));
    const std::string why = answer.ok() ? answer->is_success()
                                              ? "the controller ended the stream"
                                              : "status " + std::to_string(answer->status)
                                        : answer.message();
    if (why != last_told) *terminal_.err << "trumpetctl: " << why << "; trying again\n";
    last_told = why;
    std::this_thread::sleep_for(std::chrono::nanoseconds(backoff.Next()));
  }
}

int Run::Reports() {
  ApiRequest request;
  request.path = "/v1/reports";
  request.query = {{"order", "desc"}};
  for (const char* name : {"event", "bucket", "limit"}) {
    if (invocation_.Has(name)) request.query.emplace_back(name, invocation_.Get(name));
  }
  for (const char* name : {"from", "until"}) {
    if (!invocation_.Has(name)) continue;
    const Result<std::string> time = ParseCtlTime(invocation_.Get(name));
    if (!time) return Fail(std::string("--") + name + ": " + time.message());
    request.query.emplace_back(name, *time);
  }
  const auto answer = Ask(request);
  if (!answer) return 1;
  return Print(answer->value("reports", ApiJson::array()), ReportTable);
}

int Run::Simulate() {
  const auto document = ReadDocument(invocation_.arguments[0]);
  if (!document) return 1;
  const std::string& capture = invocation_.arguments[1];
  struct stat info {};
  if (stat(capture.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Fail("cannot read " + capture);
  }
  ApiRequest request;
  request.method = "POST";
  request.path = "/v1/simulate";
  request.form = {{"events", document->text, ""}, {"capture", "", capture}};
  request.progress = [this](uint64_t sent, uint64_t total) {
    ShowProgress(sent < total ? "sending: " + std::to_string(100 * sent / total) + "%" : "running");
  };
  const auto answer = Ask(request, &*document);
  ShowProgress("");
  if (!answer) return 1;
  return Print(answer->value("reports", ApiJson::array()), ReportTable);
}

int Run::ShowStatus() {
  ApiRequest request;
  request.path = "/readyz";
  const Result<ApiAnswer> answer = client_->Send(request);
  if (!answer) return Fail(answer.message());
  ApiJson status = ApiJson::parse(answer->body, nullptr, false);
  if (!status.is_object()) return Fail(DescribeProblem(answer->status, answer->body, "", ""));
  if (!status.contains("events"))
    return Fail(DescribeProblem(answer->status, answer->body, "", ""));
  const auto events = Get("/v1/events");
  const auto hosts = events ? Get("/v1/hosts") : std::nullopt;
  if (!hosts) return 1;
  size_t connected = 0;
  size_t behind = 0;
  for (const ApiJson& host : (*hosts)["hosts"]) connected += host.value("connected", false) ? 1 : 0;
  for (const ApiJson& event : (*events)["events"]) {
    behind += event.value("hosts_applied", 0) != event.value("hosts_wanted", 0) ? 1 : 0;
  }
  status["server"] = invocation_.server;
  status["event_count"] = (*events)["events"].size();
  status["events_not_everywhere"] = behind;
  status["host_count"] = (*hosts)["hosts"].size();
  status["hosts_connected"] = connected;
  Print(status, [&](const ApiJson& json) {
    return invocation_.server + ": " + json.value("status", "") + "\n" +
           "  events: " + std::to_string((*events)["events"].size()) + ", of which " +
           std::to_string(behind) + " do not yet run on all their hosts\n  hosts: " +
           std::to_string((*hosts)["hosts"].size()) + ", of which " + std::to_string(connected) +
           " are connected\n  database of events: " + json.value("events", "") +
           "\n  database of reports: " + json.value("reports", "") + "\n";
  });
  return answer->is_success() ? 0 : 1;
}

std::string SlicePath(const std::string& name) { return "/v1/slices/" + HttpClient::Escape(name); }

ApiRequest CampaignRequest(const char* method, const std::string& path, const Document& document) {
  ApiRequest request;
  request.method = method;
  request.path = path;
  request.body = document.text;
  request.content_type = document.is_json ? "application/json" : "text/plain";
  return request;
}

int Run::PlanSlice() {
  const auto document = ReadDocument(invocation_.arguments[0]);
  if (!document) return 1;
  const auto plan = Ask(CampaignRequest("POST", "/v1/slices/plan", *document), &*document);
  if (!plan) return 1;
  return Print(*plan, SlicePlanText);
}

// A campaign that is there, or one from a file, which then runs at once.
int Run::RunSlice() {
  const std::string path = SlicePath(invocation_.arguments[0]);
  ApiRequest look;
  look.path = path;
  const Result<ApiAnswer> before = client_->Send(look);
  uint64_t last_run = 0;
  if (before.ok() && before->is_success()) {
    const ApiJson campaign = ApiJson::parse(before->body, nullptr, false);
    const ApiJson last = campaign.is_object() ? campaign.value("last", ApiJson()) : ApiJson();
    if (last.is_object()) last_run = last.value("run", uint64_t{0});
  }
  if (invocation_.arguments.size() == 2) {
    const auto document = ReadDocument(invocation_.arguments[1]);
    if (!document || !Ask(CampaignRequest("PUT", path, *document), &*document)) return 1;
  } else {
    ApiRequest request;
    request.method = "POST";
    request.path = path + "/run";
    if (!Ask(request)) return 1;
  }
  return invocation_.Has("wait") ? WaitForRun(path, last_run) : 0;
}

int Run::WaitForRun(const std::string& path, uint64_t last_run) {
  const long seconds = std::strtol(invocation_.Get("wait").c_str(), nullptr, 10);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (true) {
    const auto campaign = Get(path);
    if (!campaign) return 1;
    const ApiJson last = campaign->value("last", ApiJson());
    if (last.is_object() && last.value("run", uint64_t{0}) > last_run) {
      const auto run = Get(path + "/results");
      if (!run) return 1;
      Print(*run, SliceRunText);
      return run->value("state", "") == "done" ? 0 : 1;
    }
    if (std::chrono::steady_clock::now() >= deadline) return Fail("the run has not ended yet");
    std::this_thread::sleep_for(kLookAgain);
  }
}

int Run::ShowSlice() {
  const std::string path = SlicePath(invocation_.arguments[0]);
  auto campaign = Get(path);
  if (!campaign) return 1;
  const bool has_run =
      !campaign->value("now", ApiJson()).is_null() || !campaign->value("last", ApiJson()).is_null();
  const auto run = has_run ? Get(path + "/results") : std::optional<ApiJson>(ApiJson());
  if (!run) return 1;
  if (invocation_.output != OutputFormat::kTable) (*campaign)["results"] = *run;
  return Print(*campaign, [&](const ApiJson& json) {
    return SliceText(json) + (has_run ? SliceRunText(*run) : "");
  });
}

int Run::ChangeSlice(const char* method, const char* what) {
  for (const std::string& name : invocation_.arguments) {
    ApiRequest request;
    request.method = method;
    request.path = SlicePath(name) + what;
    if (!Ask(request)) return 1;
  }
  return 0;
}

int Run::MakeToken() {
  const auto made = MakeCtlToken(invocation_);
  if (!made) return Fail(made.message());
  if (invocation_.Has("append")) {
    const Status appended =
        AppendCtlToken(invocation_.Get("append"), invocation_.arguments[0], made->second);
    if (!appended) return Fail(appended.message());
    *terminal_.out << made->first << "\n";
    return 0;
  }
  *terminal_.out << made->first << "\n";
  *terminal_.err << "Give the line above to its user; it is not kept anywhere.  Put this under\n"
                    "'tokens:' in the controller's tokens.yaml:\n"
                 << std::flush;
  *terminal_.out << made->second;
  return 0;
}

int Run::Do() {
  const std::string name = invocation_.command->name;
  if (name == "event add") return Add();
  if (name == "event check") return Check();
  if (name == "event list") return List("/v1/events", "events", EventTable);
  if (name == "event show") return ShowEvent();
  if (name == "event rm") return Remove();
  if (name == "event enable") return Enable(true);
  if (name == "event disable") return Enable(false);
  if (name == "event watch") return Watch();
  if (name == "report list") return Reports();
  if (name == "host list") return List("/v1/hosts", "hosts", HostTable);
  if (name == "simulate") return Simulate();
  if (name == "slice plan") return PlanSlice();
  if (name == "slice run") return RunSlice();
  if (name == "slice list") return List("/v1/slices", "slices", SliceTable);
  if (name == "slice show") return ShowSlice();
  if (name == "slice stop") return ChangeSlice("POST", "/stop");
  if (name == "slice rm") return ChangeSlice("DELETE", "");
  if (name == "status") return ShowStatus();
  if (name == "token new") return MakeToken();
  const bool is_host = name == "host show";
  const auto answer =
      Get(is_host ? "/v1/hosts/" + HttpClient::Escape(invocation_.arguments[0]) : "/v1/topology");
  if (!answer) return 1;
  return Print(*answer, is_host ? HostText : TopologyText);
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
  if (rest == nullptr || *rest != '\0') {
    return Status::Error("'" + text +
                         "' is no time; 2026-11-21T12:00:00Z, 2026-11-21 and "
                         "nanoseconds of Unix time are");
  }
  return std::to_string(static_cast<Nanos>(timegm(&parts)) * kNanosPerSecond + nanos);
}

int RunCtl(const CtlInvocation& invocation, const CtlTerminal& terminal) {
  const std::string name = invocation.command->name;
  const bool is_offline =
      name == "slice solve" || (name == "slice plan" && !invocation.Has("controller"));
  if (is_offline) return RunSliceCommand(invocation, terminal);
  std::string token;
  if (!invocation.token_file.empty() && name != "token new") {
    std::ifstream file(invocation.token_file);
    if (!file || !std::getline(file, token)) {
      *terminal.err << "trumpetctl: cannot read the token in " << invocation.token_file << "\n";
      return 1;
    }
  }
  HttpClient client(invocation.server, token, invocation.ca_file);
  return Run(invocation, terminal, &client).Do();
}

}  // namespace trumpet
