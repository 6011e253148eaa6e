// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The commands of trumpetctl for trace rules.

#include <algorithm>
#include <ostream>
#include <sstream>

#include "controller/plan/trace/sonic_export.h"
#include "controller/plan/trace/sonic_import.h"
#include "controller/plan/trace/trace_flows.h"
#include "controller/view/trace_rule_tables.h"
#include "lib/lang/trace/trace_language.h"
#include "utilities/ctl/ctl_run.h"

namespace trumpet {
namespace {

std::optional<TraceRules> ReadRules(CtlRun* run, const CtlDocument& document) {
  auto rules = document.is_json ? ParseTraceRulesJson(document.text, document.name)
                                : ParseTraceRulesYaml(document.text, document.name);
  if (rules) return std::move(*rules);
  // It begins with its place, as compilers say it.
  *run->terminal.err << rules.message() << "\n";
  return std::nullopt;
}

std::optional<TraceRules> ReadRules(CtlRun* run) {
  const auto document = run->ReadDocument(run->argument(0));
  return document ? ReadRules(run, *document) : std::nullopt;
}

// What cannot be said to switches is told as what cannot be read, if it is about a rule or mark.
int FailRules(CtlRun* run, const TraceRules& rules, const std::string& message) {
  const auto is_at = [&message](const auto& one) {
    return message.compare(0, one.place.size() + 1, one.place + ":") == 0;
  };
  if (std::none_of(rules.rules.begin(), rules.rules.end(), is_at) &&
      std::none_of(rules.marks.begin(), rules.marks.end(), is_at)) {
    return run->Fail(run->argument(0) + ": " + message);
  }
  *run->terminal.err << message << "\n";
  return 1;
}

Status ReadPrefixes(const CtlInvocation& invocation, const char* option,
                    std::vector<Prefix>* prefixes) {
  std::istringstream words(invocation.Get(option));
  for (std::string word; std::getline(words, word, ',');) {
    const auto prefix = ParsePrefix(word);
    if (!prefix) return Status::Error(std::string("--") + option + ": " + prefix.message());
    prefixes->push_back(*prefix);
  }
  return Status::Ok();
}

Result<TraceSwitch> ReadSwitch(const CtlInvocation& invocation) {
  TraceSwitch at;
  at.number = static_cast<uint16_t>(invocation.Whole("number", 1));
  at.port = static_cast<uint32_t>(invocation.Whole("port", 1));
  at.switch_count = static_cast<uint32_t>(invocation.Whole("switches", at.switch_count));
  const std::string tunnel = invocation.Get("tunnel", "gre");
  at.is_erspan = tunnel == "erspan";
  if (!at.is_erspan && tunnel != "gre") {
    return Status::Error("--tunnel is '" + tunnel + "'; it takes gre or erspan");
  }
  for (const Status& status : {ReadPrefixes(invocation, "analyzers", &at.analyzers),
                               ReadPrefixes(invocation, "local", &at.local)}) {
    if (!status) return status;
  }
  at.hosts = {{"", at.local}};
  return at;
}

// "Ethernet0=1,Ethernet4=2"
Status ReadPorts(const CtlInvocation& invocation, SonicPorts* ports) {
  std::istringstream words(invocation.Get("ports"));
  for (std::string word; std::getline(words, word, ',');) {
    const size_t equals = word.find('=');
    if (equals == word.npos || equals == 0) {
      return Status::Error("--ports: '" + word + "' is no NAME=NUMBER");
    }
    const auto port = ReadWhole("ports", word.substr(equals + 1), {1, kMaxSwitchPort});
    if (!port) return port.status();
    (*ports)[word.substr(0, equals)] = static_cast<uint32_t>(*port);
  }
  return Status::Ok();
}

// An address that must be given.
Status ReadAddress(const CtlInvocation& invocation, const char* option, std::string* address) {
  *address = invocation.Get(option);
  if (ParseIpv4(*address) || ParseIpv6(*address)) return Status::Ok();
  return Status::Error(std::string("--") + option + " is '" + *address + "'; it takes an address");
}

// One line each, meters first: flows need them.
std::string FlowsText(const ApiJson& json) {
  std::string text;
  for (const char* kind : {"meters", "flows"}) {
    for (const ApiJson& line : json[kind]) text += line.get<std::string>() + "\n";
  }
  return text;
}

}  // namespace

int CheckCtlTraceRules(CtlRun* run) {
  const auto rules = ReadRules(run);
  if (!rules) return 1;
  // Whether switches can be told is the same for all of them.
  TraceSwitch at;
  for (const TraceMark& mark : rules->marks) {
    for (const std::string& host : mark.hosts) at.hosts.push_back({host, {*ParsePrefix("::/0")}});
  }
  at.hosts.push_back({"", {*ParsePrefix("::/0")}});
  const auto flows = CompileTraceRules(*rules, at);
  if (!flows) return FailRules(run, *rules, flows.message());
  if (run->invocation.Has("print")) *run->terminal.out << PrintTraceRules(*rules);
  return 0;
}

int CompileCtlTraceRules(CtlRun* run) {
  const auto at = ReadSwitch(run->invocation);
  if (!at) return run->Misuse(at.message());
  const auto rules = ReadRules(run);
  if (!rules) return 1;
  const auto flows = CompileTraceRules(*rules, *at);
  if (!flows) return FailRules(run, *rules, flows.message());
  ApiJson json = {{"meters", flows->meters}, {"flows", ApiJson::array()}};
  for (const TraceFlow& flow : flows->flows) json["flows"].push_back(flow.text);
  return run->Print(json, FlowsText);
}

int ImportCtlTraceRules(CtlRun* run) {
  SonicPorts ports;
  const Status read = ReadPorts(run->invocation, &ports);
  if (!read) return run->Misuse(read.message());
  const auto document = run->ReadDocument(run->argument(0));
  if (!document) return 1;
  const auto import = ImportSonic(document->text, document->name, ports);
  if (!import) {
    *run->terminal.err << import.message() << "\n";
    return 1;
  }
  if (run->invocation.Has("sessions")) {
    *run->terminal.out << SonicSessionTable(import->sessions);
    return 0;
  }
  for (const std::string& note : import->notes) *run->terminal.err << "note: " << note << "\n";
  *run->terminal.out << PrintTraceRules(import->rules);
  return 0;
}

int ExportCtlTraceRules(CtlRun* run) {
  SonicTunnel tunnel;
  for (const Status& status : {ReadAddress(run->invocation, "source", &tunnel.source),
                               ReadAddress(run->invocation, "target", &tunnel.destination)}) {
    if (!status) return run->Misuse(status.message());
  }
  const auto rules = ReadRules(run);
  if (!rules) return 1;
  const auto exported = ExportSonic(*rules, tunnel);
  if (!exported) return FailRules(run, *rules, exported.message());
  for (const std::string& note : exported->notes) *run->terminal.err << "note: " << note << "\n";
  *run->terminal.out << exported->text;
  return 0;
}

namespace {

constexpr char kRulesPath[] = "/v1/trace-rules";

}  // namespace

int ApplyCtlTraceRules(CtlRun* run) {
  const auto document = run->ReadDocument(run->argument(0));
  if (!document || !ReadRules(run, *document)) return 1;
  ApiRequest request;
  request.method = "PUT";
  request.path = kRulesPath;
  request.content_type = document->is_json ? "application/json" : "application/yaml";
  request.body = document->text;
  const auto answer = run->Ask(request);
  return answer ? run->Print(*answer, TraceRulesText) : 1;
}

int ListCtlTraceRules(CtlRun* run) {
  const auto answer = run->Get(kRulesPath);
  return answer ? run->Print(*answer, TraceRulesText) : 1;
}

int ShowCtlTraceRule(CtlRun* run) {
  const auto answer = run->Get(ApiPath("trace-rules", run->argument(0)));
  return answer ? run->Print(*answer, TraceRuleText) : 1;
}

int RemoveCtlTraceRules(CtlRun* run) {
  ApiRequest request;
  request.method = "DELETE";
  request.path = kRulesPath;
  return run->Ask(request) ? 0 : 1;
}

int EnableCtlDebug(CtlRun* run) {
  ApiJson body = {{"filter", run->invocation.Get("filter", "*")}};
  std::istringstream hosts(run->invocation.Get("hosts"));
  for (std::string host; std::getline(hosts, host, ',');) body["hosts"].push_back(host);
  ApiRequest request;
  request.method = "PUT";
  request.path = ApiPath("debug-marks", run->argument(0));
  request.content_type = "application/json";
  request.body = body.dump(-1, ' ', true);
  return run->Ask(request) ? 0 : 1;
}

}  // namespace trumpet
