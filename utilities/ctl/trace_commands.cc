// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The commands of trumpetctl for traces.

#include <algorithm>
#include <map>
#include <ostream>
#include <sstream>

#include "controller/view/trace_tables.h"
#include "lib/packet/pcapng_writer.h"
#include "utilities/ctl/ctl_run.h"
#include "utilities/ctl/output.h"

namespace trumpet {
namespace {

constexpr uint64_t kMaxPage = 1000;

// What is asked for, by the API's names; false, and told, if an option is wrong.
bool AddFilter(CtlRun* run, ApiRequest* request) {
  for (const char* option : {"src", "dst", "protocol", "src-port", "dst-port", "verdict", "mark",
                             "through", "min-hops", "step", "timeout"}) {
    if (!run->invocation.Has(option)) continue;
    std::string name = option;
    std::replace(name.begin(), name.end(), '-', '_');
    request->query.emplace_back(name, run->invocation.Get(option));
  }
  for (const char* option : {"from", "until"}) {
    if (!run->invocation.Has(option)) continue;
    const Result<std::string> time = ParseCtlTime(run->invocation.Get(option));
    if (!time) {
      run->Fail(std::string("--") + option + ": " + time.message());
      return false;
    }
    request->query.emplace_back(option, *time);
  }
  return true;
}

// Part of an answer may be missing, and whoever reads it has to know.
void TellSilent(CtlRun* run, const ApiJson& answer) {
  for (const ApiJson& one : answer.value("silent", ApiJson::array())) {
    *run->terminal.err << "trumpetctl: without the traces of analyzer " << ApiText(one, "analyzer")
                       << ", which " << ApiText(one, "why") << "\n";
  }
}

// The pages of all there is under `key`, up to `limit`; what is missing is told.  False, and told,
// after a failure.
bool ReadPages(CtlRun* run, const ApiRequest& filter, const char* key, uint64_t limit,
               ApiJson* all) {
  *all = ApiJson::array();
  ApiJson silent = ApiJson::array();  // on any page, each once
  std::string cursor;
  do {
    ApiRequest request = filter;
    request.query.emplace_back("limit", std::to_string(std::min(kMaxPage, limit - all->size())));
    if (!cursor.empty()) request.query.emplace_back("cursor", cursor);
    const auto page = run->Ask(request);
    if (!page) return false;
    for (const ApiJson& one : page->value(key, ApiJson::array())) all->push_back(one);
    for (const ApiJson& one : page->value("silent", ApiJson::array())) {
      if (std::find(silent.begin(), silent.end(), one) == silent.end()) silent.push_back(one);
    }
    cursor = ApiText(*page, "next_cursor");
  } while (!cursor.empty() && all->size() < limit);
  TellSilent(run, {{"silent", silent}});
  if (!cursor.empty()) {
    *run->terminal.err << "trumpetctl: there are more than --limit=" << limit << "\n";
  }
  return true;
}

std::string FromHex(const std::string& hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1]));
  }
  return bytes;
}

// Where a packet was first copied, and whether it begins with Ethernet.
std::pair<std::string, bool> InterfaceOf(const ApiJson& trace) {
  const ApiJson path = trace.value("path", ApiJson::array());
  const std::string at =
      path.is_array() && !path.empty() ? ApiText(path[0], "switch") : ApiText(trace, "last_switch");
  return {at, ApiText(trace["frame"], "link") != "ip"};
}

Status WritePcapng(const ApiJson& traces, const std::string& path) {
  auto writer = PcapngWriter::Create(path, "first copies of traces");
  if (!writer.ok()) return writer.status();
  std::map<std::pair<std::string, bool>, uint32_t> interfaces;
  for (const ApiJson& trace : traces) {
    if (trace.contains("frame")) interfaces[InterfaceOf(trace)];
  }
  for (auto& [place, interface] : interfaces) {
    interface = writer->AddInterface(place.first, "", place.second);
  }
  for (const ApiJson& trace : traces) {
    if (!trace.contains("frame")) continue;
    const std::string bytes = FromHex(ApiText(trace["frame"], "hex"));
    writer->AddPacket(
        interfaces.at(InterfaceOf(trace)), trace.value("start_ns", Nanos{0}), bytes,
        std::max(trace.value("bytes", uint32_t{0}), static_cast<uint32_t>(bytes.size())));
  }
  return writer->Close();
}

}  // namespace

int QueryCtlTraces(CtlRun* run) {
  ApiRequest request;
  request.path = "/v1/traces";
  if (!AddFilter(run, &request)) return 1;
  const uint64_t limit = run->invocation.Whole("limit", 100);
  request.query.emplace_back("limit", std::to_string(limit));
  if (run->invocation.Has("after")) {
    request.query.emplace_back("cursor", run->invocation.Get("after"));
  }
  const bool is_estimate = run->invocation.Has("estimate");
  if (is_estimate) request.query.emplace_back("estimate", "true");
  const auto answer = run->Ask(request);
  if (!answer) return 1;
  if (run->invocation.output != OutputFormat::kTable) return run->Print(*answer, TraceTable);
  TellSilent(run, *answer);
  if (is_estimate) return run->Print(*answer, TraceEstimateText);
  const int status = run->Print(answer->value("traces", ApiJson::array()), TraceTable);
  const std::string next = ApiText(*answer, "next_cursor");
  if (!next.empty()) *run->terminal.err << "there are more: --after=" << next << "\n";
  return status;
}

int ShowCtlTrace(CtlRun* run) {
  const auto answer = run->Get(ApiPath("traces", run->argument(0)));
  return answer ? run->Print(*answer, TraceText) : 1;
}

int WatchCtlTraces(CtlRun* run) {
  ApiRequest filter;
  if (!AddFilter(run, &filter)) return 1;
  const uint64_t wanted = run->invocation.Whole("count", 0);  // 0: all
  uint64_t count = 0;
  CtlRun::Following following;
  following.path = "/v1/traces/stream";
  following.query = filter.query;
  following.on_event = [&](const StreamedEvent& event) {
    const ApiJson json = ApiJson::parse(event.data, nullptr, false);
    if (event.type == "gap") {
      *run->terminal.err << "trumpetctl: traces are missing here: " << event.data << "\n";
    } else if (event.type == "error") {
      *run->terminal.err << "trumpetctl: analyzer " << ApiText(json, "analyzer") << ": "
                         << ApiText(json, "detail") << "\n";
    } else if (event.type == "trace" && json.is_object()) {
      *run->terminal.out << (run->invocation.output == OutputFormat::kTable ? TraceLine(json) + "\n"
                             : run->invocation.output == OutputFormat::kJson
                                 ? event.data + "\n"
                                 : "---\n" + PrintYaml(json))
                         << std::flush;
      return ++count != wanted && run->terminal.out->good();
    }
    return true;
  };
  return run->Follow(following);
}

int ExportCtlTraces(CtlRun* run) {
  const std::string format = run->invocation.Get("format", "pcapng");
  const std::string path = run->invocation.Get("write");
  if (format != "pcapng" && format != "json") {
    return run->Fail("--format is '" + format + "'; it takes pcapng or json");
  }
  if (format == "pcapng" && path.empty()) return run->Fail("packets go to a file: -w FILE");
  ApiRequest filter;
  filter.path = "/v1/traces";
  if (!AddFilter(run, &filter)) return 1;
  const uint64_t limit = run->invocation.Whole("limit", 10000);
  filter.query.emplace_back("packets", run->invocation.Has("payload") ? "whole" : "headers");
  ApiJson traces;
  if (!ReadPages(run, filter, "traces", limit, &traces)) return 1;
  if (format == "pcapng") {
    const Status written = WritePcapng(traces, path);
    return written.ok() ? 0 : run->Fail(written.message());
  }
  return run->WriteTo(path, [&](std::ostream* out) {
    for (const ApiJson& trace : traces) {
      *out << trace.dump(-1, ' ', false, ApiJson::error_handler_t::replace) << "\n";
    }
    return 0;
  });
}

int ShowCtlCounters(CtlRun* run, const char* path) {
  ApiRequest filter;
  filter.path = path;
  if (!AddFilter(run, &filter)) return 1;
  const uint64_t limit = run->invocation.Whole("limit", 1000);
  ApiJson counters;
  if (!ReadPages(run, filter, "counters", limit, &counters)) return 1;
  return run->Print(counters, TraceCounterTable);
}

int AddCtlCounter(CtlRun* run) {
  ApiJson body = {{"name", run->argument(0)}, {"filter", ApiJson::object()}};
  for (const auto& [option, value] : run->invocation.options) {
    if (option == "step") {
      body["step_s"] = run->invocation.Whole("step", 0);
    } else if (option == "mark") {
      body["filter"]["mark"] = ApiJson::array();
      std::istringstream marks(value);
      for (std::string mark; std::getline(marks, mark, ',');)
        body["filter"]["mark"].push_back(mark);
    } else {
      std::string name = option;
      std::replace(name.begin(), name.end(), '-', '_');
      body["filter"][name] = value;
    }
  }
  const CtlDocument document{"counter", body.dump(-1, ' ', true), true};
  return run->Ask(RequestWith("POST", "/v1/counters", document, "application/json")) ? 0 : 1;
}

int ShowCtlCounter(CtlRun* run) {
  ApiRequest filter;
  filter.path = ApiPath("counters", run->argument(0));
  if (!AddFilter(run, &filter)) return 1;
  if (run->invocation.Has("stored")) filter.query.emplace_back("stored", "true");
  const uint64_t limit = run->invocation.Whole("limit", 1000);
  ApiJson values;
  if (!ReadPages(run, filter, "values", limit, &values)) return 1;
  return run->Print(values, CounterValueTable);
}

int RunCtlApp(CtlRun* run, const std::string& app) {
  ApiRequest request;
  request.path = ApiPath("apps", app);
  if (!AddFilter(run, &request)) return 1;
  for (const char* option : {"at", "members"}) {
    if (run->invocation.Has(option)) {
      request.query.emplace_back(option, run->invocation.Get(option));
    }
  }
  if (run->invocation.Has("earlier")) {
    const Result<std::string> time = ParseCtlTime(run->invocation.Get("earlier"));
    if (!time) return run->Fail("--earlier: " + time.message());
    request.query.emplace_back("earlier", *time);
  }
  const auto answer = run->Ask(request);
  if (!answer) return 1;
  if (run->invocation.output == OutputFormat::kTable) TellSilent(run, *answer);
  return run->Print(*answer, AppFindingsText);
}

}  // namespace trumpet
