// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/daemon/analyzer_commands.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "controller/traces/trace_query.h"
#include "controller/traces/trace_text.h"
#include "lib/base/text_table.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const SliceBookCounters& counters) {
  return {{"copies", counters.copies},
          {"unknown_tags", counters.unknown_tags},
          {"unknown_switches", counters.unknown_switches},
          {"untagged", counters.untagged},
          {"fragments", counters.fragments},
          {"malformed", counters.malformed},
          {"unsupported", counters.unsupported},
          {"other", counters.other},
          {"packets_not_kept", counters.not_kept},
          {"slices_refused", counters.slices_refused},
          {"slices_forgotten", counters.slices_forgotten}};
}

Json Show(const Analyzer& analyzer, const std::vector<NamedSource>& sources) {
  const Connector* const connector = analyzer.connector();
  const Session* const session = connector == nullptr ? nullptr : connector->session();
  Json told;
  told["controller"] = session == nullptr ? "away" : session->peer_address();
  if (session == nullptr && connector != nullptr) told["last_error"] = connector->last_error();
  told["slices"] = analyzer.book().slice_count();
  told["packet_bytes"] = analyzer.book().used_bytes();
  told["interfaces"] = Json::array();
  for (const NamedSource& one : sources) {
    Json figures = {{"name", one.name}};
    for (const auto& [name, value] : one.source->Figures()) figures[name] = value;
    told["interfaces"].push_back(std::move(figures));
  }
  told["counters"] = ToJson(analyzer.book().counters());
  const AnalyzerCounters& runs = analyzer.counters();
  told["runs"] = {{"finished", runs.runs_finished},
                  {"refused", runs.runs_refused},
                  {"files_written", runs.files_written},
                  {"file_errors", runs.file_errors}};
  return told;
}

// One line a value: "counters copies: 12".
void AppendText(const Json& value, const std::string& name, std::string* text) {
  if (!value.is_structured()) {
    *text += name + ": " + (value.is_string() ? value.get<std::string>() : value.dump()) + "\n";
    return;
  }
  for (const auto& [key, inner] : value.items()) {
    AppendText(inner, name.empty() ? key : name + " " + key, text);
  }
}

Json Slices(const Analyzer& analyzer) {
  Json told = Json::array();
  for (const SliceTally& tally : analyzer.book().Tallies({})) {
    told.push_back({{"tag", tally.tag},
                    {"switch", tally.switch_name},
                    {"packets", tally.packets},
                    {"bytes", tally.bytes},
                    {"copy_bytes", tally.copy_bytes}});
  }
  return told;
}

std::string ToText(const CommandArguments& arguments, const Json& told) {
  if (!arguments.empty()) return told.dump() + "\n";
  std::string text;
  AppendText(told, "", &text);
  return text;
}

Status NotKnown(const std::string& argument) {
  return Status::Error("'" + argument + "' is not known; it takes json");
}

DaemonCommand Make(const std::string& name, std::function<Json()> tell) {
  return {name, "[json]", 0, 1,
          [tell = std::move(tell)](const CommandArguments& arguments, const CommandReply& reply) {
            if (!arguments.empty() && arguments[0] != "json") {
              return reply(NotKnown(arguments[0]));
            }
            reply(ToText(arguments, tell()));
          }};
}

constexpr Nanos kListed = 600 * kNanosPerSecond;

std::string TracesText(const std::vector<StoredTrace>& traces, const SwitchBook& switches) {
  TextTable table({"START", "ID", "PACKET", "VERDICT", "PATH"});
  for (const StoredTrace& trace : traces) {
    const Json json = ToJson(trace, switches);
    std::string path;
    for (const Json& hop : json["path"]) {
      path.append(path.empty() ? "" : ">").append(hop["switch"].get<std::string>());
    }
    table.Add({FormatTime(trace.start), json["id"], FlowText(trace.flow), json["verdict"], path});
  }
  return table.is_empty() ? "no traces\n" : table.ToString(0);
}

std::string MissingText(const std::string& missing) {
  return missing.empty() ? "" : "not all of them; missing: " + missing + "\n";
}

// Words are NAME=VALUE, as `trumpet-analyzer query --NAME=VALUE`.
Result<TraceQuery> ReadQuery(const CommandArguments& arguments, size_t first,
                             const LiveTraces& traces) {
  TraceQuery query;
  query.from = SystemWireClock().UnixNow() - kListed;
  for (size_t i = first; i < arguments.size(); ++i) {
    const size_t equals = arguments[i].find('=');
    if (equals == std::string::npos) {
      return Status::Error("'" + arguments[i] + "' is not NAME=VALUE");
    }
    const Status set = SetTraceQuery(arguments[i].substr(0, equals),
                                     arguments[i].substr(equals + 1), traces.switches(), &query);
    if (!set.ok()) return set;
  }
  return query;
}

void ListTraces(LiveTraces* traces, const CommandArguments& arguments, const CommandReply& reply) {
  const bool is_json = !arguments.empty() && arguments[0] == "json";
  const auto query = ReadQuery(arguments, is_json ? 1 : 0, *traces);
  if (!query.ok()) return reply(query.status());
  traces->Find(*query,
               [=](const Result<std::vector<StoredTrace>>& found, const std::string& missing) {
                 if (!found.ok()) return reply(found.status());
                 if (!is_json)
                   return reply(TracesText(*found, traces->switches()) + MissingText(missing));
                 std::string lines;
                 for (const StoredTrace& trace : *found)
                   lines += JsonLine(ToJson(trace, traces->switches()));
                 if (!missing.empty()) lines += JsonLine({{"missing", missing}});
                 reply(lines);
               });
}

void ShowTrace(LiveTraces* traces, const CommandArguments& arguments, const CommandReply& reply) {
  TraceQuery query;
  const Status set = SetTraceQuery("id", arguments[0], traces->switches(), &query);
  if (!set.ok()) return reply(set);
  traces->Find(query,
               [=](const Result<std::vector<StoredTrace>>& found, const std::string& missing) {
                 if (!found.ok()) return reply(found.status());
                 if (found->empty()) {
                   return reply(Status::Error("there is no trace " + arguments[0] +
                                              (missing.empty() ? "" : "; not asked: " + missing)));
                 }
                 reply(ToJson(found->front(), traces->switches()).dump(2) + "\n");
               });
}

using TraceHandler = std::function<void(LiveTraces*, const CommandArguments&, const CommandReply&)>;
CommandHandler OfTraces(LiveTraces* traces, TraceHandler handler) {
  return [traces, handler = std::move(handler)](const CommandArguments& arguments,
                                                const CommandReply& reply) {
    if (traces == nullptr) {
      return reply(Status::Error("no traces are made: analyzer.yaml names no traces: directory"));
    }
    handler(traces, arguments, reply);
  };
}

}  // namespace

std::vector<DaemonCommand> MakeTraceCommands(LiveTraces* traces) {
  const auto status = [](LiveTraces* of, const CommandArguments& arguments,
                         const CommandReply& reply) {
    if (!arguments.empty() && arguments[0] != "json") return reply(NotKnown(arguments[0]));
    reply(ToText(arguments, of->Show()));
  };
  return {{"trace/status", "[json]", 0, 1, OfTraces(traces, status)},
          {"trace/list", "[json] [NAME=VALUE]...", 0, 32, OfTraces(traces, ListTraces)},
          {"trace/show", "ID", 1, 1, OfTraces(traces, ShowTrace)}};
}

std::vector<DaemonCommand> MakeAnalyzerCommands(const Analyzer* analyzer,
                                                const std::vector<NamedSource>* sources) {
  return {Make("analyzer/show", [=] { return Show(*analyzer, *sources); }),
          Make("analyzer/slices", [=] { return Slices(*analyzer); })};
}

DaemonFigures MakeAnalyzerFigures(const Analyzer& analyzer, const std::vector<NamedSource>& sources,
                                  const LiveTraces* traces) {
  DaemonFigures figures;
  const SliceBookCounters& counters = analyzer.book().counters();
  figures.totals[TRUMPET_COUNTER_copies] = counters.copies;
  figures.totals[TRUMPET_COUNTER_copies_unknown] =
      counters.unknown_tags + counters.unknown_switches + counters.untagged;
  figures.totals[TRUMPET_COUNTER_packets_not_kept] = counters.not_kept;
  for (const NamedSource& one : sources) {
    figures.totals[TRUMPET_COUNTER_copies_dropped] += one.source->dropped();
  }
  figures.memory_usage = {{"slices", static_cast<unsigned>(analyzer.book().slice_count())}};
  if (traces == nullptr) return figures;
  const TraceSums sums = traces->maker().sums();
  figures.totals[TRUMPET_COUNTER_trace_copies] = sums.copies;
  figures.totals[TRUMPET_COUNTER_traces] = traces->maker().table_counters().told;
  figures.totals[TRUMPET_COUNTER_traces_stored] = traces->counters().stored;
  figures.totals[TRUMPET_COUNTER_traces_not_stored] = traces->counters().not_stored;
  figures.memory_usage.emplace_back("traces", static_cast<unsigned>(traces->maker().trace_count()));
  return figures;
}

}  // namespace trumpet
