// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/event_language.h"

#include "lib/base/utf8.h"
#include "lib/lang/event/compile.h"
#include "lib/lang/event/document.h"
#include "lib/lang/event/event_document.h"
#include "lib/lang/event/print.h"
#include "lib/lang/event/source.h"

namespace trumpet {
namespace {

using event_lang::Source;

Source FileSource(std::string_view text, std::string_view name) {
  return Source{name, WithoutByteOrderMark(text)};
}

// Double quotes read the same in YAML and JSON.  Names hold no control characters.
std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

// Calls add(key, value) for what there is to say of an event, in the order in which it is printed;
// values are quoted where they are texts of users, and where JSON wants it.
template <typename Add>
void VisitKeys(const EventSpec& event, const Add& add) {
  const auto word = [](const std::string& text) { return "\"" + text + "\""; };
  add("name", Quoted(event.name));
  add("filter", Quoted(event_lang::PrintFilter(event.filter)));
  add("predicate", Quoted(event_lang::PrintPredicate(event.predicate)));
  add("flow_granularity", Quoted(event_lang::PrintGranularity(event.granularity)));
  add("time_interval", word(event_lang::PrintInterval(event.interval_ms)));
  add("for", std::to_string(event.for_count));
  add("scope", word(event_lang::ScopeName(event.scope)));
  add("observe", word(event_lang::ObserveName(event.observe)));
  if (!event.severity.empty()) add("severity", Quoted(event.severity));
  if (event.max_buckets != 0) add("max_buckets", std::to_string(event.max_buckets));
  if (event.deadline_ms != 0) add("deadline", word(event_lang::PrintInterval(event.deadline_ms)));
  if (event.report_rate != 0) add("report_rate", std::to_string(event.report_rate));
}

// Words of the language stand bare in YAML.
bool IsBare(std::string_view key) {
  return key == "time_interval" || key == "scope" || key == "observe" || key == "deadline";
}

std::string PrintYamlItem(const EventSpec& event) {
  std::string text;
  VisitKeys(event, [&text](const char* key, const std::string& value) {
    text += std::string(text.empty() ? "  - " : "    ") + key + ": ";
    text += (IsBare(key) ? value.substr(1, value.size() - 2) : value) + "\n";
  });
  return text;
}

}  // namespace

std::string RefuseMeasured(const MeasuredState& /*state*/, uint32_t /*interval_ms*/) {
  return "measured values are read by the controller, of all hosts: add the event there";
}

Result<EventSpec> ParseEventLine(std::string_view text, std::string_view source_name,
                                 const MeasuredCheck& check) {
  const Source source{source_name, text};
  if (text.size() > event_lang::kMaxEventBytes) {
    return Status::Error(source.ErrorAt(
        0, "this event is longer than " + std::to_string(event_lang::kMaxEventBytes) + " bytes"));
  }
  event_lang::EventText parts;
  size_t offset = 0;
  std::string message;
  if (!event_lang::SplitEventLine(text, &parts, &offset, &message)) {
    return Status::Error(source.ErrorAt(offset, message));
  }
  EventSpec spec;
  event_lang::Diagnostic error;
  if (event_lang::CompileEvent(parts, &spec, &error, check)) return spec;
  const size_t part_start = static_cast<size_t>(parts[error.part].data() - text.data());
  return Status::Error(source.ErrorAt(part_start + error.offset, error.message));
}

Result<std::vector<EventSpec>> ParseEventsYaml(std::string_view text, std::string_view source_name,
                                               const MeasuredCheck& check) {
  const Source source = FileSource(text, source_name);
  const auto document = event_lang::ReadYaml(source);
  if (!document.ok()) return document.status();
  return event_lang::ReadEvents(source, *document, check);
}

Result<std::vector<EventSpec>> ParseEventsJson(std::string_view text, std::string_view source_name,
                                               const MeasuredCheck& check) {
  const Source source = FileSource(text, source_name);
  const auto document = event_lang::ReadJson(source);
  if (!document.ok()) return document.status();
  return event_lang::ReadEvents(source, *document, check);
}

Result<std::vector<EventSpec>> ParseEventsFile(std::string_view text, std::string_view path,
                                               const MeasuredCheck& check, size_t max_bytes) {
  constexpr std::string_view kJson = ".json";
  static_assert(kMaxEventFileBytes == event_lang::kMaxDocumentBytes);
  Source source = FileSource(text, path);
  source.max_bytes = max_bytes;
  const bool is_json =
      path.size() > kJson.size() && path.substr(path.size() - kJson.size()) == kJson;
  const auto document = is_json ? event_lang::ReadJson(source) : event_lang::ReadYaml(source);
  if (!document.ok()) return document.status();
  return event_lang::ReadEvents(source, *document, check);
}

std::string PrintEventLine(const EventSpec& event) {
  std::string line = event_lang::PrintFilter(event.filter) + ", " +
                     event_lang::PrintPredicate(event.predicate) + ", ";
  if (!event.granularity.is_none()) {
    line += event_lang::PrintGranularity(event.granularity) + ", ";
  }
  return line + event_lang::PrintInterval(event.interval_ms);
}

std::string PrintEventsYaml(const std::vector<EventSpec>& events) {
  std::string text = events.empty() ? "events: []\n" : "events:\n";
  for (const EventSpec& event : events) text += PrintYamlItem(event);
  return text;
}

std::string PrintEventJson(const EventSpec& event) {
  std::string text;
  VisitKeys(event, [&text](const char* key, const std::string& value) {
    text += std::string(text.empty() ? "{\"" : ", \"") + key + "\": " + value;
  });
  return text + "}";
}

}  // namespace trumpet
