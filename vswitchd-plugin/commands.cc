// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/commands.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "lib/lang/event/diagnostic.h"
#include "vswitchd-plugin/event_input.h"
#include "vswitchd-plugin/event_text.h"
#include "vswitchd-plugin/json_line.h"
#include "vswitchd-plugin/measurement_commands.h"
#include "vswitchd-plugin/measurement_text.h"
#include "vswitchd-plugin/slice_commands.h"
#include "vswitchd-plugin/status_text.h"

namespace trumpet {
namespace {

using event_lang::Quote;
using Json = nlohmann::ordered_json;

constexpr size_t kDefaultReports = 20;

// {"installed":[{"id":1,"name":"x"}]}
std::string EventsChanged(const char* verb, const std::vector<InstalledEvent>& events,
                          bool as_json) {
  if (as_json) {
    Json list = Json::array();
    for (const InstalledEvent& event : events) {
      list.push_back({{"id", event.spec().id}, {"name", event.spec().name}});
    }
    return JsonLine(Json{{verb, list}});
  }
  std::string text;
  for (const InstalledEvent& event : events) {
    text += "event " + event.spec().name + " (id " + std::to_string(event.spec().id) + ") " + verb +
            "\n";
  }
  return text;
}

Status Unexpected(const std::string& argument) {
  return Status::Error("unexpected argument " + Quote(argument));
}

// [EVENT] [--last N], in either order.
struct ReportsWanted {
  std::string event;
  size_t most = kDefaultReports;
};

Result<ReportsWanted> ReadReportArguments(const std::vector<std::string>& arguments) {
  ReportsWanted wanted;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] != "--last") {
      if (!wanted.event.empty() || arguments[i].empty()) return Unexpected(arguments[i]);
      wanted.event = arguments[i];
      continue;
    }
    const std::string number = i + 1 < arguments.size() ? arguments[++i] : "";
    const char* end = number.data() + number.size();
    const auto [last, error] = std::from_chars(number.data(), end, wanted.most);
    if (error != std::errc() || last != end || wanted.most == 0 ||
        wanted.most > ReportLog::kCapacity) {
      return Status::Error("--last is " + Quote(number) + "; it takes 1 to " +
                           std::to_string(ReportLog::kCapacity));
    }
  }
  return wanted;
}

}  // namespace

Commands::Commands(const Host* host, EventRegistry* events, const PortTable* ports,
                   const ReportLog* reports, Agent* agent)
    : host_(host), events_(events), ports_(ports), reports_(reports), agent_(agent) {}

const std::vector<Commands::Entry>& Commands::Table() {
  static const std::vector<Entry> kTable = {
      {"trumpet/status", "[json]", 0, 1, &Commands::ShowStatus},
      {"trumpet/event-add",
       "[json] [name=NAME] [for=N] [scope=host|network] [observe=source|destination|all] "
       "[severity=LABEL] EVENT|@FILE",
       1, 7, &Commands::AddEvents},
      {"trumpet/event-del", "[json] NAME|ID|--all", 1, 2, &Commands::DeleteEvents},
      {"trumpet/event-list", "[json]", 0, 1, &Commands::ListEvents},
      {"trumpet/event-show", "[json] NAME|ID", 1, 2, &Commands::ShowEvent},
      {"trumpet/reports", "[json] [EVENT] [--last N]", 0, 4, &Commands::ShowReports},
      {"trumpet/flow-table-show", "[json]", 0, 1, &Commands::ShowFlowTables},
      {"trumpet/perf-show", "[json]", 0, 1, &Commands::ShowPerf},
      {"trumpet/slice-on",
       "[json] TAG MILLISECONDS FILTER [bridge=NAME] [packets=N] [bytes=N] [pps=N] "
       "[mark=N]",
       3, 9, &Commands::TurnOnSlice},
      {"trumpet/slice-off", "[json] TAG [bridge=NAME]", 1, 3, &Commands::TurnOffSlice},
      {"trumpet/slice-show", "[json]", 0, 1, &Commands::ShowSlices},
      {"trumpet/program-add",
       "[json] NAME @FILE|TEXT [edge=PORT,...] [switch=N] [lab=yes] [copy-rate=N] "
       "[PARAM=VALUE...] [ENDPOINT=udp:ADDRESS:PORT|erspan:ADDRESS...]",
       2, 7 + 2 * kMaxMeasureNames, &Commands::AddProgram},
      {"trumpet/program-del", "[json] NAME", 1, 2, &Commands::DeleteProgram},
      {"trumpet/program-list", "[json]", 0, 1, &Commands::ListPrograms},
      {"trumpet/program-show", "[json] NAME", 1, 2, &Commands::ShowProgram},
      {"trumpet/program-read", "[json] NAME [VARIABLE] [key=VALUE,...] [top=N]", 1, 5,
       &Commands::ReadProgram},
      {"trumpet/program-ask", "[json] NAME [VARIABLE key=VALUE,...] [request=N]", 1, 5,
       &Commands::AskProgram},
      {"trumpet/program-budget", "[json] [operators=N] [hashes=N] [cache-lines=N] [bytes=N]", 0, 5,
       &Commands::ProgramBudget},
      {"trumpet/enable", "[json]", 0, 1, &Commands::Enable},
      {"trumpet/disable", "[json]", 0, 1, &Commands::Disable},
  };
  return kTable;
}

void Commands::Register() const {
  for (const Entry& entry : Table()) {
    host_->ops().command_register(entry.name, entry.usage, entry.min_args, entry.max_args);
  }
}

Result<std::string> Commands::Run(const std::string& name, std::vector<std::string> arguments) {
  for (const Entry& entry : Table()) {
    if (name != entry.name) continue;
    const bool as_json = !arguments.empty() && arguments[0] == "json";
    if (as_json) arguments.erase(arguments.begin());
    if (arguments.empty() && entry.min_args > 0) {
      return Status::Error(name + " takes " + entry.usage);
    }
    if (!arguments.empty() && entry.max_args == 1) return Unexpected(arguments[0]);
    return (this->*entry.run)(arguments, as_json);
  }
  return Status::Error("there is no command " + Quote(name));
}

Nanos Commands::Now() const { return ReadSystemClocks().wall_ns; }

Result<std::string> Commands::ShowStatus(const Arguments&, bool as_json) {
  StatusInput input;
  input.agent = agent_->Snapshot();
  input.event_count = events_->count();
  input.ports = ports_->List();
  input.reports_total = reports_->total();
  input.reports_forgotten = reports_->forgotten();
  input.ovs_version = host_->ops().ovs_version;
  return FormatStatus(input, as_json);
}

Result<std::string> Commands::AddEvents(const Arguments& arguments, bool as_json) {
  Result<std::vector<EventSpec>> specs = ReadEventArguments(arguments);
  if (!specs.ok()) return specs.status();
  const AgentStatus agent = agent_->Snapshot();
  Result<std::vector<InstalledEvent>> added =
      events_->Add(std::move(*specs),
                   {agent.in_force.max_triggers, agent.settings.max_buckets,
                    agent.settings.packet_budget_us * kNanosPerMicro},
                   Now());
  if (!added.ok()) return added.status();
  agent_->Wake();
  std::string answer = EventsChanged("installed", *added, as_json);
  if (!as_json && !agent.is_enabled) answer += "the monitor is off: see trumpet/enable\n";
  return answer;
}

Result<std::string> Commands::DeleteEvents(const Arguments& arguments, bool as_json) {
  if (arguments.size() > 1) return Unexpected(arguments[1]);
  std::vector<InstalledEvent> removed;
  if (arguments[0] == "--all") {
    removed = events_->RemoveAll();
  } else {
    Result<InstalledEvent> event = events_->Remove(arguments[0]);
    if (!event.ok()) return event.status();
    removed.push_back(std::move(*event));
  }
  agent_->Wake();
  if (removed.empty() && !as_json) return std::string("no event is installed\n");
  return EventsChanged("deleted", removed, as_json);
}

Result<std::string> Commands::ListEvents(const Arguments&, bool as_json) {
  return FormatEventList(events_->List(), agent_->Snapshot(), Now(), as_json);
}

Result<std::string> Commands::ShowEvent(const Arguments& arguments, bool as_json) {
  if (arguments.size() > 1) return Unexpected(arguments[1]);
  Result<InstalledEvent> event = events_->Find(arguments[0]);
  if (!event.ok()) return event.status();
  return FormatEvent(*event, agent_->Snapshot(), Now(), as_json);
}

Result<std::string> Commands::ShowReports(const Arguments& arguments, bool as_json) {
  const Result<ReportsWanted> wanted = ReadReportArguments(arguments);
  if (!wanted.ok()) return wanted.status();
  std::string name = wanted->event;
  if (!name.empty()) {
    // Reports outlive their event, so a name that is not installed is asked of the log as it is.
    Result<InstalledEvent> event = events_->Find(name);
    if (event.ok()) {
      name = event->spec().name;
    } else if (reports_->Last(1, name).empty()) {
      return event.status();
    }
  }
  return FormatReports(reports_->Last(wanted->most, name), as_json);
}

Result<std::string> Commands::ShowFlowTables(const Arguments&, bool as_json) {
  return FormatFlowTables(agent_->Snapshot(), as_json);
}

Result<std::string> Commands::ShowPerf(const Arguments&, bool as_json) {
  return perf_.Show(agent_->Snapshot().threads, Now(), as_json);
}

Result<std::string> Commands::TurnOnSlice(const Arguments& arguments, bool as_json) {
  Result<SliceSpec> slice = ReadSliceArguments(arguments);
  if (!slice.ok()) return slice.status();
  if (Status status = agent_->slices().TurnOn(std::move(*slice), agent_->MonotonicNow());
      !status.ok()) {
    return status;
  }
  agent_->Wake();
  return std::string(as_json ? "{\"on\":true}\n" : "on\n");
}

Result<std::string> Commands::TurnOffSlice(const Arguments& arguments, bool as_json) {
  const Result<SliceOff> off = ReadSliceOff(arguments);
  if (!off.ok()) return off.status();
  agent_->slices().TurnOff(off->bridge, off->tag, agent_->MonotonicNow());
  agent_->Wake();
  return std::string(as_json ? "{\"on\":false}\n" : "off\n");
}

Result<std::string> Commands::ShowSlices(const Arguments&, bool as_json) {
  return FormatSlices(agent_->slices().Snapshot(agent_->MonotonicNow()), as_json);
}

Result<std::string> Commands::AddProgram(const Arguments& arguments, bool as_json) {
  const Result<ProgramToAdd> added = ReadProgramArguments(arguments);
  if (!added.ok()) return added.status();
  const Status status =
      agent_->measurements().Add(added->name, added->program, Now(), added->place);
  if (!status.ok()) return status;
  return FormatProgramAdded(*added, agent_->Snapshot().is_enabled, as_json);
}

Result<std::string> Commands::DeleteProgram(const Arguments& arguments, bool as_json) {
  if (arguments.size() > 1) return Unexpected(arguments[1]);
  const Status status = agent_->measurements().Remove(arguments[0]);
  if (!status.ok()) return status;
  const std::string& name = arguments[0];
  return as_json ? "{\"deleted\":\"" + name + "\"}\n" : "program " + name + " deleted\n";
}

Result<std::string> Commands::ListPrograms(const Arguments&, bool as_json) {
  return FormatProgramList(agent_->measurements().Snapshot(), as_json);
}

Result<std::string> Commands::ShowProgram(const Arguments& arguments, bool as_json) {
  if (arguments.size() > 1) return Unexpected(arguments[1]);
  agent_->measurements().Follow(agent_->MonotonicNow());
  const Result<MeasurementStatus> status = agent_->measurements().Show(arguments[0]);
  if (!status.ok()) return status.status();
  return FormatProgram(*status, as_json);
}

Result<std::string> Commands::ReadProgram(const Arguments& arguments, bool as_json) {
  const Result<ProgramQuestion> question = ReadProgramQuestion(arguments);
  if (!question.ok()) return question.status();
  agent_->measurements().Follow(agent_->MonotonicNow());
  const Result<MeasurementStatus> status = agent_->measurements().Show(question->name);
  if (!status.ok()) return status.status();
  const MeasurementView& view = status->view;
  if (question->variable.empty()) return FormatVariables(view, as_json);
  if (question->key) return FormatAtKey(view, question->variable, *question->key, as_json);
  return FormatVariable(*status, question->variable, question->top, as_json);
}

Result<std::string> Commands::AskProgram(const Arguments& arguments, bool as_json) {
  const Result<ProgramRequest> request = ReadProgramRequest(arguments);
  if (!request.ok()) return request.status();
  const ProgramQuestion& question = request->question;
  const Result<MeasurementStatus> status = agent_->measurements().Show(question.name);
  if (!status.ok()) return status.status();
  const MeasureProgram& program = status->view.program().source;
  Result<PacketValues> packet = PacketValues();
  if (question.key) packet = PacketOfKey(program, question.variable, *question.key);
  if (!packet.ok()) return packet.status();
  if (request->request) packet->Set(kPktRequest, *request->request);
  const auto copies =
      agent_->measurements().Ask(question.name, *packet, Now(), agent_->MonotonicNow());
  if (!copies.ok()) return copies.status();
  return FormatAnswers(question.name, program, *copies, as_json);
}

Result<std::string> Commands::ProgramBudget(const Arguments& arguments, bool as_json) {
  MeasureBudget budget = agent_->measurements().Snapshot().budget;
  if (Status status = ReadBudgetArguments(arguments, &budget); !status.ok()) return status;
  agent_->measurements().SetBudget(budget);
  return FormatBudget(agent_->measurements().Snapshot(), as_json);
}

Result<std::string> Commands::Enable(const Arguments&, bool as_json) {
  host_->Info("switched on by trumpet/enable");
  agent_->SetEnabled(true);
  return std::string(as_json ? "{\"enabled\":true}\n" : "enabled\n");
}

Result<std::string> Commands::Disable(const Arguments&, bool as_json) {
  host_->Info("switched off by trumpet/disable");
  if (!agent_->SetEnabled(false)) {
    return std::string(as_json ? "{\"enabled\":false,\"is_detached\":false}\n"
                               : "disabled; a thread is still finishing its last batch\n");
  }
  return std::string(as_json ? "{\"enabled\":false,\"is_detached\":true}\n"
                             : "disabled; all hooks are detached\n");
}

}  // namespace trumpet
