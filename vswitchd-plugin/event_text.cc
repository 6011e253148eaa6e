// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/event_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lib/base/text_table.h"
#include "lib/lang/event/event_language.h"
#include "lib/lang/event/print.h"
#include "vswitchd-plugin/json_line.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;
using std::to_string;

// How many threads run a program that holds the event.
size_t AppliedOn(const InstalledEvent& event, const AgentStatus& agent) {
  if (event.generation == 0) return 0;
  return static_cast<size_t>(std::count_if(
      agent.threads.begin(), agent.threads.end(),
      [&](const ThreadStatus& thread) { return thread.generation >= event.generation; }));
}

std::string ActivityOf(const InstalledEvent& event, const AgentStatus& agent, Nanos now) {
  if (event.generation == 0) return agent.is_enabled ? "being installed" : "monitor is off";
  const std::string applied = ", applied on " + to_string(AppliedOn(event, agent)) + " of " +
                              to_string(agent.threads.size()) + " threads";
  const char* verb = event.effective_from_ns <= now ? "active since " : "active from ";
  return verb + FormatTime(event.effective_from_ns) + applied;
}

const EventStatus* FindStatus(const AgentStatus& agent, uint32_t id) {
  for (const EventStatus& status : agent.events) {
    if (status.event_id == id) return &status;
  }
  return nullptr;
}

// Who decides, too: this host, or all hosts together.
std::string OriginOf(const InstalledEvent& event) {
  if (!event.is_of_controller()) return "local";
  switch (event.mode) {
    case TriggerMode::kHost:
      return "controller";
    case TriggerMode::kThreshold:
      return "controller, shares";
    default:
      return "controller, partials";
  }
}

Json EventJson(const InstalledEvent& event, const AgentStatus& agent) {
  const EventSpec& spec = event.spec();
  const EventStatus* status = FindStatus(agent, spec.id);
  return {{"id", spec.id},
          {"name", spec.name},
          {"filter", event_lang::PrintFilter(spec.filter)},
          {"predicate", event_lang::PrintPredicate(spec.predicate)},
          {"flow_granularity", event_lang::PrintGranularity(spec.granularity)},
          {"time_interval", event_lang::PrintInterval(spec.interval_ms)},
          {"for", spec.for_count},
          {"scope", event_lang::ScopeName(spec.scope)},
          {"observe", event_lang::ObserveName(spec.observe)},
          {"severity", spec.severity},
          {"max_buckets", spec.max_buckets},
          {"origin", OriginOf(event)},
          {"controller_id", event.controller_event_id},
          {"installed_ns", event.added_ns},
          {"generation", event.generation},
          {"active_from_ns", event.generation == 0 ? 0 : event.effective_from_ns},
          {"applied_on", AppliedOn(event, agent)},
          {"threads", agent.threads.size()},
          {"buckets", status ? status->buckets : 0},
          {"buckets_evicted", status ? status->buckets_evicted : 0},
          {"reports", status ? status->reports : 0},
          {"last_report_end_ns", status ? status->last_report_end_ns : 0}};
}

}  // namespace

std::string FormatEventList(const std::vector<InstalledEvent>& events, const AgentStatus& agent,
                            Nanos now, bool as_json) {
  if (as_json) {
    Json list = Json::array();
    for (const InstalledEvent& event : events) list.push_back(EventJson(event, agent));
    return JsonText(list);
  }
  if (events.empty()) return "no event is installed\n";
  TextTable table({">id", "name", ">reports", "state", "origin", "event"});
  for (const InstalledEvent& event : events) {
    const EventSpec& spec = event.spec();
    const EventStatus* status = FindStatus(agent, spec.id);
    const char* state = event.generation == 0            ? "off"
                        : event.effective_from_ns <= now ? "active"
                                                         : "coming";
    table.Add({to_string(spec.id), spec.name, to_string(status ? status->reports : 0), state,
               OriginOf(event), PrintEventLine(spec)});
  }
  return table.ToString(0);
}

std::string FormatEvent(const InstalledEvent& event, const AgentStatus& agent, Nanos now,
                        bool as_json) {
  if (as_json) return JsonText(EventJson(event, agent));
  const EventSpec& spec = event.spec();
  const EventStatus* status = FindStatus(agent, spec.id);
  const uint64_t reports = status ? status->reports : 0;
  std::string last =
      reports == 0 ? ""
                   : ", the last for the interval to " + FormatTime(status->last_report_end_ns);
  return "event " + spec.name + " (id " + to_string(spec.id) + ")\n" +
         "  filter:       " + event_lang::PrintFilter(spec.filter) + "\n" +
         "  predicate:    " + event_lang::PrintPredicate(spec.predicate) + "\n" +
         "  granularity:  " + event_lang::PrintGranularity(spec.granularity) + "\n" +
         "  interval:     " + event_lang::PrintInterval(spec.interval_ms) + ", for " +
         to_string(spec.for_count) + "\n" +  //
         "  scope:        " + event_lang::ScopeName(spec.scope) + ", observe " +
         event_lang::ObserveName(spec.observe) + "\n" +                               //
         "  severity:     " + (spec.severity.empty() ? "-" : spec.severity) + "\n" +  //
         "  installed:    " + FormatTime(event.added_ns) + ", origin " + OriginOf(event) + "\n" +
         "  state:        " + ActivityOf(event, agent, now) + "\n" +  //
         "  buckets:      " + to_string(status ? status->buckets : 0) + " of at most " +
         to_string(spec.max_buckets) + ", " + to_string(status ? status->buckets_evicted : 0) +
         " evicted\n" +  //
         "  reports:      " + to_string(reports) + last + "\n";
}

std::string FormatReports(const std::vector<Report>& reports, bool as_json) {
  if (as_json) {
    // One report a line, exactly as everywhere else.
    std::string text = "[";
    for (const Report& report : reports) {
      text += (text.size() == 1 ? "\n" : ",\n") + ToJsonLine(report);
    }
    return text + "\n]\n";
  }
  if (reports.empty()) return "no report\n";
  TextTable table({"interval end", ">length", "event", "bucket", ">value", ">threshold", "complete",
                   "severity"});
  for (const Report& report : reports) {
    table.Add({FormatTime(report.end_ns),
               to_string((report.end_ns - report.start_ns) / kNanosPerMilli) + " ms", report.event,
               report.bucket_json, report.value.ToString(), report.threshold.ToString(),
               report.is_complete() ? "yes" : "no",
               report.severity.empty() ? "-" : report.severity});
  }
  return table.ToString(0);
}

}  // namespace trumpet
