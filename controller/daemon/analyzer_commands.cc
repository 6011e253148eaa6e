// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/daemon/analyzer_commands.h"

#include <nlohmann/json.hpp>
#include <utility>

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

Json Show(const Analyzer& analyzer, const std::vector<NamedReceiver>& receivers) {
  const Connector* const connector = analyzer.connector();
  const Session* const session = connector == nullptr ? nullptr : connector->session();
  Json told;
  told["controller"] = session == nullptr ? "away" : session->peer_address();
  if (session == nullptr && connector != nullptr) told["last_error"] = connector->last_error();
  told["slices"] = analyzer.book().slice_count();
  told["packet_bytes"] = analyzer.book().used_bytes();
  told["interfaces"] = Json::array();
  for (const NamedReceiver& one : receivers) {
    const CopyReceiverCounters counters = one.receiver->counters();
    told["interfaces"].push_back({{"name", one.interface},
                                  {"frames", counters.frames},
                                  {"bytes", counters.bytes},
                                  {"kernel_drops", counters.kernel_drops},
                                  {"ring_freezes", counters.ring_freezes},
                                  {"hardware_stamps", counters.hardware_stamps}});
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

DaemonCommand Make(const std::string& name, std::function<Json()> tell) {
  return {name, "[json]", 0, 1,
          [tell = std::move(tell)](const CommandArguments& arguments, const CommandReply& reply) {
            if (!arguments.empty() && arguments[0] != "json") {
              return reply(Status::Error("'" + arguments[0] + "' is not known; it takes json"));
            }
            reply(ToText(arguments, tell()));
          }};
}

}  // namespace

std::vector<DaemonCommand> MakeAnalyzerCommands(const Analyzer* analyzer,
                                                const std::vector<NamedReceiver>* receivers) {
  return {Make("analyzer/show", [=] { return Show(*analyzer, *receivers); }),
          Make("analyzer/slices", [=] { return Slices(*analyzer); })};
}

DaemonFigures MakeAnalyzerFigures(const Analyzer& analyzer,
                                  const std::vector<NamedReceiver>& receivers) {
  DaemonFigures figures;
  const SliceBookCounters& counters = analyzer.book().counters();
  figures.totals[TRUMPET_COUNTER_copies] = counters.copies;
  figures.totals[TRUMPET_COUNTER_copies_unknown] =
      counters.unknown_tags + counters.unknown_switches + counters.untagged;
  figures.totals[TRUMPET_COUNTER_packets_not_kept] = counters.not_kept;
  for (const NamedReceiver& one : receivers) {
    figures.totals[TRUMPET_COUNTER_copies_dropped] += one.receiver->counters().kernel_drops;
  }
  figures.memory_usage = {{"slices", static_cast<unsigned>(analyzer.book().slice_count())}};
  return figures;
}

}  // namespace trumpet
