// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The commands of trumpetctl for measurement programs.

#include <chrono>
#include <ostream>
#include <sstream>
#include <thread>

#include "controller/view/measurement_tables.h"
#include "lib/lang/mafia/mafia_language.h"
#include "lib/measure/program_loader.h"
#include "utilities/ctl/ctl_run.h"

namespace trumpet {
namespace {

Status Twice(const std::string& option, const std::string& name) {
  return Status::Error("--" + option + ": " + name + " is given twice");
}

// "A=1,B=10ms"
Status ReadParams(const std::string& list, std::map<std::string, std::string>* values) {
  std::istringstream params(list);
  for (std::string param; std::getline(params, param, ',');) {
    const size_t equals = param.find('=');
    if (equals == param.npos || equals == 0) {
      return Status::Error("--param: '" + param + "' is no NAME=VALUE");
    }
    const std::string name = param.substr(0, equals);
    if (!values->emplace(name, param.substr(equals + 1)).second) return Twice("param", name);
  }
  return Status::Ok();
}

ApiJson ProblemsJson(const std::vector<MafiaProblem>& problems) {
  ApiJson list = ApiJson::array();
  for (const MafiaProblem& problem : problems) {
    list.push_back({{"line", problem.place.line},
                    {"column", problem.place.column},
                    {"code", problem.code},
                    {"message", problem.message}});
  }
  return list;
}

const char* MergeText(MeasureMerge merge) {
  switch (merge) {
    case MeasureMerge::kSum:
      return "sum";
    case MeasureMerge::kOr:
      return "or";
    case MeasureMerge::kMax:
      return "max";
    case MeasureMerge::kMinNonzero:
      return "least but 0";
    case MeasureMerge::kShared:
      break;
  }
  return "none: shared by all threads";
}

ApiJson VariablesJson(const MeasureProgram& program) {
  ApiJson list = ApiJson::array();
  for (const MeasureVariable& variable : program.variables) {
    list.push_back({{"name", MeasureVariableLabel(program, variable)},
                    {"cells", variable.CellCount()},
                    {"bits", variable.bits},
                    {"merge", MergeText(variable.merge)}});
  }
  return list;
}

ApiJson CostJson(const CostCertificate& cost) {
  return {{"operators", cost.operators},
          {"hashes", cost.hashes},
          {"cache_lines", cost.cache_lines},
          {"bytes", cost.bytes}};
}

// With what the engine says of a program that the language accepts: its cost, or that it costs too
// much for any switch.
void AddCost(MafiaCheck* check, ApiJson* cost) {
  if (!check->ok()) return;
  MeasureLoadOptions options;
  options.thread_count = kManyThreads;
  const auto loaded = LoadMeasureProgram(check->program, options);
  if (loaded) *cost = CostJson((*loaded)->cost);
  if (!loaded) check->errors.push_back({"E12", MeasurePlace(), loaded.message()});
}

ApiJson CheckJson(const std::string& file, const MafiaCheck& check, const ApiJson& cost) {
  const bool is_ok = check.ok();
  ApiJson json = {{"file", file},
                  {"ok", is_ok},
                  {"errors", ProblemsJson(check.errors)},
                  {"warnings", ProblemsJson(check.warnings)}};
  if (is_ok) json["variables"] = VariablesJson(check.program);
  if (is_ok) json["cost"] = cost;
  return json;
}

std::string ProblemsText(const std::string& file, const std::vector<MafiaProblem>& problems) {
  std::string text;
  for (const MafiaProblem& problem : problems) text += FormatMafiaProblem(file, problem) + "\n";
  return text;
}

std::string AcceptedText(const ApiJson& check) {
  const ApiJson& cost = check["cost"];
  std::string text = "a packet costs at most " + cost["operators"].dump() + " operators, " +
                     cost["hashes"].dump() + " hashes, " + cost["cache_lines"].dump() +
                     " cache lines; a thread keeps " + cost["bytes"].dump() + " bytes\n";
  for (const ApiJson& variable : check["variables"]) {
    text += variable["name"].get<std::string>() + ": " + variable["cells"].dump() + " x " +
            variable["bits"].dump() + " bits; threads merge by " +
            variable["merge"].get<std::string>() + "\n";
  }
  return text;
}

}  // namespace

int CheckCtlMeasure(CtlRun* run) {
  const auto document = run->ReadDocument(run->argument(0));
  if (!document) return 1;
  MafiaOptions options;
  options.is_strict = run->invocation.Has("strict");
  const Status params = ReadParams(run->invocation.Get("param"), &options.params);
  if (!params) return run->Fail(params.message());
  MafiaCheck check = CheckMafia(document->text, document->name, options);
  ApiJson cost;
  AddCost(&check, &cost);
  if (run->invocation.output == OutputFormat::kTable) {
    *run->terminal.err << ProblemsText(document->name, check.errors)
                       << ProblemsText(document->name, check.warnings);
  }
  if (check.ok() && run->invocation.Has("print")) {
    *run->terminal.out << *PrintMafia(document->text, document->name);
    return 0;
  }
  const ApiJson json = CheckJson(document->name, check, cost);
  const bool tells = check.ok() || run->invocation.output != OutputFormat::kTable;
  if (tells) run->Print(json, AcceptedText);
  return check.ok() ? 0 : 1;
}

namespace {

std::string PathOf(const CtlRun& run) { return ApiPath("measurements", run.argument(0)); }

std::optional<ApiJson> AskForReading(CtlRun* run) {
  ApiRequest request;
  request.path = PathOf(*run) + "/read";
  if (run->invocation.arguments.size() > 1) {
    request.query.emplace_back("variable", run->argument(1));
  }
  for (const char* option : {"key", "host", "top"}) {
    if (run->invocation.Has(option)) {
      request.query.emplace_back(option, run->invocation.Get(option));
    }
  }
  return run->Ask(request);
}

}  // namespace

namespace {

// "vm*,eth0" of every host, or "h1=left,h3=right"; "h2=" has none.
Result<ApiJson> ReadEdgeOption(const std::string& text) {
  ApiJson everywhere = ApiJson::array();
  ApiJson by_host = ApiJson::object();
  std::istringstream list(text);
  for (std::string item; std::getline(list, item, ',');) {
    const size_t equals = item.find('=');
    if (equals == item.npos) {
      everywhere.push_back(item);
      continue;
    }
    ApiJson& ports = by_host[item.substr(0, equals)];
    if (ports.is_null()) ports = ApiJson::array();
    if (equals + 1 < item.size()) ports.push_back(item.substr(equals + 1));
  }
  if (by_host.empty()) return everywhere;
  if (everywhere.empty()) return by_host;
  return Status::Error("--edge takes ports of every host, or HOST=PORT each time");
}

// What is wrong with an address or a rate is the controller's to say.
Status AddCopies(CtlRun* run, ApiJson* body) {
  std::istringstream list(run->invocation.Get("endpoint"));
  for (std::string item; std::getline(list, item, ',');) {
    const size_t equals = item.find('=');
    if (equals == item.npos || equals == 0) {
      return Status::Error("--endpoint: '" + item + "' is no NAME=ADDRESS");
    }
    ApiJson& address = (*body)["endpoints"][item.substr(0, equals)];
    if (!address.is_null()) return Twice("endpoint", item.substr(0, equals));
    address = item.substr(equals + 1);
  }
  if (run->invocation.Has("copy-rate")) {
    (*body)["copy_rate"] = run->invocation.Whole("copy-rate", 0);
  }
  return Status::Ok();
}

Status AddPlaces(CtlRun* run, ApiJson* body) {
  if (run->invocation.Has("edge")) {
    auto edges = ReadEdgeOption(run->invocation.Get("edge"));
    if (!edges.ok()) return edges.status();
    (*body)["edges"] = std::move(*edges);
  }
  std::map<std::string, uint64_t> numbers;
  std::istringstream list(run->invocation.Get("switch"));
  for (std::string item; std::getline(list, item, ',');) {
    const size_t equals = item.find('=');
    const auto number =
        ReadWhole("switch", equals == item.npos ? "" : item.substr(equals + 1), {0, 255});
    if (!number) return Status::Error("--switch: '" + item + "' is no HOST=NUMBER up to 255");
    const std::string host = item.substr(0, equals);
    if (!numbers.emplace(host, *number).second) return Twice("switch", host);
  }
  if (!numbers.empty()) (*body)["switches"] = numbers;
  if (run->invocation.Has("lab")) (*body)["lab"] = true;
  return AddCopies(run, body);
}

}  // namespace

int InstallCtlMeasurement(CtlRun* run) {
  const auto program = run->ReadDocument(run->argument(1));
  if (!program) return 1;
  std::map<std::string, std::string> params;
  const Status status = ReadParams(run->invocation.Get("param"), &params);
  if (!status) return run->Fail(status.message());
  ApiJson body = {{"program", program->text}, {"params", ApiJson::object()}};
  for (const auto& [name, value] : params) body["params"][name] = value;
  if (run->invocation.Has("host") && run->invocation.Get("host").empty()) {
    return run->Fail("--host names no host; without it the measurement is for every host");
  }
  body["hosts"] = ApiJson::array();
  std::istringstream hosts(run->invocation.Get("host"));
  for (std::string host; std::getline(hosts, host, ',');) body["hosts"].push_back(host);
  const Status placed = AddPlaces(run, &body);
  if (!placed) return run->Fail(placed.message());
  ApiRequest request;
  request.method = "PUT";
  request.path = PathOf(*run);
  request.content_type = "application/json";
  request.body = body.dump(-1, ' ', false, ApiJson::error_handler_t::replace);
  const auto answer = run->Ask(request);
  return answer ? run->Print(*answer, MeasurementText) : 1;
}

int ShowCtlMeasurement(CtlRun* run) {
  const auto answer = run->Get(PathOf(*run));
  return answer ? run->Print(*answer, MeasurementText) : 1;
}

int ReadCtlMeasurement(CtlRun* run) {
  const auto answer = AskForReading(run);
  return answer ? run->Print(*answer, ReadingText) : 1;
}

int AskCtlMeasurement(CtlRun* run) {
  ApiJson fields = ApiJson::object();
  for (size_t i = 1; i < run->invocation.arguments.size(); ++i) {
    const std::string& field = run->argument(i);
    const size_t equals = field.find('=');
    if (equals == field.npos || equals == 0) return run->Fail("'" + field + "' is no FIELD=VALUE");
    fields[field.substr(0, equals)] = field.substr(equals + 1);
  }
  ApiRequest request;
  request.method = "POST";
  request.path = PathOf(*run) + "/ask";
  if (run->invocation.Has("host")) request.query.emplace_back("host", run->invocation.Get("host"));
  request.content_type = "application/json";
  request.body = ApiJson({{"fields", std::move(fields)}})
                     .dump(-1, ' ', false, ApiJson::error_handler_t::replace);
  const auto answer = run->Ask(request);
  return answer ? run->Print(*answer, AnswerText) : 1;
}

int WatchCtlMeasurement(CtlRun* run) {
  const uint64_t count = run->invocation.Whole("count", 0);  // 0: until it is interrupted
  const std::chrono::seconds interval(run->invocation.Whole("interval", 1));
  for (uint64_t done = 0; count == 0 || done < count; ++done) {
    if (done > 0) std::this_thread::sleep_for(interval);
    const int status = ReadCtlMeasurement(run);
    run->terminal.out->flush();
    if (status != 0 || !*run->terminal.out) return status;
  }
  return 0;
}

}  // namespace trumpet
