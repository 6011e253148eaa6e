// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/measurement_commands.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "lib/base/text_table.h"
#include "lib/lang/event/diagnostic.h"
#include "lib/lang/mafia/mafia_language.h"
#include "lib/wire/copy_address.h"
#include "vswitchd-plugin/input_file.h"
#include "vswitchd-plugin/json_line.h"

namespace trumpet {
namespace {

using event_lang::Quote;
using Json = nlohmann::ordered_json;

Status Unexpected(const std::string& argument) {
  return Status::Error("unexpected argument " + Quote(argument));
}

// "name=value"; false if it is not that.
bool Split(const std::string& argument, std::string* name, std::string* value) {
  const size_t equals = argument.find('=');
  if (equals == std::string::npos || equals == 0) return false;
  *name = argument.substr(0, equals);
  *value = argument.substr(equals + 1);
  return true;
}

Status ReadNumber(const std::string& name, const std::string& text, uint64_t low, uint64_t high,
                  uint64_t* number) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || last != end || value < low || value > high) {
    return Status::Error(name + " is " + Quote(text) + "; it takes " + std::to_string(low) +
                         " to " + std::to_string(high));
  }
  *number = value;
  return Status::Ok();
}

// "eth0,vm*"; nothing: the switch has none.
Status ReadEdges(const std::string& text, std::optional<std::vector<std::string>>* edges) {
  if (edges->has_value()) return Status::Error("edge= is given twice");
  edges->emplace();
  if (text.empty()) return Status::Ok();
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (end == begin || (*edges)->size() == kMaxEdgePorts) {
      return Status::Error("edge is " + Quote(text) + "; it takes at most " +
                           std::to_string(kMaxEdgePorts) + " names of ports, with commas between");
    }
    (*edges)->push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return Status::Ok();
}

// ENDPOINT=udp:... or erspan:...
Status ReadEndpoint(const std::string& name, const std::string& value, MeasurementPlace* place) {
  if (place->endpoints.emplace(name, value).second) return Status::Ok();
  return Status::Error(name + "= is given twice");
}

// edge=, switch=, lab=, copy-rate= and endpoints; `is_place` tells whether it was one of them.
Status ReadPlace(const std::string& name, const std::string& value, MeasurementPlace* place,
                 bool* is_place) {
  *is_place = true;
  if (name == "edge") return ReadEdges(value, &place->edges);
  if (LooksLikeCopyAddress(value)) return ReadEndpoint(name, value, place);
  if (name == "copy-rate") {
    uint64_t rate = 0;
    Status status = ReadNumber(name, value, 1, kMaxCopiesPerSecond, &rate);
    place->copies_per_second = static_cast<uint32_t>(rate);
    return status;
  }
  if (name == "switch") {
    uint64_t number = 0;
    Status status = ReadNumber(name, value, 0, UINT8_MAX, &number);
    place->switch_id = static_cast<uint8_t>(number);
    return status;
  }
  *is_place = name == "lab";
  if (!*is_place) return Status::Ok();
  place->is_lab = value == "yes";
  if (place->is_lab || value == "no") return Status::Ok();
  return Status::Error("lab is " + Quote(value) + "; it takes yes or no");
}

Status ReadParams(const std::vector<std::string>& arguments, MeasurementPlace* place,
                  MafiaOptions* options) {
  for (size_t i = 2; i < arguments.size(); ++i) {
    std::string name;
    std::string value;
    if (!Split(arguments[i], &name, &value)) {
      return Status::Error(Quote(arguments[i]) +
                           " is not PARAM=VALUE (quote a program with spaces)");
    }
    bool is_place = false;
    if (Status status = ReadPlace(name, value, place, &is_place); !status.ok()) return status;
    if (is_place) continue;
    if (!options->params.emplace(name, value).second) {
      return Status::Error(name + "= is given twice");
    }
  }
  return Status::Ok();
}

// Of the tasks, those that wait for requests.
size_t TasksOfRequests(const MeasureProgram& program) {
  return static_cast<size_t>(
      std::count_if(program.tasks.begin(), program.tasks.end(),
                    [](const MeasureTask& task) { return task.stream == kCtrlStream; }));
}

std::string NumberText(const MeasureNumber& number) {
  std::string text = std::to_string(number.numerator);
  if (number.denominator == 1) return text;
  const size_t digits = std::to_string(number.denominator).size() - 1;  // a power of ten
  if (text.size() <= digits) text.insert(0, digits + 1 - text.size(), '0');
  return text.insert(text.size() - digits, ".");
}

Json CostJson(const CostCertificate& cost) {
  return {{"operators", cost.operators},
          {"hashes", cost.hashes},
          {"cache_lines", cost.cache_lines},
          {"bytes", cost.bytes}};
}

Json TargetsJson(const MeasurementStatus& status) {
  Json targets = Json::array();
  for (const CopyTarget& target : status.targets) {
    targets.push_back({{"endpoint", target.endpoint},
                       {"address", target.address},
                       {"sent", target.copies.sent},
                       {"over_rate", target.copies.over_rate},
                       {"failed", target.copies.failed}});
  }
  return targets;
}

// Null: all but uplinks.
Json EdgesJson(const MeasurementPlace& place) { return place.edges ? Json(*place.edges) : Json(); }

// Null: the program needs none.
Json CarriersJson(const MeasurementStatus& status) {
  if (!status.view.measurement->way.carriage.has_shim()) return Json();
  const CarrierPorts::Counters& carriers = status.carriers;
  return {{"lost", carriers.lost}, {"escaped", carriers.escaped}, {"exposed", carriers.exposed}};
}

const char* OriginName(const MeasurementStatus& status) {
  return status.view.measurement->origin.is_controller() ? "controller" : "switch";
}

Json ProgramJson(const MeasurementStatus& status) {
  const MeasureProgram& source = status.view.program().source;
  Json params = Json::object();
  for (const MeasureParam& param : source.params) params[param.name] = NumberText(param.value);
  const Measurement& measurement = *status.view.measurement;
  return {{"name", measurement.name},
          {"origin", OriginName(status)},
          {"since_ns", measurement.since},
          {"threads", status.threads},
          {"params", std::move(params)},
          {"tasks", source.tasks.size()},
          {"request_tasks", TasksOfRequests(source)},
          {"sent", measurement.way.is_sent},
          {"edges", EdgesJson(measurement.place)},
          {"edge_numbers", status.edge_numbers},
          {"switch", measurement.way.switch_id},
          {"lab", measurement.place.is_lab},
          {"untagged", status.untagged},
          {"carriers", CarriersJson(status)},
          {"variables", source.variables.size()},
          {"cost", CostJson(status.view.program().cost)},
          {"collected", status.collected},
          {"lost", status.lost},
          {"unbound", status.unbound},
          {"copies_per_second", measurement.place.copies_per_second},
          {"targets", TargetsJson(status)},
          {"evictions", status.evictions},
          {"late_flips", status.late_flips}};
}

std::string Line(const char* what, const std::string& value) {
  std::string line = what;
  line.resize(std::max<size_t>(line.size() + 1, 22), ' ');
  return line + value + "\n";
}

std::string EdgesText(const MeasurementStatus& status) {
  const MeasurementPlace& place = status.view.measurement->place;
  if (!place.edges) return "all but uplinks: " + std::to_string(status.edge_numbers.size());
  std::string text;
  for (const std::string& name : *place.edges) text += (text.empty() ? "" : ",") + name;
  return text + " (" + std::to_string(status.edge_numbers.size()) + " of them there)";
}

// Where copies go, a line each.
std::string TargetsText(const MeasurementStatus& status) {
  std::string text;
  for (const CopyTarget& target : status.targets) {
    text += Line("copies", target.endpoint + " to " + target.address + ": " +
                               std::to_string(target.copies.sent) + " sent, " +
                               std::to_string(target.copies.over_rate) + " beyond " +
                               std::to_string(status.view.measurement->place.copies_per_second) +
                               " a second, " + std::to_string(target.copies.failed) + " failed");
  }
  return text;
}

std::string CostText(const CostCertificate& cost) {
  return std::to_string(cost.operators) + " operators, " + std::to_string(cost.hashes) +
         " hashes, " + std::to_string(cost.cache_lines) + " cache lines a packet; " +
         std::to_string(cost.bytes) + " bytes a thread";
}

CostCertificate AsCost(const MeasureBudget& budget) {
  return {budget.operators, budget.hashes, budget.cache_lines, budget.bytes};
}

}  // namespace

Result<ProgramToAdd> ReadProgramArguments(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) return Status::Error("a program takes NAME and its text, or @FILE");
  ProgramToAdd added;
  added.name = arguments[0];
  std::string text = arguments[1];
  std::string place = added.name;
  MafiaOptions options;
  if (Status status = ReadParams(arguments, &added.place, &options); !status.ok()) return status;
  if (!text.empty() && text[0] == '@') {
    place = text.substr(1);
    Result<std::string> file = ReadInputFile(place, "a program");
    if (!file.ok()) return file.status();
    text = std::move(*file);
  }
  MafiaCheck check = CheckMafia(text, place, options);
  if (!check.ok()) return Status::Error(FormatMafiaProblem(place, check.errors[0]));
  for (const MafiaProblem& warning : check.warnings) {
    added.warnings.push_back(FormatMafiaProblem(place, warning));
  }
  added.program = std::move(check.program);
  added.program.name = added.name;
  return added;
}

Result<ProgramQuestion> ReadProgramQuestion(const std::vector<std::string>& arguments) {
  ProgramQuestion question;
  question.name = arguments[0];
  for (size_t i = 1; i < arguments.size(); ++i) {
    std::string name;
    std::string value;
    if (!Split(arguments[i], &name, &value)) {
      if (i > 1 || arguments[i].empty()) return Unexpected(arguments[i]);
      question.variable = arguments[i];
    } else if (name == "key") {
      question.key = value;
    } else if (name == "top") {
      uint64_t top = 0;
      if (Status status = ReadNumber(name, value, 1, kMaxShownCells, &top); !status.ok()) {
        return status;
      }
      question.top = static_cast<size_t>(top);
    } else {
      return Unexpected(arguments[i]);
    }
  }
  if (question.variable.empty() && arguments.size() > 1) {
    return Status::Error("key= and top= go with a variable");
  }
  return question;
}

Result<ProgramRequest> ReadProgramRequest(const std::vector<std::string>& arguments) {
  ProgramRequest request;
  std::vector<std::string> rest;
  for (const std::string& argument : arguments) {
    std::string name;
    std::string value;
    if (!Split(argument, &name, &value) || name != "request") {
      rest.push_back(argument);
      continue;
    }
    uint64_t number = 0;
    if (Status status = ReadNumber(name, value, 0, UINT16_MAX, &number); !status.ok()) {
      return status;
    }
    request.request = static_cast<uint16_t>(number);
  }
  if (rest.empty()) return Status::Error("the name of the program is missing");
  Result<ProgramQuestion> question = ReadProgramQuestion(rest);
  if (!question.ok()) return question.status();
  if (question->variable.empty() == question->key.has_value() || question->top != kDefaultCells) {
    return Status::Error("a request takes a variable and a value of its key, or neither");
  }
  request.question = std::move(*question);
  return request;
}

Status ReadBudgetArguments(const std::vector<std::string>& arguments, MeasureBudget* budget) {
  const struct {
    const char* name;
    uint64_t most;
    uint64_t* value;
  } kLimits[] = {{"operators", 1 << 20, &budget->operators},
                 {"hashes", 1 << 20, &budget->hashes},
                 {"cache-lines", 1 << 20, &budget->cache_lines},
                 {"bytes", uint64_t{1} << 32, &budget->bytes}};
  for (const std::string& argument : arguments) {
    std::string name;
    std::string value;
    if (!Split(argument, &name, &value)) return Unexpected(argument);
    const auto* const limit = std::find_if(std::begin(kLimits), std::end(kLimits),
                                           [&name](const auto& each) { return name == each.name; });
    if (limit == std::end(kLimits)) return Unexpected(argument);
    Status status = ReadNumber(name, value, 0, limit->most, limit->value);
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

std::string FormatProgramAdded(const ProgramToAdd& added, bool is_enabled, bool as_json) {
  if (as_json) return JsonLine({{"installed", added.name}, {"warnings", added.warnings}});
  std::string text = "program " + added.name + " installed\n";
  for (const std::string& warning : added.warnings) text += warning + "\n";
  if (TasksOfRequests(added.program) > 0) {
    text += "its tasks of ctrl answer trumpet/program-ask and packet-outs\n";
  }
  if (!is_enabled) text += "the monitor is off: see trumpet/enable\n";
  return text;
}

std::string FormatProgramList(const MeasurementTableStatus& programs, bool as_json) {
  Json rows = Json::array();
  TextTable table({"program", "from", ">threads", ">variables", ">operators", ">bytes a thread",
                   ">collected", ">lost"});
  for (const MeasurementStatus& status : programs.programs) {
    const CompiledProgram& program = status.view.program();
    rows.push_back(ProgramJson(status));
    table.Add({status.view.measurement->name, OriginName(status), std::to_string(status.threads),
               std::to_string(program.source.variables.size()),
               std::to_string(program.cost.operators), std::to_string(program.cost.bytes),
               std::to_string(status.collected), std::to_string(status.lost)});
  }
  if (as_json) {
    return JsonLine({{"programs", std::move(rows)},
                     {"budget", CostJson(AsCost(programs.budget))},
                     {"used", CostJson(programs.used)},
                     {"refused", programs.refused},
                     {"requests", programs.requests},
                     {"requests_refused", programs.refused_requests},
                     {"threads_without_memory", programs.without_memory}});
  }
  return programs.programs.empty() ? "no program is installed\n" : table.ToString(0);
}

std::string FormatProgram(const MeasurementStatus& status, bool as_json) {
  const MeasureProgram& source = status.view.program().source;
  Json json = ProgramJson(status);
  json["copies"] = Json::array();
  const size_t shown = std::min(status.copies.size(), kShownCopies);
  for (auto copy = status.copies.end() - static_cast<std::ptrdiff_t>(shown);
       copy != status.copies.end(); ++copy) {
    json["copies"].push_back(Json::parse(CopyText(source, *copy)));
  }
  if (as_json) return JsonLine(json);
  std::string text = Line("program", status.view.measurement->name);
  text += Line("from", OriginName(status));
  text += Line("since", FormatTime(status.view.measurement->since));
  text += Line("runs on", std::to_string(status.threads) + " packet threads");
  for (const MeasureParam& param : source.params) {
    text += Line("param", param.name + " = " + NumberText(param.value));
  }
  if (status.view.measurement->way.is_sent) {
    text += Line("takes packets", "as they leave");
    text += Line("edge ports", EdgesText(status));
    text += Line("packets untagged", std::to_string(status.untagged));
    if (status.view.measurement->way.carriage.has_shim()) {
      text += Line("tags lost", std::to_string(status.carriers.lost));
      text += Line("packets escaped", std::to_string(status.carriers.escaped));
      text += Line("packets exposed", std::to_string(status.carriers.exposed));
    }
  }
  text += Line("costs at most", CostText(status.view.program().cost));
  text += Line("packets collected", std::to_string(status.collected) + ", " +
                                        std::to_string(status.lost) + " of them lost, " +
                                        std::to_string(status.unbound) + " have no address");
  text += TargetsText(status);
  text += Line("slots of maps", std::to_string(status.evictions) + " evictions");
  text += Line("windows", std::to_string(status.late_flips) + " packets found no clean epoch");
  if (TasksOfRequests(source) > 0) {
    text += Line("tasks of ctrl", std::to_string(TasksOfRequests(source)));
  }
  for (const Json& copy : json["copies"]) text += "copy " + copy.dump() + "\n";
  return text;
}

std::string FormatAnswers(const std::string& name, const MeasureProgram& program,
                          const std::vector<CollectedPacket>& copies, bool as_json) {
  Json rows = Json::array();
  std::string text;
  for (const CollectedPacket& copy : copies) {
    if (as_json) rows.push_back(Json::parse(CopyText(program, copy)));
    if (!as_json) text += "copy " + CopyText(program, copy) + "\n";
  }
  if (as_json) return JsonLine({{"program", name}, {"copies", std::move(rows)}});
  return text.empty() ? "the program has no answer\n" : text;
}

std::string FormatBudget(const MeasurementTableStatus& programs, bool as_json) {
  if (as_json) {
    return JsonLine(
        {{"budget", CostJson(AsCost(programs.budget))}, {"used", CostJson(programs.used)}});
  }
  return Line("budget", CostText(AsCost(programs.budget))) + Line("used", CostText(programs.used));
}

}  // namespace trumpet
