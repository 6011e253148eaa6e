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

using Json = nlohmann::ordered_json;

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
