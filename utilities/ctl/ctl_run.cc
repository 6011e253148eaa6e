// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/ctl/ctl_run.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <istream>
#include <iterator>
#include <ostream>
#include <thread>

#include "lib/base/backoff.h"
#include "lib/base/units.h"
#include "utilities/ctl/network_file.h"
#include "utilities/ctl/output.h"

namespace trumpet {
namespace {

constexpr size_t kMaxDocumentBytes = 64 * 1024 * 1024;
constexpr Nanos kFirstReconnect = 200 * kNanosPerMilli;
constexpr Nanos kLongestReconnect = 10 * kNanosPerSecond;

using Clock = std::chrono::steady_clock;

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// The first line, the headings, in bold.
void PrintTable(const CtlTerminal& terminal, const std::string& table) {
  const size_t end = table.find('\n');
  if (!terminal.out_has_colors || end == table.npos || end + 1 == table.size()) {
    *terminal.out << table;
  } else {
    *terminal.out << "\033[1m" << table.substr(0, end) << "\033[0m" << table.substr(end);
  }
}

bool IsRefusal(const Result<ApiAnswer>& answer) {
  return answer.ok() && answer->status >= 400 && answer->status < 500 && answer->status != 408 &&
         answer->status != 429;
}

std::string WhyCut(const Result<ApiAnswer>& answer) {
  if (!answer.ok()) return answer.message();
  if (answer->is_success()) return "the controller ended the stream";
  return "status " + std::to_string(answer->status);
}

}  // namespace

std::string ApiPath(const char* collection, const std::string& name) {
  return std::string("/v1/") + collection + "/" + HttpClient::Escape(name);
}

ApiRequest RequestWith(const char* method, const std::string& path, const CtlDocument& document,
                       const char* content_type) {
  ApiRequest request;
  request.method = method;
  request.path = path;
  request.body = document.text;
  request.content_type = document.is_json ? "application/json" : content_type;
  return request;
}

std::chrono::steady_clock::time_point WaitsUntil(const CtlInvocation& invocation) {
  return Clock::now() + std::chrono::seconds(invocation.Whole("wait", 0));
}

void AddSending(const CtlInvocation& invocation, ApiJson* body) {
  const std::pair<const char*, const char*> numbers[] = {
      {"count", "count"}, {"rate", "rate"}, {"timeout", "wait"}};
  for (const auto& [option, key] : numbers) {
    if (invocation.Has(option)) (*body)[key] = invocation.Whole(option, 0);
  }
}

int CtlRun::Fail(const std::string& text) {
  *terminal.err << "trumpetctl: " << text << (EndsWith(text, "\n") ? "" : "\n");
  return 1;
}

int CtlRun::Misuse(const std::string& text) {
  Fail(text);
  return 2;
}

std::optional<ApiJson> CtlRun::Ask(const ApiRequest& request, const CtlDocument* document) {
  const Result<ApiAnswer> answer = client->Send(request);
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
  if (json.is_object()) return json;
  Fail(invocation.server + " does not answer with a JSON object; is it the controller?");
  return std::nullopt;
}

std::optional<ApiJson> CtlRun::Get(const std::string& path) {
  ApiRequest request;
  request.path = path;
  return Ask(request);
}

int CtlRun::Print(const ApiJson& json, const ToTable& to_table) {
  switch (invocation.output) {
    case OutputFormat::kJson:
      *terminal.out << json.dump(2, ' ', false, ApiJson::error_handler_t::replace) << "\n";
      break;
    case OutputFormat::kYaml:
      *terminal.out << PrintYaml(json);
      break;
    case OutputFormat::kTable:
      PrintTable(terminal, to_table(json));
  }
  return 0;
}

int CtlRun::List(const char* path, const char* key, std::string (*to_table)(const ApiJson&)) {
  const auto answer = Get(path);
  if (!answer) return 1;
  return Print(answer->value(key, ApiJson::array()), to_table);
}

void CtlRun::ShowProgress(const std::string& text) {
  if (terminal.err_is_terminal) *terminal.err << "\r\033[K" << text << std::flush;
}

std::optional<CtlDocument> CtlRun::ReadDocument(const std::string& name) {
  CtlDocument document;
  document.name = name == "-" ? "(standard input)" : name;
  document.is_json = EndsWith(name, ".json");
  if (name == "-") {
    std::istream& in = *terminal.in;
    document.text.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    return document;
  }
  auto text = ReadBoundedFile(name, kMaxDocumentBytes);
  if (!text) {
    Fail(text.message());
    return std::nullopt;
  }
  document.text = std::move(*text);
  return document;
}

int CtlRun::ForEach(const char* method, const char* collection, const char* what,
                    const std::string& body) {
  for (const std::string& name : invocation.arguments) {
    ApiRequest request;
    request.method = method;
    request.path = ApiPath(collection, name) + what;
    request.body = body;
    if (!body.empty()) request.content_type = "application/json";
    if (!Ask(request)) return 1;
  }
  return 0;
}

int CtlRun::WriteTo(const std::string& path, const std::function<int(std::ostream*)>& write) {
  if (path.empty() || path == "-") return write(terminal.out);
  const std::string fresh = path + ".part";
  std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
  if (!file) return Fail("cannot write " + fresh);
  int status = write(&file);
  file.close();
  if (status == 0 && (!file || std::rename(fresh.c_str(), path.c_str()) != 0)) {
    status = Fail("cannot write " + path);
  }
  if (status != 0) std::remove(fresh.c_str());
  return status;
}

int CtlRun::Follow(const Following& following) {
  bool is_open = false;
  bool is_over = false;
  bool is_refused = false;
  Backoff backoff(kFirstReconnect, kLongestReconnect,
                  static_cast<uint64_t>(Clock::now().time_since_epoch().count()));
  EventStreamReader reader([&](const StreamedEvent& event) {
    if (is_over) return;
    backoff.Reset();
    is_over = !following.on_event(event);
  });
  const auto is_late = [&] { return following.deadline && Clock::now() >= *following.deadline; };
  ApiRequest request;
  request.path = following.path;
  request.query = following.query;
  request.goes_on = [&] { return !is_late(); };
  request.receive = [&](std::string_view bytes) {
    if (!is_open && following.on_open && !following.on_open()) is_refused = true;
    is_open = true;
    return !is_refused && reader.Read(bytes) && !is_over;
  };
  std::string last_told;
  while (true) {
    request.headers = {"Accept: text/event-stream"};
    if (!reader.last_id().empty()) request.headers.push_back("Last-Event-ID: " + reader.last_id());
    reader.Restart();
    const Result<ApiAnswer> answer = client->Send(request);
    if (is_refused) return 1;
    if (is_over) return 0;
    if (IsRefusal(answer)) return Fail(DescribeProblem(answer->status, answer->body, "", ""));
    if (is_late()) return Fail(following.late);
    const std::string why = WhyCut(answer);
    if (why != last_told) *terminal.err << "trumpetctl: " << why << "; trying again\n";
    last_told = why;
    std::this_thread::sleep_for(std::chrono::nanoseconds(backoff.Next()));
  }
}

}  // namespace trumpet
